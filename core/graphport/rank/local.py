"""Personalized PageRank of a directed walk where it matters: rows near the seeds, at the cost of what they touch.

Forward push as in `graphport.rank.push`, without the bounds that only a reversible walk has: what is not
pushed is at most ``rest`` in all.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.sparse import csr_array

from graphport.rank.arrays import Index, Vector
from graphport.rank.kernels import gather_rows, scatter_add
from graphport.rank.matrix import out_matrix
from graphport.rank.pagerank import check_damping
from graphport.rank.scratch import Scratch
from graphport.rank.seeds import Reset, Seeds, reset_of
from graphport.snapshot import GraphSnapshot

_SPREAD = 2048
"""Rows that the mass left over is taken to lie on at first; starting coarser means more rounds and more arcs."""
_FINER = 2.0
_CHEAP = 100_000
"""Arcs that any walk may follow, however small the graph."""


@dataclass(frozen=True, slots=True)
class LocalPageRank:
    """Scores of the rows a walk reached: ``rows`` (r,) ascending and ``scores`` (r,) > 0, each at most the exact one.

    ``rest`` is the mass that was not followed: the L1 distance to the exact scores before normalisation.
    ``work`` counts arcs.
    """

    rows: Index
    scores: Vector
    rest: float
    work: int


def local_pagerank(
    graph: GraphSnapshot, seeds: Seeds | Reset, *, damping: float = 0.5, tol: float = 1e-5, max_work: int | None = None
) -> LocalPageRank:
    """Follow a weighted, directed walk from ``seeds`` until at most ``tol`` of its mass is left.

    Where the walk cannot go on it restarts, so scores are in proportion to those of
    `personalized_pagerank` with ``directed=True``. ``max_work`` arcs (default: ten times the graph's, at
    least 100,000) end it early; ``rest`` says how early. Raises as `personalized_pagerank`.
    """
    check_damping(damping)
    reset = seeds if isinstance(seeds, Reset) else reset_of(graph, seeds)
    step = graph.derived("walk:out", _step)
    limit = max(10 * step.nnz, _CHEAP) if max_work is None else max_work
    spare = graph.derived("walk:out:scratch", lambda _: deque[Scratch]())
    scratch = _borrowed(spare, graph.n_nodes)
    rho = scratch.rho
    rho[reset.rows] = reset.mass
    trail = _Trail(reset.rows)
    threshold = tol / _SPREAD
    front = reset.rows[reset.mass > threshold]
    while True:
        while len(front) and trail.work <= limit:
            mass = rho[front]
            rho[front] = 0
            arcs = gather_rows(step, front)
            scatter_add(arcs, damping * mass, rho)
            heads = arcs.columns.astype(np.int64)  # by which numpy picks at a third of the price of int32
            trail.add(front, mass, heads)
            front = scratch.distinct_above(heads, threshold)  # elsewhere no mass has grown
        rows = np.sort(scratch.distinct(np.concatenate(trail.reached)))
        waiting = rho[rows]
        rest = float(waiting.sum())
        if rest <= tol or trail.work > limit:
            break
        threshold /= _FINER
        front = rows[waiting > threshold]
    scores = (1 - damping) * (trail.pushed(rows, scratch) + waiting)
    rho[rows] = 0
    spare.append(scratch)
    return LocalPageRank(rows, scores, damping * rest, trail.work)


class _Trail:
    """Which rows a walk reached, with repetitions, and what mass it pushed from where: summed once, at the end."""

    __slots__ = ("_fronts", "_masses", "reached", "work")

    def __init__(self, starts: Index) -> None:
        self.reached = [starts]
        self.work = 0
        self._fronts = [starts]
        self._masses = [np.zeros(len(starts))]

    def add(self, front: Index, mass: Vector, heads: Index) -> None:
        self.reached.append(heads)
        self.work += len(heads)
        self._fronts.append(front)
        self._masses.append(mass)

    def pushed(self, rows: Index, scratch: Scratch) -> Vector:
        """The mass pushed in all from each of ``rows``, which hold every row reached."""
        scratch.stamp[rows] = np.arange(len(rows), dtype=np.int32)
        places = scratch.stamp[np.concatenate(self._fronts)]
        return cast("Vector", np.bincount(places, np.concatenate(self._masses), len(rows)))  # the stubs say integers


def _borrowed(spare: deque[Scratch], n: int) -> Scratch:
    """Arrays of zeros: touching fresh ones costs a page fault for every page, as much as the walk itself."""
    try:
        return spare.pop()
    except IndexError:
        return Scratch(n)


def _step(graph: GraphSnapshot) -> csr_array:
    """(n, n): each row sums to 1, to 0 where no edge leads out."""
    step = out_matrix(graph, graph.weight).copy()
    leaving = step @ np.ones(step.shape[1])
    step.data /= np.repeat(leaving, np.diff(step.indptr))
    return step
