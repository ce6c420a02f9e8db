"""A base and the writes on top of it, as one new base: a snapshot's patch, and the props beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphport.changes import GraphChanges
from graphport.model import Props, dump_props
from graphport.pending import PendingWrites
from graphport.snapshot import Splice, patch
from graphport_memory.base import Base, SparseTexts


def merge(base: Base, writes: PendingWrites) -> Base:
    """The graph after ``writes``; ``base`` is not changed."""
    if writes.cleared:
        base = Base.empty()
    deleted = tuple(writes.deleted_nodes), tuple(writes.deleted_edges)
    made = patch(base.graph, GraphChanges(0, writes.nodes, writes.edges, *deleted))
    return Base(
        made.graph,
        _props(base.node_props, made.nodes, {row: node.props for row, node in made.written_nodes.items()}),
        _props(base.edge_props, made.edges, {row: edge.props for row, edge in made.written_edges.items()}),
    )


def _props(old: SparseTexts, splice: Splice, written: Mapping[int, Props]) -> SparseTexts:
    """Old props in their new rows, without those cut out; ``written`` replaces those of its (new) rows."""
    keep = ~np.isin(old.rows, splice.cut)
    rows: list[int] = splice.moved(old.rows[keep]).tolist()
    kept = [text for text, stays in zip(old.texts, keep.tolist(), strict=True) if stays]
    texts = {row: text for row, text in zip(rows, kept, strict=True) if row not in written}
    return SparseTexts.of(texts | {row: dump_props(props) for row, props in written.items() if props})
