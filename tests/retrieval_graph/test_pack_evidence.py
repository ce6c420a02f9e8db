"""Evidence packing: never over budget, never below the bound, the same every time."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport import Hit
from graphport.errors import InvalidQueryError
from graphport.retrieval.packing import Packed, Weights, count_tokens, pack_evidence

WORDS = ["Calvin", "Geneva", "wrote", "Servetus", "burned", "1553", "lake"]

a_hit = st.builds(
    lambda entry, score, words: Hit(entry, score, text=" ".join(words)),
    st.uuids().map(str),
    st.integers(0, 64).map(lambda n: n / 64),
    st.lists(st.sampled_from(WORDS), max_size=6),
)
some_hits = st.lists(a_hit, max_size=7, unique_by=lambda hit: hit.entry)


def value_of(hits: list[Hit], chosen: tuple[Hit, ...], query: str, entities: dict[str, list[str]]) -> float:
    """The objective from its definition, set by set: coverage, facility location, relevance, a third each."""

    def words(hit: Hit) -> list[str]:
        return [word.lower() for word in hit.text.split()]

    def cosine(a: Hit, b: Hit) -> float:
        every = sorted({*words(a), *words(b)})
        one, two = ([words(hit).count(word) for word in every] for hit in (a, b))
        length = math.hypot(*one) * math.hypot(*two) if every else 0.0
        return sum(x * y for x, y in zip(one, two, strict=True)) / length if length else 0.0

    def things(hit: Hit) -> set[str]:
        return (set(words(hit)) & set(query.lower().split())) | {f"e:{name}" for name in entities.get(hit.entry, [])}

    rarity = {
        thing: math.log1p(len(hits) / sum(thing in things(hit) for hit in hits))
        for thing in sorted({thing for hit in hits for thing in things(hit)})
    }

    def coverage(some: list[Hit]) -> float:
        return sum(rarity[thing] for thing in {thing for hit in some for thing in things(hit)})

    def facility(some: list[Hit]) -> float:
        return sum(hit.score * max((cosine(hit, other) for other in some), default=0.0) for hit in hits)

    def relevance(some: list[Hit]) -> float:
        return sum(hit.score for hit in some)

    return sum(part(list(chosen)) / part(hits) / 3 for part in (coverage, facility, relevance) if part(hits) > 0)


@settings(deadline=None, max_examples=150)
@given(some_hits, st.integers(0, 14), st.sampled_from(["", "who burned Servetus", "Calvin Geneva lake"]), st.data())
def test_the_result_is_within_the_bound_of_the_best_set(
    hits: list[Hit], budget: int, query: str, data: st.DataObject
) -> None:
    entities = {hit.entry: data.draw(st.lists(st.sampled_from("xyz"), max_size=2)) for hit in hits}
    packed = pack_evidence(hits, budget, query=query, entities=entities)
    assert packed.cost == sum(count_tokens(hit.text) for hit in packed.hits) <= budget
    assert packed.value == pytest.approx(value_of(hits, packed.hits, query, entities), abs=1e-9)
    best = max(
        value_of(hits, some, query, entities)
        for size in range(len(hits) + 1)
        for some in combinations(hits, size)
        if sum(count_tokens(hit.text) for hit in some) <= budget
    )
    assert packed.value >= (1 - 1 / math.e) / 2 * best - 1e-9


@settings(deadline=None, max_examples=60)
@given(some_hits, st.integers(0, 14))
def test_the_same_hits_give_the_same_evidence_in_their_order(hits: list[Hit], budget: int) -> None:
    first, second = pack_evidence(hits, budget, query="Calvin"), pack_evidence(hits, budget, query="Calvin")
    assert first == second
    assert [hits.index(hit) for hit in first.hits] == sorted(hits.index(hit) for hit in first.hits)


def test_a_second_hit_that_says_the_same_gives_way_to_one_that_says_more() -> None:
    hits = [
        Hit("a", 0.9, text="Calvin wrote in Geneva"),
        Hit("copy", 0.9, text="Calvin wrote in Geneva"),
        Hit("b", 0.5, text="Servetus burned in 1553"),
    ]
    packed = pack_evidence(hits, budget=8, query="who burned Servetus, and did Calvin agree")
    assert [hit.entry for hit in packed.hits] == ["a", "b"]


def test_one_dear_hit_beats_the_cheap_ones_that_the_greedy_rule_would_take() -> None:
    hits = [Hit("cheap", 0.02, text="x"), Hit("dear", 1.0, text="y " * 100)]
    only_relevance = Weights(coverage=0, facility=0)
    assert [hit.entry for hit in pack_evidence(hits, 100, weights=only_relevance).hits] == ["dear"]


def test_two_cheap_hits_beat_a_dear_one_that_is_worth_a_little_more_than_each() -> None:
    hits = [Hit("dear", 0.6, text="x y"), Hit("one", 0.5, text="x"), Hit("two", 0.5, text="y")]
    only_relevance = Weights(coverage=0, facility=0)
    assert [hit.entry for hit in pack_evidence(hits, 2, weights=only_relevance).hits] == ["one", "two"]


def test_the_cost_is_any_count_of_a_text() -> None:
    hits = [Hit("a", 1.0, text="one two"), Hit("b", 0.9, text="three")]
    assert [hit.entry for hit in pack_evidence(hits, 5, cost=len).hits] == ["b"]
    assert [hit.entry for hit in pack_evidence(hits, 1, cost=lambda text: 0.5).hits] == ["a", "b"]


def test_the_similarity_of_vectors_can_take_the_place_of_words() -> None:
    hits = [Hit("a", 1.0, text="one"), Hit("same", 0.9, text="two"), Hit("other", 0.8, text="three")]
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    packed = pack_evidence(hits, 2, similarity=vectors @ vectors.T)
    assert [hit.entry for hit in packed.hits] == ["a", "other"]


def test_everything_is_taken_where_the_budget_allows_and_worth_1() -> None:
    hits = [Hit("a", 1.0, text="Calvin"), Hit("b", 0.5, text="Geneva lake")]
    packed = pack_evidence(hits, 3, query="Calvin in Geneva")
    assert packed.hits == tuple(hits)
    assert packed.value == pytest.approx(1.0)


def test_scores_next_to_nothing_do_not_overflow() -> None:
    assert pack_evidence([Hit("a", 5e-324)], 0).value == pytest.approx(1 / 3)
    far_apart = pack_evidence([Hit("a", 1.0), Hit("b", 5e-324, text="x")], 1)
    assert far_apart.value == pytest.approx(1 / 3)


def test_nothing_to_choose_from_is_empty_evidence() -> None:
    assert pack_evidence([], 100) == Packed((), 0, 0.0)
    assert pack_evidence([Hit("a", 1.0, text="far too long")], 2).hits == ()


def test_budgets_costs_and_similarities_that_make_no_sense_are_refused() -> None:
    hits = [Hit("a", 1.0, text="x")]
    for budget in (-1, math.inf, math.nan):
        with pytest.raises(InvalidQueryError, match="budget"):
            pack_evidence(hits, budget)
    for cost in (-1.0, math.nan):
        with pytest.raises(InvalidQueryError, match="cost of hit 'a'"):
            pack_evidence(hits, 1, cost=lambda text, cost=cost: cost)  # type: ignore[misc]  # a default in a lambda
    with pytest.raises(InvalidQueryError, match=r"similarity has shape \(2, 2\)"):
        pack_evidence(hits, 1, similarity=np.eye(2))


def test_tokens_are_words_and_marks() -> None:
    assert count_tokens("Calvin's book, 1536.") == 7
    assert count_tokens("") == 0
