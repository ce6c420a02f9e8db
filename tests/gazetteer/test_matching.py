"""The matcher against a brute-force search that knows nothing of tokens or automata."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphport.errors import InvalidIdError
from graphport.matching import Match, Matcher, fold


def found(forms: dict[str, list[str]], text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(text[match.start : match.end], match.ids) for match in Matcher(forms).find(text)]


def spans(forms: list[str], text: str) -> list[str]:
    return [span for span, _ in found({form: ["x"] for form in forms}, text)]


# The oracle: every substring of the text, compared in Unicode's canonical caseless form.


def canonical(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.replace("\u00ad", ""))
    folded = unicodedata.normalize("NFD", decomposed.casefold()).replace("i\u0307", "i").replace("\u2019", "'")
    spaced = re.sub(r"\s+", " ", folded)
    # White space counts only between two words; \u0300-\u036f are the marks that the texts hold.
    return re.sub(r"(?<![^\W_]|[\u0300-\u036f]) | (?![^\W_])", "", spaced)


def joins(before: str, after: str) -> bool:
    """Whether there is no word boundary between two neighbouring characters."""
    if unicodedata.category(after) == "Mn":
        return not before.isspace()

    def is_word(char: str) -> bool:
        return char.isalnum() or unicodedata.category(char) == "Mn" or char == "\u00ad"

    return is_word(before) and is_word(after)


def brute_force(forms: dict[str, list[str]], text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    ids: dict[str, set[str]] = {}
    for form, named in forms.items():
        ids.setdefault(canonical(form), set()).update(named)
    hits: list[tuple[int, int, tuple[str, ...]]] = []
    start = 0
    while start < len(text):
        best = None
        for end in range(start + 1, len(text) + 1):
            inside = not text[start].isspace() and not text[end - 1].isspace()
            opens = start == 0 or not joins(text[start - 1], text[start])
            closes = end == len(text) or not joins(text[end - 1], text[end])
            if inside and opens and closes and canonical(text[start:end]) in ids:
                best = (start, end, tuple(sorted(ids[canonical(text[start:end])])))
        if best is None:
            start += 1
        else:
            hits.append(best)
            start = best[1]
    return hits


PIECES = [
    "a",
    "A",
    "b",
    "ß",
    "SS",
    "İ",
    "i",
    "é",
    "e\u0301",
    "e",
    "\u03c3",  # the two small sigmas and the capital
    "\u03c2",
    "\u03a3",
    " ",
    "\n",
    "-",
    "'",
    "\u2019",
    "1",
    ".",
]
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join)
names = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5)
    .map("".join)
    .filter(lambda name: any(char.isalnum() for char in name) and name.strip() == name)
)


@given(st.lists(names, min_size=1, max_size=6), texts)
@example(["a b", "a", "b a"], "a b a bb a")
@example(["ss"], "İß")
@settings(max_examples=400, deadline=None)
def test_matches_are_those_of_brute_force(forms: list[str], text: str) -> None:
    mapping = {form: [f"id{number}"] for number, form in enumerate(forms)}
    matches = [(match.start, match.end, match.ids) for match in Matcher(mapping).find(text)]
    assert matches == brute_force(mapping, text)


@given(
    st.lists(st.tuples(st.lists(names, max_size=6), st.lists(names, max_size=3)), min_size=1, max_size=6),
    st.lists(texts, min_size=1, max_size=3),
)
@example([(["a", "b", "a b"], []), (["b a"], ["a b"]), (["a b"], ["a", "b", "b a"])], ["a b a"])
@settings(max_examples=200, deadline=None)
def test_a_matcher_whose_names_came_and_went_answers_like_one_made_anew(
    changes: list[tuple[list[str], list[str]]], asked: list[str]
) -> None:
    matcher = Matcher({})
    there: dict[str, list[str]] = {}
    for number, (added, gone) in enumerate(changes):
        before, kept = matcher, dict(there)
        change = {fold(name): [f"{number}", "x"] for name in added} | {fold(name): [] for name in gone}
        matcher = matcher.changed(change)
        there = {name: ids for name, ids in {**there, **change}.items() if ids}
        for text in asked:
            assert matcher.find(text) == Matcher(there).find(text)
            assert before.find(text) == Matcher(kept).find(text)  # whoever holds the former one goes on with it
        assert sorted(matcher.shared_forms()) == sorted(Matcher(there).shared_forms())


@given(texts)
@settings(max_examples=200, deadline=None)
def test_every_name_is_found_in_itself_whatever_its_spelling(text: str) -> None:
    name = text.strip()
    if not any(char.isalnum() for char in name):
        return
    for spelling in (name, name.upper(), unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)):
        assert Matcher({name: ["x"]}).find(spelling) == [Match(0, len(spelling), ("x",))]


@given(st.text(alphabet=st.characters(max_codepoint=0x20FF, exclude_categories=["Cs"]), max_size=20))
@settings(max_examples=300, deadline=None)
def test_the_fast_way_for_plain_texts_gives_the_same_matches(text: str) -> None:
    matcher = Matcher({char: [char] for char in text if char.isalnum() and char != "\u02bc"})
    behind = " \u0e01\u0e01"  # a script that takes the slower way
    assert matcher.find(text) == [match for match in matcher.find(text + behind) if match.end <= len(text)]


def test_the_longest_form_wins_and_the_next_search_starts_behind_it() -> None:
    forms = {"Council of Trent": ["council"], "Trent": ["town"], "of Trent and": ["odd"]}
    assert found(forms, "The Council of Trent and Trent") == [("Council of Trent", ("council",)), ("Trent", ("town",))]


def test_a_longer_form_that_ends_inside_a_word_leaves_the_shorter_one() -> None:
    assert spans(["Council", "Council of Trent", "Trent"], "Council of Trento, Trentish") == ["Council"]


def test_one_form_of_several_things_names_them_all() -> None:
    assert found({"Trent": ["town", "council"], "TRENT": ["river"]}, "trent") == [
        ("trent", ("council", "river", "town"))
    ]


@pytest.mark.parametrize(
    "form,text,expected",
    [
        ("Calvin", "Calvin's", ["Calvin"]),
        ("Calvin", "Calvin\u2019s", ["Calvin"]),
        ("Calvin", "Calvin-like", ["Calvin"]),
        ("Calvin", "Calvinism", []),
        ("Calvin", "_Calvin_ and **Calvin**", ["Calvin", "Calvin"]),
        ("Calvin", "Calvin¹, Calvin²", ["Calvin", "Calvin"]),
        ("Calvin", "Calvin3", []),
        ("date", "parse_date", []),
        ("parse_date", "parse_date()", ["parse_date"]),
        ("Straße", "STRASSE strasse Strase", ["STRASSE", "strasse"]),
        ("strasse", "Straße", ["Straße"]),
        ("İstanbul", "İSTANBUL'da, istanbul", ["İSTANBUL", "istanbul"]),
        ("istanbul", "I\u0307stanbul", ["I\u0307stanbul"]),
        ("Église", "l'église, l\u2019E\u0301GLISE", ["église", "E\u0301GLISE"]),
        ("Cafe", "Cafe\u0301 Café", []),
        ("Café", "cafe\u0301", ["cafe\u0301"]),
        ("\u1fb3\u0301", "\u03b1\u0301\u0345", ["\u03b1\u0301\u0345"]),
        ("O'Brien", "O\u2019Brien", ["O\u2019Brien"]),
        ("Jean-Luc", "JEAN\u2010LUC Jean\u2011Luc Jean Luc", ["JEAN\u2010LUC", "Jean\u2011Luc"]),
        ("John Calvin", "John\n    Calvin, John\u00a0Calvin", ["John\n    Calvin", "John\u00a0Calvin"]),
        ("Calvin", "Cal\u00advin", ["Cal\u00advin"]),
        ("St. Paul", "St.Paul St. Paul", ["St.Paul", "St. Paul"]),
        ("C++", "C++ and C", ["C++"]),
        ("東京", "東京都に", ["東京"]),
        ("กรุงเทพ", "ไปกรุงเทพฯ", ["กรุงเทพ"]),
        ("カルヴァン", "ジャン・カルヴァン", ["カルヴァン"]),
        ("カル", "カルヴァン", []),
        ("서울", "서울 서울은", ["서울"]),
        ("서울", "\u1109\u1165\u110b\u116e\u11af", ["\u1109\u1165\u110b\u116e\u11af"]),
        ("Привет", "ПРИВЕТ", ["ПРИВЕТ"]),
        ("ΟΔΟΣ", "οδος", ["οδος"]),
        ("Paul", "\u2764\ufe0fPaul", ["Paul"]),
    ],
)
def test_borders_and_folding(form: str, text: str, expected: list[str]) -> None:
    assert spans([form], text) == expected


def test_offsets_are_of_the_original_text_when_folding_changes_its_length() -> None:
    text = "İİİ ßßß ﬁﬁ e\u0301\u0301 Trent"
    assert [(match.start, match.end) for match in Matcher({"Trent": ["x"]}).find(text)] == [(len(text) - 5, len(text))]


@pytest.mark.parametrize("name", ["", "\0", "Calvin\0", "...", "-", " ", "\n", "\u0301", "\ud800", "+++", "\u00ad"])
def test_a_name_no_text_can_mention_is_refused(name: str) -> None:
    with pytest.raises(InvalidIdError):
        Matcher({name: ["x"]})
    with pytest.raises(InvalidIdError):
        fold(name)


def test_an_empty_id_is_refused() -> None:
    with pytest.raises(InvalidIdError, match="id of 'Calvin'"):
        Matcher({"Calvin": [""]})


def test_nothing_to_look_for_finds_nothing() -> None:
    assert Matcher({}).find("Calvin") == []
    assert Matcher({"John Calvin": [], "Calvin": ["x"]}).find("John Calvin") == [Match(5, 11, ("x",))]
    assert Matcher({"Calvin": ["x"]}).find("") == []


def test_a_text_with_a_lone_surrogate_is_searched() -> None:
    assert spans(["Calvin"], "\ud800 Calvin \udfff") == ["Calvin"]


def test_ten_thousand_forms_of_one_thing_are_found() -> None:
    matcher = Matcher({f"alias {number}": ["x"] for number in range(10_000)})
    text = "alias 9999, alias 12345, alias 0"
    assert [text[match.start : match.end] for match in matcher.find(text)] == ["alias 9999", "alias 0"]


def test_more_words_than_surrogates_begin_at_are_told_apart() -> None:
    matcher = Matcher({f"w{number}": [str(number)] for number in range(60_000)})
    for number in (0, 55_294, 55_295, 55_296, 57_342, 57_343, 59_999):
        assert [match.ids for match in matcher.find(f"w{number}")] == [(str(number),)]


def test_spellings_seen_are_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphport.matching._MEMO_SIZE", 3)
    matcher = Matcher({"Calvin": ["x"]})
    for _ in range(3):
        assert len(matcher.find("one two Calvin three four calvin five")) == 2
    assert len(matcher._frozen._codes) <= 3


@pytest.mark.parametrize("same", [("Straße", "STRASSE"), ("É", "e\u0301"), ("a  b", "A\nb"), ("O'B", "o\u2019b")])
def test_equal_names_have_one_key(same: tuple[str, str]) -> None:
    assert fold(same[0]) == fold(same[1])
