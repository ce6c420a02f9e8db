"""What an earlier snapshot leaves to the one that was patched from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.snapshot.splice import Rows, Splice

WORTH_KEEPING = 0.1
"""Part of a graph's nodes above which, once so many are touched, arrays of an earlier graph are of no more use."""


class RowChanges(NamedTuple):
    """How the nodes of a graph differ from those of an earlier one.

    ``nodes``: how their rows moved. ``touched`` (rows of the later graph, ascending): nodes that are new or
    were written, and ends of edges that are new, were written or are gone. All others have the edges they had.
    """

    nodes: Splice
    touched: Rows

    def are_few(self, n_nodes: int) -> bool:
        """Whether it is worth to keep what was derived from the earlier graph."""
        return len(self.touched) <= WORTH_KEEPING * n_nodes

    def then(self, later: RowChanges) -> RowChanges:
        """These and then ``later``, as one."""
        stay = np.setdiff1d(self.touched, later.nodes.cut)
        return RowChanges(self.nodes.then(later.nodes), np.union1d(later.nodes.moved(stay), later.touched))


class Earlier(NamedTuple):
    """Arrays derived from an earlier graph, and how the graph has changed since."""

    arrays: Mapping[str, NDArray[Any]]
    changes: RowChanges
