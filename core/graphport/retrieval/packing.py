"""Evidence under a token budget: what together says most, not what scores best one by one.

The value of a set of hits is a monotone submodular function, the sum of three parts in [0, 1]:
coverage of the query's terms and entities (rare ones weigh more), facility location (how well each hit is
represented by its most similar one in the set, after Lin and Bilmes, "A class of submodular functions for
document summarization", ACL 2011), and the hits' own scores. A second hit that says the same adds little.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphport.errors import InvalidQueryError
from graphport.retrieval.hits import Hit

Vector = NDArray[np.float64]

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w+")
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the value counts; >= 0."""

    coverage: float = 1.0
    facility: float = 1.0
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class Packed:
    """Chosen hits in the order they were given, their cost, and their value relative to that of all hits."""

    hits: tuple[Hit, ...]
    cost: float
    value: float


def count_tokens(text: str) -> int:
    """Words and punctuation marks: within some 30 percent of a subword tokenizer's count for English."""
    return len(_TOKEN.findall(text))


def pack_evidence(
    hits: Sequence[Hit],
    budget: float,
    cost: Callable[[str], float] = count_tokens,
    *,
    query: str = "",
    entities: Mapping[str, Iterable[str]] | None = None,
    similarity: NDArray[np.floating] | None = None,
    weights: Weights | None = None,
) -> Packed:
    """The hits that are worth most together at a total ``cost`` of at most ``budget``.

    ``cost`` is that of a hit's text (any tokenizer's count). ``query`` gives the terms to cover;
    ``entities`` maps entries to the query's entities they are about. ``similarity`` (n, n) is in [0, 1]
    (negative cosines count as 0), by default the cosine of word counts.

    Lazy greedy by value per cost, or the best single hit if that is worth more: at least (1 - 1/e) / 2 of
    the best possible value (Leskovec et al., "Cost-effective outbreak detection in networks", KDD 2007).
    Deterministic; ties go to the earlier hit. Raises `InvalidQueryError` for a budget or cost that is
    negative or not finite, or a similarity of another shape.
    """
    if not (math.isfinite(budget) and budget >= 0):
        raise InvalidQueryError(f"budget is {budget!r}; it must be a finite number >= 0")
    costs = [_checked(cost(hit.text), hit) for hit in hits]
    value = _Value(hits, query, entities or {}, similarity, weights or Weights())
    chosen = _greedy(value, costs, budget)
    alone = max(
        (place for place in range(len(hits)) if costs[place] <= budget),
        key=lambda place: (value.of([place]), -place),
        default=None,
    )
    if alone is not None and value.of([alone]) > value.of(chosen):
        chosen = [alone]
    chosen = sorted(chosen)
    return Packed(tuple(hits[place] for place in chosen), sum(costs[place] for place in chosen), value.of(chosen))


def _checked(cost: float, hit: Hit) -> float:
    if not (math.isfinite(cost) and cost >= 0):
        raise InvalidQueryError(f"cost of hit {hit.entry!r:.80} is {cost!r}; it must be a finite number >= 0")
    return cost


def _greedy(value: _Value, costs: Sequence[float], budget: float) -> list[int]:
    """Best gain per cost first. A gain only shrinks as the set grows, so only the top of the heap is looked at anew."""
    state = value.empty()
    chosen: list[int] = []
    left = budget
    heap = [(-math.inf, place, -1) for place in range(len(costs)) if costs[place] <= budget]
    heapq.heapify(heap)
    while heap:
        _, place, seen = heapq.heappop(heap)
        if costs[place] > left:
            continue
        if seen == len(chosen):
            chosen.append(place)
            left -= costs[place]
            state = value.extended(state, place)
            continue
        gain = value.gain(state, place)
        if gain > 0:
            density = gain / costs[place] if costs[place] > 0 else math.inf
            heapq.heappush(heap, (-density, place, len(chosen)))
    return chosen


