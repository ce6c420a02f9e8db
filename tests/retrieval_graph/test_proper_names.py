"""Proper names told by their capitals, the forms of titles, and what counts as a mention."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.retrieval.names import is_mention, proper_names, title_forms


def names(text: str) -> list[str]:
    return [text[name.start : name.end] for name in proper_names(text)]


@pytest.mark.parametrize(
    "text,expected",
    [
        ("The song was written by Neil Young in Canada.", ["Neil Young", "Canada"]),
        ("He studied at the University of Copenhagen.", ["University of Copenhagen"]),
        ("a play by J. M. Barrie, first seen in London", ["J. M. Barrie", "London"]),
        ("Adam Wright and Shannon Wright sing.", ["Adam Wright", "Shannon Wright"]),
        ("In Boston's harbour lies the Constitution", ["Boston", "Constitution"]),
        ("the Palace of the Popes and Charles de Gaulle", ["Palace of the Popes", "Charles de Gaulle"]),
        ("It ended in August 1962 with Formula 1", ["August 1962", "Formula 1"]),
        ("painted by Édouard Manet and Æthelred", ["Édouard Manet", "Æthelred"]),
        ("asked Jean-Luc O\u2019Neill", ["Jean-Luc O\u2019Neill"]),
        ("However, it rained. Although he ran.", []),
        ("all in lower case, 42 times", []),
        ("", []),
    ],
)
def test_runs_of_capitals_are_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_single_word_that_begins_a_sentence_needs_a_second_sight() -> None:
    assert names("Rain fell. Calvin wrote.") == []
    assert names("Rain fell. Calvin wrote. They asked Calvin.") == ["Calvin", "Calvin"]


def test_a_headline_is_no_name() -> None:
    assert names("so READ ALL ABOUT IT NOW AND HERE AND THEN TODAY OR NEVER") == []


def test_a_name_counts_its_words() -> None:
    assert [name.words for name in proper_names("by John Maynard Keynes of Tilton")] == [5]


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.sampled_from("AaÉé .,'\u2019-of\n1“(日"), max_size=60))
def test_names_lie_in_the_text_in_order_and_apart(text: str) -> None:
    found = proper_names(text)
    assert all(0 <= name.start < name.end <= len(text) for name in found)
    assert all(one.end <= two.start for one, two in pairwise(found))
    assert all(text[name.start].isupper() for name in found)


def test_the_cost_grows_with_the_text_and_no_faster() -> None:
    short, long = "Rain Falls. " * 2_000, "Rain Falls. " * 20_000
    started = time.process_time()
    proper_names(short)
    middle = time.process_time()
    proper_names(long)
    assert time.process_time() - middle < 40 * max(middle - started, 0.005)


@pytest.mark.parametrize(
    "title,forms",
    [
        ("Bullet (2014 film)", ("Bullet (2014 film)", "Bullet")),
        ("Bullet", ("Bullet",)),
        ("(What's the Story) Morning Glory?", ("(What's the Story) Morning Glory?",)),
        ("(untitled)", ("(untitled)",)),
    ],
)
def test_a_title_is_called_without_its_note_too(title: str, forms: tuple[str, ...]) -> None:
    assert title_forms(title) == forms


@pytest.mark.parametrize(
    "written,name,expected",
    [
        ("Hope", "Hope", True),
        ("hope", "Hope", False),
        ("HOPE", "Hope", True),
        ("damping", "damping", True),
        ("evidence packing", "Evidence packing", True),
        ("parse_date", "parse_date", True),
        ("東京", "東京", True),
    ],
)
def test_one_word_in_lower_case_is_the_common_noun(written: str, name: str, expected: bool) -> None:
    assert is_mention(written, name) is expected
