"""A base and the writes on top of it, as one new base: array work, apart from the rows written.

Rows that stay keep their order, nodes and edges alike: so nothing is sorted. What goes is cut out, what is
new is put in its place, and a column that does not change is shared.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphport.model import Node, Props, dump_props
from graphport.pending import PendingWrites
from graphport.snapshot import GraphSnapshot, canonical_kinds
from graphport_memory.base import Base, Rows, SparseTexts

T = TypeVar("T")


class Splice:
    """Rows cut out of a column of ``n``, and places (before which row of what is left) to put new ones."""

    def __init__(self, n: int, cut: Iterable[int], places: Iterable[int]) -> None:
        """``cut`` and ``places`` are rows of the old column; ``places`` ascend."""
        self._n = n
        self._cut: Rows = np.array(sorted(cut), dtype=np.int64)
        old: Rows = np.array(list(places), dtype=np.int64)
        self._places: Rows = old - np.searchsorted(self._cut, old)

    def __bool__(self) -> bool:
        return bool(len(self._cut) or len(self._places))

    @property
    def new_rows(self) -> list[int]:
        """Where the new ones end up."""
        rows: list[int] = (self._places + np.arange(len(self._places))).tolist()
        return rows

    def moved(self, rows: NDArray[Any]) -> Rows:
        """Where old rows end up; what was cut out gets a row that means nothing."""
        left = rows - np.searchsorted(self._cut, rows)
        return left + np.searchsorted(self._places, left, side="right")

    def array(self, column: NDArray[Any], values: Sequence[Any]) -> NDArray[Any]:
        """The column after it, with ``values`` as the new ones."""
        if len(self._cut):
            column = np.delete(column, self._cut)
        return np.insert(column, self._places, values) if len(self._places) else column

    def texts(self, column: Sequence[T], values: Sequence[T]) -> Sequence[T]:
        """As `array`, for a tuple."""
        if not self:
            return column
        kept, start = list[T](), 0
        for row in (*self._cut.tolist(), self._n):
            kept.extend(column[start:row])
            start = row + 1
        parts, start = list[T](), 0
        for place, value in zip(self._places.tolist(), values, strict=True):
            parts.extend(kept[start:place])
            parts.append(value)
            start = place
        return (*parts, *kept[start:])

    def props(self, old: SparseTexts, written: Mapping[int, Props]) -> SparseTexts:
        """Old props in their new rows, without those cut out; ``written`` replaces those of its (new) rows."""
        keep = ~np.isin(old.rows, self._cut)
        rows: list[int] = self.moved(old.rows[keep]).tolist()
        kept = [text for text, stays in zip(old.texts, keep.tolist(), strict=True) if stays]
        texts = {row: text for row, text in zip(rows, kept, strict=True) if row not in written}
        return SparseTexts.of(texts | {row: dump_props(props) for row, props in written.items() if props})


def merge(base: Base, writes: PendingWrites) -> Base:
    """The graph after ``writes``; ``base`` is not changed."""
    if writes.cleared:
        base = Base.empty()
    return _merge_edges(base, writes, *_merge_nodes(base, writes))


class _Nodes:
    """The node columns of the new base."""

    def __init__(self, base: Base, writes: PendingWrites, splice: Splice, added: Sequence[Node]) -> None:
        graph = base.graph
        table, code = _table(graph.node_kinds, (node.kind for node in writes.nodes.values()))
        self.ids = splice.texts(graph.ids, [node.id for node in added])
        written = {bisect_left(self.ids, node.id): node for node in writes.nodes.values()}
        names = splice.texts(graph.names, [node.name for node in added])
        entries = splice.texts(graph.entries, [node.entry for node in added])
        kind = splice.array(graph.node_kind, [code[node.kind] for node in added])
        if len(written) > len(added):  # some replace old ones
            names, entries, kind = list(names), list(entries), kind.copy()
            for row, node in written.items():
                names[row], entries[row], kind[row] = node.name, node.entry, code[node.kind]
        self.names, self.entries = tuple(names), tuple(entries)
        self.kinds, self.kind = canonical_kinds(table, kind, "node kind")
        self.props = splice.props(base.node_props, {row: node.props for row, node in written.items()})


def _merge_nodes(base: Base, writes: PendingWrites) -> tuple[_Nodes, Splice]:
    graph = base.graph
    cut = [row for key in writes.deleted_nodes if key not in writes.nodes and (row := graph.index_of(key)) is not None]
    added = [node for key, node in sorted(writes.nodes.items()) if graph.index_of(key) is None]
    splice = Splice(graph.n_nodes, cut, (bisect_left(graph.ids, node.id) for node in added))
    return _Nodes(base, writes, splice, added), splice


def _merge_edges(base: Base, writes: PendingWrites, nodes: _Nodes, node_splice: Splice) -> Base:
    graph = base.graph
    edges = [writes.edges[key] for key in sorted(writes.edges)]
    splice = Splice(graph.n_edges, _gone(base, writes), (base.edge_place(edge.key) for edge in edges))
    table, code = _table(graph.edge_kinds, (edge.kind for edge in edges))
    row = {end: bisect_left(nodes.ids, end) for edge in edges for end in (edge.source, edge.target)}
    source, target = graph.source_index, graph.target_index
    if node_splice:
        at = node_splice.moved(np.arange(graph.n_nodes))
        source, target = at[source], at[target]
    kind = splice.array(graph.edge_kind, [code[edge.kind] for edge in edges])
    kinds, kind = canonical_kinds(table, kind, "edge kind")
    n, m = len(nodes.ids), len(kind)
    index_type = np.int32 if n < 2**31 and m < 2**31 else np.int64
    merged = GraphSnapshot(
        ids=nodes.ids,
        names=nodes.names,
        entries=nodes.entries,
        node_kinds=nodes.kinds,
        node_kind=nodes.kind,
        source_index=splice.array(source, [row[edge.source] for edge in edges]).astype(index_type, copy=False),
        target_index=splice.array(target, [row[edge.target] for edge in edges]).astype(index_type, copy=False),
        edge_kinds=kinds,
        edge_kind=kind,
        weight=splice.array(graph.weight, [edge.weight for edge in edges]),
    )
    written = {at: edge.props for at, edge in zip(splice.new_rows, edges, strict=True)}
    return Base(merged, nodes.props, splice.props(base.edge_props, written))


def _gone(base: Base, writes: PendingWrites) -> set[int]:
    """Rows of edges that are deleted, or replaced, or lost an end."""
    keys = (*writes.deleted_edges, *writes.edges)
    gone = {row for key in keys if (row := base.edge_row(key)) is not None}
    lost = [row for key in writes.deleted_nodes if (row := base.graph.index_of(key)) is not None]
    if lost:
        ends = np.zeros(base.graph.n_nodes, dtype=bool)
        ends[lost] = True
        gone.update(np.flatnonzero(ends[base.graph.source_index] | ends[base.graph.target_index]).tolist())
    return gone


def _table(old: Sequence[str], more: Iterable[str]) -> tuple[list[str], dict[str, int]]:
    """The kinds of both, and their codes."""
    table = list(dict.fromkeys((*old, *more)))
    return table, {kind: code for code, kind in enumerate(table)}
