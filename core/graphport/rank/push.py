"""Forward push: scores near the seeds, at a cost that does not depend on the size of the graph.

Andersen, Chung and Lang, Local Graph Partitioning using PageRank Vectors (2006), in frontiers instead of
one node at a time. Everything is divided by degree, ``rho = residual / degree`` and ``q = score / degree``:
pushing node u is then ``q[u] += (1 - damping) * rho[u]; rho += damping * rho[u] * step[u]; rho[u] = 0``.
"""

from __future__ import annotations

import numpy as np

from graphport.rank.arrays import Index, Vector
from graphport.rank.kernels import gather_rows, scatter_add
from graphport.rank.scratch import Scratch
from graphport.rank.seeds import Reset
from graphport.rank.solve import Solution, finish
from graphport.rank.walk import Walk

START = 1e-6
"""First threshold of ``rho``, in mass per mean arc weight; picked on synthetic graphs of 10k to 5M nodes."""
FINER = 3.0
"""Factor between two thresholds."""
ALMOST = 1.1
"""A level ends when nothing exceeds its threshold by more: the last few nodes would take many small rounds."""
SHARE = 0.4
"""Of all arcs, what push may visit before iteration over the whole graph is the cheaper way."""


def push_scores(walk: Walk, reset: Reset, *, damping: float, tol: float, max_iter: int) -> Solution:
    """As `graphport.rank.solve.solve`, by push as long as that is cheaper, for a reversible walk."""
    stuck = walk.degree[reset.rows] == 0
    moving = Reset(reset.rows[~stuck], reset.mass[~stuck])
    with walk.scratch() as scratch:
        push = Push(walk, scratch, moving, damping)
        while len(moving.rows) and 2 * push.rest() > tol and push.go_on(SHARE * walk.n_arcs):
            pass
        estimate, residual = push.as_iteration()
    estimate[reset.rows[stuck]] = (1 - damping) * reset.mass[stuck]
    return finish(walk, estimate, residual, damping=damping, tol=tol, max_iter=max_iter)


class Push:
    """A query in progress over a reversible walk, on borrowed `Scratch`.

    The exact score of node t is ``degree[t] * (q[t] + (1 - damping) * sum over k of damping**k *
    (P**k @ rho)[t])``, where ``P`` is the transpose of ``step``: the walk is reversible.
    """

    def __init__(self, walk: Walk, scratch: Scratch, reset: Reset, damping: float) -> None:
        self.walk = walk
        self.scratch = scratch
        self.damping = damping
        self.threshold = np.inf
        self.levels = 0
        self.work = 0
        self.mass = float(reset.mass.sum())
        self._settled = 0.0
        rows = reset.rows.astype(np.int64)
        scratch.wrote(rows)
        scratch.rho[rows] = reset.mass / walk.degree[rows]

    def rest(self) -> float:
        """Mass not pushed, rounded up."""
        return max(0.0, self.mass - self._settled) + 1e-13

    def found(self, rows: Index) -> Vector:
        """Score of ``rows`` that is certain: what was pushed there and what waits there."""
        rho, q = self.scratch.rho.take(rows), self.scratch.q.take(rows)
        return self.walk.degree.take(rows) * (q + (1 - self.damping) * rho)

    def beyond(self, degree: Vector) -> Vector:
        """What can be missing in `found` for nodes of such degrees, at most.

        No ``rho`` exceeds ``threshold``, so averages of it do not; nor can more pass than is left.
        """
        return self.damping * np.minimum(degree * self.threshold, self.walk.visits(self.damping) * self.rest())

    def as_iteration(self) -> tuple[Vector, Vector]:
        """Estimate and residual (n,) with which `graphport.rank.solve.iterate` goes on."""
        degree = self.walk.degree
        return degree * self.scratch.q, (1 - self.damping) * (degree * self.scratch.rho)

    def go_on(self, max_work: float) -> bool:
        """Pushes down to the next threshold; False if nothing is left to push or the work (arcs visited) ran out."""
        threshold = min(START, self.threshold / FINER)
        frontier = self.scratch.above(threshold)
        if not len(frontier):
            threshold = self.scratch.highest() / 2
            frontier = self.scratch.above(threshold)
        while len(frontier):
            highest = float(self.scratch.rho.take(frontier).max())
            if highest <= ALMOST * threshold:
                threshold = highest
                break
            if self.work > max_work:
                return False
            frontier = self._push(frontier, threshold)
        self.threshold = threshold
        self.levels += 1
        return threshold > 0

    def _push(self, frontier: Index, threshold: float) -> Index:
        """Pushes ``frontier``; returns the nodes that are above the threshold afterwards."""
        rho, q = self.scratch.rho, self.scratch.q
        moving = rho.take(frontier)
        before = q.take(frontier)
        first = frontier.take(np.flatnonzero(before == 0))
        if len(first):
            self.scratch.scored(first)
        q[frontier] = before + (1 - self.damping) * moving
        self._settled += (1 - self.damping) * float(moving @ self.walk.degree.take(frontier))
        rho[frontier] = 0
        rows = gather_rows(self.walk.step, frontier)
        scatter_add(rows, self.damping * moving, rho)
        heads = rows.columns.astype(np.int64)  # numpy picks by int32 at half the speed
        self.work += len(heads)
        self.scratch.wrote(heads)
        if self.scratch.is_many(len(heads)):
            return self.scratch.above(threshold)
        return self.scratch.distinct_above(heads, threshold)
