"""The best nodes by Personalized PageRank, in the exact order and at the cost of their neighborhood.

Forward push finds scores around the seeds and an upper bound for what is missing; candidates whose bounds
overlap are then followed back for some steps, which tells what comes to them from near. If bounds separate
the best k from each other and from the rest, the order is that of the exact scores. Otherwise push goes on
at a finer threshold, and beyond a limit of work Chebyshev iteration takes over from where it stands, under
the same test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from graphport.errors import InvalidInputError
from graphport.rank.among import Among, field_of
from graphport.rank.arrays import Index, Vector
from graphport.rank.global_proof import prove_globally
from graphport.rank.local_proof import prove_locally
from graphport.rank.ordering import Bounded, Ordered
from graphport.rank.pagerank import check_damping
from graphport.rank.push import SHARE, Push
from graphport.rank.question import Question
from graphport.rank.seeds import Seeds, reset_of
from graphport.rank.walk import walk_of
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage

LAST_PUSH = 10_000_000
"""Arcs that push may visit in the end, beyond four times the graph, for scores too far apart for iteration."""


class TopPageRank:
    """The best nodes and the proof of it.

    ``certified``: these are the best ``k`` of the exact ranking in its order (score descending, then id),
    where ``ties`` are runs of nodes whose scores are equal, by the structure of the graph or to within
    1e-9 of the score; ids decide inside them and at the end of the list. ``bounds`` (k, 2) are proven limits of
    each node's score, ``work`` is the number of arcs visited, and ``how`` is what proved it: ``"push"``,
    ``"chebyshev"`` or ``"power"`` (for weights that span more than 1e150).
    """

    __slots__ = ("bounds", "certified", "how", "ids", "ties", "work")

    def __init__(
        self,
        ids: Sequence[str],
        bounds: Vector,
        *,
        ties: Sequence[tuple[str, ...]],
        certified: bool,
        work: int,
        how: str,
    ) -> None:
        self.ids = ids
        self.bounds = bounds
        self.ties = ties
        self.certified = certified
        self.work = work
        self.how = how

    def __repr__(self) -> str:
        return f"TopPageRank(k={len(self.ids)}, certified={self.certified}, how={self.how!r}, work={self.work})"

    def top(self, k: int | None = None) -> list[tuple[str, float]]:
        """The best ``k`` (at most as many as were asked for) with the middle of their bounds, best first."""
        middle: list[float] = self.bounds[:k].mean(axis=1).tolist()
        return list(zip(self.ids[:k], middle, strict=True))


def top_personalized_pagerank(
    graph: GraphStorage | GraphSnapshot,
    seeds: Seeds,
    k: int,
    *,
    among: Among = None,
    damping: float = 0.5,
    max_work: int | None = None,
) -> TopPageRank:
    """The ``k`` best nodes of the undirected, weighted `personalized_pagerank`, in order, with a certificate.

    ``among`` ranks only nodes of a kind, of several kinds, or of a mask (n,) bool such as
    `GraphSnapshot.entry_mask`. Fewer than ``k`` such nodes: all of them. ``max_work`` is the number of arcs
    push may visit before the whole graph is iterated over, by default two fifths of all; it moves time,
    not the answer. Raises as `personalized_pagerank`.
    """
    check_damping(damping)
    if k < 0:
        raise InvalidInputError(f"k is {k}; it must be >= 0")
    snapshot = snapshot_of(graph)
    reset = reset_of(snapshot, seeds)
    walk = walk_of(snapshot)
    field = field_of(snapshot, walk, among)
    k = min(k, field.size)
    if not k:
        return TopPageRank((), np.zeros((0, 2)), ties=(), certified=True, work=0, how="push")
    question = Question(snapshot, walk, field, reset, k=k, damping=damping)
    answer = _answer(question, SHARE * walk.n_arcs if max_work is None else max_work)
    best = answer.ordered.nodes
    return TopPageRank(
        _ids(snapshot, best.rows[:k]),
        np.stack([best.low[:k], best.high[:k]], axis=1),
        ties=_ties(snapshot, answer.ordered, k),
        certified=answer.ordered.settled,
        work=answer.work,
        how=answer.how,
    )


class _Answer(NamedTuple):
    ordered: Ordered
    how: str
    work: int


def _answer(question: Question, max_work: float) -> _Answer:
    walk, reset = question.walk, question.reset
    if not len(reset.rows):
        return _Answer(question.order(Bounded.exact(reset.rows, reset.mass)), "push", 0)
    if not walk.reversible:
        residual = np.zeros(walk.n_nodes)
        residual[reset.rows] = (1 - question.damping) * reset.mass
        ordered, turns = prove_globally(question, np.zeros(walk.n_nodes), residual)
        return _Answer(ordered, "power", turns * walk.n_arcs)
    with walk.scratch() as scratch:
        push = Push(walk, scratch, reset, question.damping)
        proven = prove_locally(question, push, max_work)
        if proven is not None:
            return _Answer(proven, "push", push.work)
        ordered, turns = prove_globally(question, *push.as_iteration())
        proven = None if ordered.settled else prove_locally(question, push, push.work + 4 * walk.n_arcs + LAST_PUSH)
        work = push.work + turns * walk.n_arcs
        return _Answer(ordered, "chebyshev", work) if proven is None else _Answer(proven, "push", work)


def _ids(graph: GraphSnapshot, rows: Index) -> list[str]:
    places: list[int] = rows.tolist()
    return [graph.ids[row] for row in places]


def _ties(graph: GraphSnapshot, ordered: Ordered, k: int) -> list[tuple[str, ...]]:
    """Runs of equal, positive scores that reach into the best k, whole."""
    first = np.flatnonzero(~ordered.tied)
    ends = np.append(first[1:], len(ordered.tied))
    long = (ends - first > 1) & (first < k) & (ordered.nodes.high[first] > 0)
    return [
        tuple(_ids(graph, ordered.nodes.rows[start:end]))
        for start, end in zip(first[long].tolist(), ends[long].tolist(), strict=True)
    ]
