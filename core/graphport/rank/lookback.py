"""What a few nodes still miss, found by following the walk back from them: the other half of a bidirectional search.

Lofgren, Banerjee and Goel, Personalized PageRank Estimation and Search: A Bidirectional Approach (2016), with
bounds in place of samples. The walk is reversible, so what comes to a node from others is what push from that
node would bring to them. A branch that has come from candidate t to node u with share ``y`` stands for
``y * degree[u] * (1 - damping) * sum over k of damping**k * (P**k @ rho)[u]`` of the score of t, of which
the first term is known and the others are at most ``y * Push.beyond(degree[u])``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphport.rank.arrays import Index, Mask, Vector
from graphport.rank.kernels import gather_rows
from graphport.rank.ordering import Bounded
from graphport.rank.push import Push

MIN_WORK = 40_000
"""Arcs that one step may follow in any case; otherwise half of what push has visited."""
WORTH = 0.5
"""Part of all that is missing that a step has to look into; what hides behind hubs is left to push."""


class Lookback:
    """``bounds`` of candidates' scores at a push's present threshold, closer with each step back from some of them."""

    def __init__(self, push: Push, candidates: Bounded) -> None:
        size = len(candidates.rows)
        self.bounds = candidates
        self._push = push
        missing = candidates.high - candidates.low
        self._branches = _Branches(np.arange(size), candidates.rows, np.ones(size), missing)
        self._longer = missing  # (c,) score that walks of more arcs than there were steps can bring
        self._behind = np.zeros(size)  # (c,) score that can come from branches that were not followed

    def step(self, rows: Index) -> bool:
        """A step back for those of the candidates that are in ``rows``, from all their branches but the costly ones.

        False, and nothing done, if within the work a step may take it would tell too little. Who is left out of
        one step is left out of all that follow.
        """
        size = len(self.bounds.rows)
        branches = self._branches.take(np.isin(self.bounds.rows, rows).take(self._branches.owner))
        closer = np.bincount(branches.owner, minlength=size) > 0
        missing = np.bincount(branches.owner, branches.missing, size) + np.where(closer, self._behind, 0)
        # Who tells at least as much an arc as the budget spent on everything would: these fit into it.
        budget = max(MIN_WORK, self._push.work // 2) / max(1, int(np.count_nonzero(closer)))
        arcs = self._push.walk.arcs(branches.node)
        going = branches.missing * budget >= missing.take(branches.owner) * arcs
        if branches.missing[going].sum() <= WORTH * missing.sum():
            return False
        ahead, found = self._followed(branches.take(going))
        costly = branches.take(~going)
        self._branches = ahead
        self._behind = self._behind + np.bincount(costly.owner, costly.missing, size)
        self._longer = self._push.damping * self._longer
        low = self.bounds.low + np.bincount(ahead.owner, found, size)
        high = low + self._behind + np.minimum(np.bincount(ahead.owner, ahead.missing, size), self._longer)
        high = np.where(closer, np.minimum(high, self.bounds.high), self.bounds.high)
        self.bounds = Bounded(self.bounds.rows, low, high)
        return True

    def _followed(self, branches: _Branches) -> tuple[_Branches, Vector]:
        """The branches one arc further, and the score that waits where they are then."""
        push, walk = self._push, self._push.walk
        near = gather_rows(walk.step, branches.node)
        lengths = np.diff(near.ends)
        nodes = near.columns.astype(np.int64)  # numpy picks by int32 at half the speed
        push.work += len(nodes)
        share = np.repeat(push.damping * branches.share, lengths) * near.values
        degree = walk.degree.take(nodes)
        missing = share * push.beyond(degree)
        found = share * ((1 - push.damping) * (degree * push.scratch.rho.take(nodes)))
        return _Branches(np.repeat(branches.owner, lengths), nodes, share, missing), found


class _Branches(NamedTuple):
    """(b,) each: position of the candidate, row of the graph, share, and the score that can still come from there."""

    owner: Index
    node: Index
    share: Vector
    missing: Vector

    def take(self, mask: Mask) -> _Branches:
        at = np.flatnonzero(mask)
        return _Branches(self.owner.take(at), self.node.take(at), self.share.take(at), self.missing.take(at))
