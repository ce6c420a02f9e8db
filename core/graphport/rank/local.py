"""Personalized PageRank of a directed walk where it matters: rows near the seeds, at the cost of what they touch.

Forward push as in `graphport.rank.push`, without the bounds that only a reversible walk has: what is not
pushed is at most ``rest`` in all.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from graphport.rank.arrays import Index, Vector
from graphport.rank.kernels import gather_rows, scatter_add
from graphport.rank.matrix import out_matrix
from graphport.rank.pagerank import check_damping
from graphport.rank.scratch import Scratch
from graphport.rank.seeds import Reset, Seeds, reset_of
from graphport.snapshot import GraphSnapshot

_SPREAD = 256
"""Rows that the mass left over is taken to lie on at first; starting coarser means more rounds and more arcs."""
_FINER = 4.0
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
    lengths = graph.derived("walk:out:lengths", lambda _: np.diff(step.indptr))
    limit = max(10 * step.nnz, _CHEAP) if max_work is None else max_work
    spare = graph.derived("walk:out:scratch", lambda _: deque[Scratch]())
    scratch = _borrowed(spare, graph.n_nodes)
    rho, score = scratch.rho, scratch.q
    rho[reset.rows] = reset.mass
    reached: Index = reset.rows.astype(np.int32)
    threshold, work = tol / _SPREAD, 0
    while True:
        touched = [reached]
        front = reached[rho[reached] > threshold]
        while len(front) and work <= limit:
            mass = rho[front]
            score[front] += (1 - damping) * mass
            rho[front] = 0
            arcs = gather_rows(step, front, lengths[front])
            scatter_add(arcs, damping * mass, rho)
            work += len(arcs.columns)
            touched.append(arcs.columns.astype(np.int32, copy=False))
            front = scratch.distinct_above(touched[-1], threshold)  # elsewhere no mass has grown
        reached = scratch.distinct(np.concatenate(touched))
        rest = float(rho[reached].sum())
        if rest <= tol or work > limit:
            break
        threshold /= _FINER
    rows = np.sort(reached)
    found = LocalPageRank(rows, score[rows] + (1 - damping) * rho[rows], damping * rest, work)
    rho[rows] = score[rows] = 0
    spare.append(scratch)
    return found


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
