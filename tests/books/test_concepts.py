"""Salience, worked out by hand from the rule: 1 a word, 2 with a capital inside a sentence, 3 for the heading."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from graphport_books.concepts import MAX_CONCEPTS, concepts_of_book, extract_concepts, is_unspaced
from graphport_books.stopwords import stop_words_of

FILLER = " and the of it is in that was for with as on at by this"


def test_a_capital_inside_a_sentence_weighs_more_and_one_at_its_start_does_not() -> None:
    text = "The model stores Projections. Projections are fast. Models of the model." + FILLER
    assert extract_concepts(text) == {"Projections": 3, "model": 2, "fast": 1, "models": 1, "stores": 1}


def test_capitals_in_a_row_are_one_concept() -> None:
    text = "We use Event Sourcing. Later the Council of Trent met. Event Sourcing again; then Charles V spoke." + FILLER
    found = extract_concepts(text)
    # At its start a sentence lends its capital to "Event", but elsewhere it has one of its own.
    assert found["Event Sourcing"] == 4
    assert found["Council of Trent"] == 2
    assert found["Charles V"] == 2
    assert not {"event", "Event", "sourcing", "Sourcing", "trent", "Trent"} & found.keys()


def test_a_sentence_start_is_no_part_of_the_name_behind_it() -> None:
    found = extract_concepts("Later Luther spoke. Many Christians heard. We saw Luther with the Christians." + FILLER)
    assert found["Luther"] == 4
    assert found["Christians"] == 4
    assert "later" in found  # a word like any other


def test_names_do_not_reach_over_punctuation_or_paragraphs() -> None:
    found = extract_concepts("We saw Luther, Calvin and Bucer. We met Zwingli\n\nGeneva was far, said Farel." + FILLER)
    assert {"Luther", "Calvin", "Bucer", "Zwingli", "Farel", "geneva"} <= found.keys()


def test_the_words_of_the_heading_are_always_in_and_come_first() -> None:
    names = " ".join(f"then Name{chr(97 + n)}x came and" for n in range(24))
    text = f"We say that grace is free, {names} Zeta Eta went." + FILLER
    found = extract_concepts(text, "Chapter III: Of Grace and Pardon")
    assert list(found)[:2] == ["grace", "pardon"]
    assert found["grace"] == 1 + 3
    assert found["pardon"] == 3
    assert len(found) == MAX_CONCEPTS == 25


def test_the_heading_names_what_the_text_names() -> None:
    found = extract_concepts("We use Event Sourcing." + FILLER, "Event Sourcing in Practice")
    assert list(found.items())[:4] == [("Event Sourcing", 5), ("event", 3), ("practice", 3), ("sourcing", 3)]


def test_the_rank_is_capital_then_frequency_then_name() -> None:
    text = "we like beta, beta, beta, alpha, alpha and gamma with Zeta and Eta, Eta" + FILLER
    assert list(extract_concepts(text)) == ["Eta", "Zeta", "beta", "alpha", "gamma"]


def test_a_word_mostly_written_small_is_named_so() -> None:
    text = "we love grace, grace and Grace; we love the Church, the church and the Church" + FILLER
    assert extract_concepts(text) == {"Church": 5, "grace": 4, "love": 2}


def test_possessives_belong_to_their_name() -> None:
    assert extract_concepts("then Calvin's town, and Calvin\u2019s book, and Calvin" + FILLER)["Calvin"] == 6


def test_single_characters_and_stop_words_are_dropped() -> None:
    assert extract_concepts("x y I a the and with" + FILLER) == {}
    assert extract_concepts("") == {}


def test_other_languages_have_their_own_stop_words() -> None:
    german = "Wir sprechen von der Gnade und von dem Gesetz, denn das ist nicht so wie es bei uns war und sein wird."
    assert set(extract_concepts(german)) == {"Gnade", "Gesetz", "sprechen"}
    french = "Nous parlons de la gr\u00e2ce et de la loi, parce que ce n'est pas comme avant dans notre pays avec vous."
    assert "gr\u00e2ce" in extract_concepts(french)
    assert not {"nous", "de", "la", "et", "que", "dans", "avec"} & extract_concepts(french).keys()
    assert stop_words_of("lorem ipsum dolor amet consectetur".split()) == frozenset()


def test_spellings_in_nfd_and_nfc_are_one() -> None:
    text = "wir essen K\u00e4se, K\u00e4se und K\u00e4se"
    assert extract_concepts(unicodedata.normalize("NFD", text)) == extract_concepts(text)


def test_scripts_without_spaces_give_nothing() -> None:
    japanese = "\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002"
    assert is_unspaced(japanese)
    assert extract_concepts(japanese, "\u6771\u4eac") == {}
    assert not is_unspaced("Calvin wrote in Geneva about \u6771\u4eac, and it is there, as we know, in the end.")
    assert not is_unspaced("")


def test_passages_add_up_to_the_chapter() -> None:
    (parts,) = concepts_of_book([("Of Grace", ["We met Luther. Grace is free.", "Then Luther left" + FILLER])])
    assert parts == {"grace": {0: 4}, "Luther": {0: 2, 1: 2}, "free": {0: 1}, "left": {1: 1}, "met": {0: 1}}


def test_a_concept_has_one_name_in_a_book() -> None:
    first, second = concepts_of_book([("", ["We met Luther" + FILLER]), ("", ["Luther left" + FILLER])])
    assert (first["Luther"], second["Luther"]) == ({0: 2}, {0: 1})
    assert concepts_of_book([]) == []
    assert concepts_of_book([("Of Grace", [])]) == [{}]


@given(
    st.lists(st.sampled_from("Luther Calvin grace Grace the of . , \n\n Trent's x We said".split(" ")), max_size=30),
    st.integers(1, 4),
)
@settings(max_examples=100, deadline=None)
def test_salience_does_not_depend_on_where_paragraphs_are_cut_into_passages(words: list[str], cuts: int) -> None:
    text = " ".join(words) + FILLER
    paragraphs = [part.strip() for part in text.split("\n\n")]
    size = max(1, len(paragraphs) // cuts)
    passages = ["\n\n".join(paragraphs[i : i + size]) for i in range(0, len(paragraphs), size)]
    whole = extract_concepts("\n\n".join(paragraphs), "Grace")
    assert {name: sum(parts.values()) for name, parts in concepts_of_book([("Grace", passages)])[0].items()} == whole
    assert len(whole) <= MAX_CONCEPTS
    assert all(salience >= 1 for salience in whole.values())
