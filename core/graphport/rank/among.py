"""Which nodes are ranked: all, some kinds, or a mask."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, cast

import numpy as np

from graphport.errors import InvalidInputError
from graphport.model import check_ids
from graphport.rank.arrays import Index, Mask
from graphport.rank.walk import Walk
from graphport.snapshot import GraphSnapshot

Among = str | Iterable[str] | Mask | None

HEAVY = 4096


class Field(NamedTuple):
    """The nodes that are ranked, and the heaviest of them, which score without having been reached.

    No node of ``mask`` outside ``heavy`` (at most `HEAVY` rows) has a degree above ``light``.
    """

    mask: Mask | None
    size: int
    heavy: Index
    light: float

    def only(self, rows: Index) -> Index:
        """Those of ``rows`` that are ranked."""
        return rows if self.mask is None else rows.take(np.flatnonzero(self.mask.take(rows)))


def field_of(graph: GraphSnapshot, walk: Walk, among: Among) -> Field:
    """Who is ranked; kept with the snapshot, except for a mask that its owner may still change.

    ``among`` is a node kind, several kinds, or a mask (n,) bool; None is all nodes. A kind that does not
    occur selects nothing. Raises `InvalidInputError` for a mask of another shape.
    """
    if among is None:
        return graph.derived("field", lambda _: _heaviest(walk, None))
    if isinstance(among, np.ndarray):
        return _field_of_mask(graph, walk, cast("Mask", among))
    kinds = sorted([among] if isinstance(among, str) else check_ids(among, "node kind"))
    return graph.derived("\0".join(["field", *kinds]), lambda _: _heaviest(walk, _kind_mask(graph, kinds)))


def _field_of_mask(graph: GraphSnapshot, walk: Walk, mask: Mask) -> Field:
    if mask.dtype != np.bool_ or mask.shape != (graph.n_nodes,):
        raise InvalidInputError(
            f"among has shape {mask.shape} and dtype {mask.dtype}; it must be ({graph.n_nodes},) bool"
        )
    if mask.flags.writeable:
        everyone = field_of(graph, walk, None)
        return Field(mask, int(np.count_nonzero(mask)), everyone.heavy[mask[everyone.heavy]], everyone.light)
    # The key holds as long as the mask does, and the Field that is kept holds the mask.
    return graph.derived(f"field:mask {id(mask)}", lambda _: _heaviest(walk, mask))


def _heaviest(walk: Walk, mask: Mask | None) -> Field:
    rows = np.arange(walk.n_nodes) if mask is None else np.flatnonzero(mask)
    degree = walk.degree[rows]
    if len(rows) <= HEAVY:
        return Field(mask, len(rows), rows, 0.0)
    at = np.argpartition(-degree, HEAVY)
    return Field(mask, len(rows), rows[at[:HEAVY]], float(degree[at[HEAVY]]))


def _kind_mask(graph: GraphSnapshot, kinds: list[str]) -> Mask:
    wanted = np.array([kind in kinds for kind in graph.node_kinds], dtype=bool)
    return wanted[graph.node_kind] if len(wanted) else np.zeros(graph.n_nodes, dtype=bool)
