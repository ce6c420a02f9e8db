"""From bounds to an order: what lower and upper bounds of scores prove about the best k."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from graphport.rank.arrays import Index, Mask, Vector

TIE = 1e-9
"""Scores that differ by less than this, relative to the larger, are ties: float64 sums cannot tell more."""
ROUNDING = 1e-11
"""Room left around every bound for rounding, relative. Sums of positive terms err by some 1e-14."""


class Bounded(NamedTuple):
    """Nodes (c,) with what is proven of their exact scores: ``low <= score <= high``."""

    rows: Index
    low: Vector
    high: Vector

    @classmethod
    def exact(cls, rows: Index, scores: Vector) -> Bounded:
        return cls(rows, scores, scores)

    def take(self, at: Index | Mask) -> Bounded:
        return Bounded(self.rows[at], self.low[at], self.high[at])

    def with_others(self, others: Bounded) -> Bounded:
        return Bounded(
            np.concatenate([self.rows, others.rows]),
            np.concatenate([self.low, others.low]),
            np.concatenate([self.high, others.high]),
        )


class Ordered(NamedTuple):
    """Candidates, best first, and how far the bounds prove the order of the first k.

    ``tied`` (c,) says of each node that its score equals that of the node before it; inside such a run the
    order is by row. ``open`` (c,) marks the nodes that need closer bounds; if there are none, the first k
    and their order are proven.
    """

    nodes: Bounded
    tied: Mask
    open: Mask

    @property
    def settled(self) -> bool:
        return not self.open.any()


def order(candidates: Bounded, k: int, are_twins: Callable[[Index, Index], Mask]) -> Ordered:
    """Orders candidates, among which all of the best ``k`` are, by score and, where scores tie, by row.

    ``are_twins`` says of pairs of rows which have equal scores by the structure of the graph. Scores that
    bounds closer than `TIE` cannot tell apart are ties, too.
    """
    candidates = Bounded(candidates.rows, candidates.low * (1 - ROUNDING), candidates.high * (1 + ROUNDING))
    nodes = candidates.take(np.lexsort((candidates.rows, -(candidates.low + candidates.high))))
    nodes, twin = _with_twins(nodes, k, are_twins)
    # Between two runs no bounds overlap.
    starts = np.concatenate(
        [[True], np.minimum.accumulate(nodes.low)[:-1] > np.maximum.accumulate(nodes.high[::-1])[::-1][1:]]
    )
    first = np.flatnonzero(starts)
    lowest, highest = np.minimum.reduceat(nodes.low, first), np.maximum.reduceat(nodes.high, first)
    equal = np.logical_and.reduceat(twin | starts, first) | (highest - lowest <= TIE * highest)
    run = np.cumsum(starts) - 1
    place = np.lexsort((np.where(equal[run], nodes.rows, np.arange(len(run))), run))
    return Ordered(nodes.take(place), tied=equal[run] & ~starts, open=(~equal & (first < k))[run])


def _with_twins(nodes: Bounded, k: int, are_twins: Callable[[Index, Index], Mask]) -> tuple[Bounded, Mask]:
    """Twins have one score, so the closest bounds of any hold for all; (c,) marks twins of their predecessor."""
    twin = np.zeros(len(nodes.rows), dtype=bool)
    overlap = np.flatnonzero(nodes.low[:-1] <= nodes.high[1:])[: 4 * k]
    twin[overlap + 1] = are_twins(nodes.rows[overlap], nodes.rows[overlap + 1])
    if not twin.any():
        return nodes, twin
    first = np.flatnonzero(~twin)
    sizes = np.diff(first, append=len(twin))
    low = np.repeat(np.maximum.reduceat(nodes.low, first), sizes)
    high = np.repeat(np.minimum.reduceat(nodes.high, first), sizes)
    return Bounded(nodes.rows, low, high), twin
