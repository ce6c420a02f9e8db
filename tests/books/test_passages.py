"""Chapters in passages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from graphport_books.book import Paragraph
from graphport_books.passages import LEAST_CHARS, MOST_CHARS, passages_of


def cut(*texts: str) -> list[str]:
    return [passage.text for passage in passages_of([Paragraph(text) for text in texts])]


def test_paragraphs_that_fit_are_together_and_keep_their_borders() -> None:
    assert cut("one", "two") == ["one\n\ntwo"]
    assert cut() == []


def test_a_passage_is_closed_before_a_paragraph_that_does_not_fit() -> None:
    first, second = "a" * 1000, "b" * 600
    assert cut(first, second) == [first, second]


def test_a_short_passage_is_filled_with_sentences_of_the_next_paragraph() -> None:
    sentences = [f"{letter * 400}." for letter in "bcde"]
    made = cut("a" * 100, " ".join(sentences))
    assert made == [f"{'a' * 100}\n\n" + " ".join(sentences[:3]), sentences[3]]


def test_a_short_passage_takes_from_a_paragraph_that_would_fit_alone() -> None:
    sentences = [f"{letter * 440}." for letter in "bcd"]
    assert cut("a" * 300, " ".join(sentences)) == [f"{'a' * 300}\n\n" + " ".join(sentences[:2]), sentences[2]]


def test_a_long_paragraph_is_cut_between_sentences_and_quotes_stay_with_theirs() -> None:
    sentences = [f"He said \u201c{letter * 700}.\u201d" for letter in "abc"]
    assert cut(" ".join(sentences)) == [" ".join(sentences[:2]), sentences[2]]


def test_a_sentence_longer_than_a_passage_is_cut_between_words() -> None:
    made = cut("word " * 700)
    assert [len(text) <= MOST_CHARS for text in made] == [True] * len(made)
    assert " ".join(made).split() == ["word"] * 700
    assert "".join(cut("x" * 4000)) == "x" * 4000


def test_sentences_end_where_a_script_without_spaces_ends_them() -> None:
    sentence = "\u3042" * 900 + "\u3002"
    assert cut(sentence * 2) == [sentence, sentence]


def test_a_passage_knows_its_lines_and_its_first_page() -> None:
    paragraphs = [Paragraph("a", 3, 4, 7), Paragraph("b", 6, 9, 8)]
    (passage,) = passages_of(paragraphs)
    assert (passage.first_line, passage.last_line, passage.page) == (3, 9, 7)


words = st.text(alphabet="ab. \u201d", min_size=1, max_size=900).map(str.strip).filter(bool)


@given(st.lists(st.builds(lambda text, times: " ".join([text] * times), words, st.integers(1, 5)), max_size=6))
@settings(max_examples=150, deadline=None)
def test_nothing_is_lost_and_sizes_are_kept(texts: list[str]) -> None:
    made = list(passages_of([Paragraph(text, first_line=row) for row, text in enumerate(texts, 1)]))
    assert "".join("".join(passage.text.split()) for passage in made) == "".join(
        "".join(text.split()) for text in texts
    )
    assert all(0 < len(passage.text) <= MOST_CHARS for passage in made)
    for passage, following in pairwise(made):
        # A short passage is closed only because the next sentence would not fit.
        assert len(passage.text) >= LEAST_CHARS or len(passage.text) + len(following.text) > MOST_CHARS