@dataclass(frozen=True, slots=True)
class _State:
    """What a set has reached: which terms it covers (t,), and how well it represents each hit (n,)."""

    covered: NDArray[np.bool_]
    represented: Vector


class _Value:
    """The value of sets of hits, by their places; that of all hits is 1 (0 if nothing has any)."""

    def __init__(
        self,
        hits: Sequence[Hit],
        query: str,
        entities: Mapping[str, Iterable[str]],
        similarity: NDArray[np.floating] | None,
        weights: Weights,
    ) -> None:
        n = len(hits)
        words = [Counter(word.lower() for word in _WORD.findall(f"{hit.title}\n{hit.text}")) for hit in hits]
        self._has, rarity = _terms(hits, words, query, entities)
        self._similarity = _cosines(words) if similarity is None else np.maximum(np.asarray(similarity, float), 0)
        if self._similarity.shape != (n, n):
            raise InvalidQueryError(f"similarity has shape {self._similarity.shape}; it must be ({n}, {n})")
        scores = np.maximum(np.array([hit.score for hit in hits], dtype=np.float64), 0)
        scores /= scores.max(initial=0.0) or 1.0
        total = weights.coverage + weights.facility + weights.relevance
        best = self._similarity.max(axis=1, initial=0.0)
        self._rarity = _scaled(rarity, float(rarity[self._has.any(axis=0)].sum()), weights.coverage / total)
        self._importance = _scaled(scores, float(scores @ best), weights.facility / total)
        self._relevance = _scaled(scores, float(scores.sum()), weights.relevance / total)

    def empty(self) -> _State:
        terms = int(self._has.shape[1])
        return _State(np.zeros(terms, dtype=np.bool_), np.zeros(len(self._has)))

    def extended(self, state: _State, place: int) -> _State:
        covered = state.covered.copy()
        covered[self._has[place]] = True
        return _State(covered, np.maximum(state.represented, self._similarity[:, place]))

    def gain(self, state: _State, place: int) -> float:
        new = self._has[place] & ~state.covered
        nearer = np.maximum(self._similarity[:, place] - state.represented, 0)
        return float(self._rarity[new].sum() + self._importance @ nearer + self._relevance[place])

    def of(self, places: Iterable[int]) -> float:
        state, value = self.empty(), 0.0
        for place in places:
            value += self.gain(state, place)
            state = self.extended(state, place)
        return value


def _terms(
    hits: Sequence[Hit], words: Sequence[Counter[str]], query: str, entities: Mapping[str, Iterable[str]]
) -> tuple[NDArray[np.bool_], Vector]:
    """(n, t): which hit has which of the query's terms and entities, and (t,) how rare each is among the hits."""
    asked = dict.fromkeys(word.lower() for word in _WORD.findall(query))
    about = [dict.fromkeys(entities.get(hit.entry, ())) for hit in hits]
    things = dict.fromkeys(thing for row in about for thing in row)
    table = [
        [word in own for word in asked] + [thing in row for thing in things]
        for own, row in zip(words, about, strict=True)
    ]
    has = np.array(table, dtype=bool).reshape(len(hits), len(asked) + len(things))
    holders = has.sum(axis=0)
    return has, np.log1p(len(hits) / np.maximum(holders, 1))


def _cosines(words: Sequence[Counter[str]]) -> Vector:
    columns = {word: column for column, word in enumerate(dict.fromkeys(word for own in words for word in own))}
    counts = np.zeros((len(words), len(columns)))
    for row, own in enumerate(words):
        for word, times in own.items():
            counts[row, columns[word]] = times
    length = np.linalg.norm(counts, axis=1, keepdims=True)
    unit = np.divide(counts, length, out=np.zeros_like(counts), where=length > 0)
    cosines: Vector = unit @ unit.T
    return cosines


def _scaled(parts: Vector, total: float, share: float) -> Vector:
    """``parts`` scaled so that what is ``total`` becomes ``share``; zeros where there is next to nothing to scale."""
    return parts * (share / total) if total > _NOTHING else np.zeros_like(parts)
