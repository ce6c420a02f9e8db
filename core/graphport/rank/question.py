"""A question for the best k nodes, and what is known of its answer before any mass is moved."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphport.rank.among import Field
from graphport.rank.arrays import Index, Mask
from graphport.rank.ordering import Bounded, Ordered, order
from graphport.rank.reach import reachable
from graphport.rank.seeds import Reset
from graphport.rank.walk import Walk
from graphport.snapshot import GraphSnapshot


class Question:
    """The best ``k`` nodes of ``field``; ``k`` is at least 1 and at most the number of its nodes.

    ``reset`` holds the seeds with edges. A seed without edges restarts at once and keeps what a restart
    gives it: ``alone``. Scores are the solution of ``(1 - damping * step) x = (1 - damping) * reset``, scaled
    to mass 1; the scale is in ``reset`` and ``alone`` already. ``floor``: none of the best k scores less.
    """

    def __init__(self, graph: GraphSnapshot, walk: Walk, field: Field, reset: Reset, *, k: int, damping: float) -> None:
        self.graph = graph
        self.walk = walk
        self.field = field
        self.k = k
        self.damping = damping
        self.floor = 0.0
        self._twins: dict[tuple[int, int], bool] = {}
        self.seeds = reset
        stuck = walk.degree[reset.rows] == 0
        mass = reset.mass / (reset.mass[~stuck].sum() + (1 - damping) * reset.mass[stuck].sum())
        self.reset = Reset(reset.rows[~stuck], mass[~stuck])
        ranked = stuck if field.mask is None else stuck & field.mask[reset.rows]
        self.alone = Bounded.exact(reset.rows[ranked], (1 - damping) * mass[ranked])

    @cached_property
    def reachable(self) -> Index | None:
        """Rows with edges that the seeds can reach, if all of them are among the best k; else None."""
        most = self.k - len(self.alone.rows)
        if not self.damping:
            rows = self.field.only(self.reset.rows)
            return rows if len(rows) <= most else None
        return reachable(self.graph, self.walk, self.reset.rows, self.field, most)

    def order(self, candidates: Bounded) -> Ordered:
        """Orders candidates that hold, with ``alone``, all of the best k with a positive score."""
        known = candidates.with_others(self.alone)
        missing = self.k - len(known.rows)
        if missing > 0:
            known = known.with_others(Bounded.exact(self._unreachable(known.rows, missing), np.zeros(missing)))
        return order(known, self.k, self._are_twins)

    def _unreachable(self, reachable: Index, size: int) -> Index:
        """The first ``size`` rows of the field that score 0."""
        zero = np.ones(self.walk.n_nodes, dtype=bool) if self.field.mask is None else self.field.mask.copy()
        zero[reachable] = False
        return np.flatnonzero(zero)[:size]

    def _are_twins(self, a: Index, b: Index) -> Mask:
        """Of pairs of nodes: whether exchanging the two changes neither graph nor reset. Their scores are equal."""
        walk = self.walk
        twins: Mask = (walk.arcs(a) == walk.arcs(b)) & (walk.degree[a] == walk.degree[b])
        for at in np.flatnonzero(twins).tolist():
            pair = int(a[at]), int(b[at])
            if pair not in self._twins:
                self._twins[pair] = self._is_twin(*pair)
            twins[at] = self._twins[pair]
        return twins

    def _is_twin(self, a: int, b: int) -> bool:
        if self._reset_mass.get(a) != self._reset_mass.get(b):
            return False
        step = self.walk.step
        row_a, row_b = (slice(step.indptr[node], step.indptr[node + 1]) for node in (a, b))
        columns = step.indices[row_a].copy()
        columns[step.indices[row_a] == a] = b  # the row of a, with a read as b and b as a
        columns[step.indices[row_a] == b] = a
        by_column = np.argsort(columns)
        return np.array_equal(columns[by_column], step.indices[row_b]) and np.array_equal(
            step.data[row_a][by_column], step.data[row_b]
        )

    @cached_property
    def _reset_mass(self) -> dict[int, float]:
        return dict(zip(self.seeds.rows.tolist(), self.seeds.mass.tolist(), strict=True))
