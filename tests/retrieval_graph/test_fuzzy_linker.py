"""The fuzzy linker: names that a query spells a little otherwise, and none that mean something else."""

from __future__ import annotations

import random
import string
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of

from graphport.errors import BackendUnavailableError
from graphport.matching import Matcher
from graphport.retrieval.fuzzy import CUTOFF, FuzzyLinker, FuzzyNames, bare
from graphport.retrieval.linking import LinkedEntity, link, link_query
from graphport.retrieval.names import phrase_id

NAMES = [
    "Neil Young",
    "Young",
    "Harbour Lights",
    "Café Müller",
    "Henry IV",
    "World Cup 1998",
    "The Who",
    "evidence packing",
]


@pytest.fixture
def names() -> FuzzyNames:
    known = FuzzyNames()
    known.replace((phrase_id(name), name) for name in NAMES)
    return known


def linked(query: str, names: FuzzyNames, found: tuple[LinkedEntity, ...] = ()) -> list[tuple[str, str, float]]:
    return [
        (query[one.start : one.end], one.node.removeprefix("phrase:"), round(one.score, 3))
        for one in FuzzyLinker(names)(query, found)
    ]


@pytest.mark.parametrize(
    "written,name,score",
    [
        ("Neil Yuong", "neil young", 0.9),  # two letters swapped: one edit of ten letters
        ("Neil Yung", "neil young", 0.9),
        ("Niel Yung", "neil young", 0.8),
        ("Harbor Lights", "harbour lights", 1 - 1 / 14),
        ("Cafe Muller", "café müller", 1.0),
        ("Café-Müller", "café müller", 1.0),
    ],
)
def test_a_name_is_found_by_what_is_nearly_its_spelling(
    names: FuzzyNames, written: str, name: str, score: float
) -> None:
    ((where, node, found),) = linked(f"Who wrote about {written}?", names)
    assert (where, node) == (written, phrase_id(name).removeprefix("phrase:"))
    assert found == pytest.approx(score, abs=1e-3)


@pytest.mark.parametrize("written", ["Henry VI", "Henry IX", "World Cup 1994", "Nail Yuang Trio", "Whu", "Jung"])
def test_what_means_something_else_is_not_linked(names: FuzzyNames, written: str) -> None:
    assert linked(f"Who wrote about {written}?", names) == []


def test_a_possessive_names_its_owner(names: FuzzyNames) -> None:
    assert linked("Neil Yuong's brother", names) == [("Neil Yuong", "neil young", 0.9)]


def test_what_an_earlier_linker_linked_is_left_alone(names: FuzzyNames) -> None:
    query = "Neil Yuong and Harbor Lights"
    earlier = (LinkedEntity("phrase:other", 0, len("Neil Yuong")),)
    assert [place for place, _, _ in linked(query, names, earlier)] == ["Harbor Lights"]


def test_a_name_of_which_only_a_part_was_linked_is_linked_as_a_whole(names: FuzzyNames) -> None:
    query = "songs of Niel Young"
    graph = graph_of([("entry:a", "mentions", phrase_id(name)) for name in NAMES])
    contained = link_query(query, graph, Matcher({}))
    assert [one.node for one in contained] == ["phrase:young"]
    both = link(query, [lambda asked, _: link_query(asked, graph, Matcher({})), FuzzyLinker(names)])
    assert [(one.node, one.linker) for one in both] == [("phrase:young", "containment"), ("phrase:neil young", "fuzzy")]
    assert both[1].weight == pytest.approx(0.9)


def test_in_lower_case_only_several_words_or_names_in_lower_case_are_linked(names: FuzzyNames) -> None:
    assert linked("did niel young like evidense packing", names) == [
        ("niel young", "neil young", 0.9),
        ("evidense packing", "evidence packing", round(1 - 1 / 16, 3)),
    ]


def test_equally_near_names_share_the_weight_in_order_of_their_ids() -> None:
    known = FuzzyNames()
    known.replace((phrase_id(name), name) for name in ("Marina", "Karina", "Carina", "Zarina"))
    found = FuzzyLinker(known)("Where is Parina?", ())
    assert [one.node for one in found] == ["phrase:carina", "phrase:karina", "phrase:marina"]
    assert [one.share for one in found] == pytest.approx([1 / 3] * 3)


def test_names_that_come_and_go_are_found_and_not_found(names: FuzzyNames) -> None:
    names.replace([("entity:John Calvin", "John Calvin"), ("entity:John Calvin", "Jean Calvin")])
    assert linked("Neil Yuong", names) == []
    assert linked("Jaen Calvin, John Calvyn", names) == [
        ("Jaen Calvin", "entity:John Calvin", round(1 - 1 / 11, 3)),
        ("John Calvyn", "entity:John Calvin", round(1 - 1 / 11, 3)),
    ]
    names.replace([])
    assert linked("Jaen Calvin", names) == []


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000))
def test_the_index_finds_what_comparing_with_every_name_finds(seed: int) -> None:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcé", k=draw.randint(4, 7))) for _ in range(30)]
    known = FuzzyNames()
    known.replace((phrase_id(word), word) for word in words)
    written = "".join(draw.choices("abc", k=draw.randint(4, 7)))
    near = {word: _similarity(bare(written), bare(word)) for word in words}
    best = max(near.values())
    expected = {phrase_id(word) for word in words if near[word] == best and best >= CUTOFF}
    assert {one.node for one in known.near(written)} == expected


def _similarity(left: str, right: str) -> float:
    """By the textbook's table (optimal string alignment)."""
    table = {(row, -1): row + 1 for row in range(-1, len(left))} | {(-1, col): col + 1 for col in range(len(right))}
    for row, ours in enumerate(left):
        for col, theirs in enumerate(right):
            table[row, col] = min(
                table[row - 1, col] + 1, table[row, col - 1] + 1, table[row - 1, col - 1] + (ours != theirs)
            )
            if row and col and ours == right[col - 1] and left[row - 1] == theirs:
                table[row, col] = min(table[row, col], table[row - 2, col - 2] + 1)
    return 1 - table[len(left) - 1, len(right) - 1] / max(len(left), len(right))


def test_odd_queries_link_nothing(names: FuzzyNames) -> None:
    for query in ("", "???", "___", "\U0001f642 Neil", "X" * 5000, string.punctuation):
        assert linked(query, names) == []


def test_without_rapidfuzz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(BackendUnavailableError, match=r"pip install 'graphport\[fuzzy\]'"):
        FuzzyNames()
