"""A base and the writes on top of it, as one new base: array work, apart from the rows written."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphport.model import Edge, Node, dump_props
from graphport.pending import PendingWrites
from graphport.snapshot import GraphSnapshot, canonical_kinds, edge_order
from graphport_memory.base import Base, Rows, SparseTexts

T = TypeVar("T")


def merge(base: Base, writes: PendingWrites) -> Base:
    """The graph after ``writes``; ``base`` is not changed, and what stays the same is shared."""
    if writes.cleared:
        base = Base.empty()
    moved, nodes = _merge_nodes(base, writes)
    return _merge_edges(base, writes, moved, nodes)


class _Nodes:
    """The node columns of the new base."""

    def __init__(
        self,
        ids: Sequence[str],
        names: Sequence[str],
        entries: Sequence[str | None],
        kinds: tuple[str, ...],
        kind: NDArray[np.int32],
        props: SparseTexts,
    ) -> None:
        self.ids = ids
        self.names = names
        self.entries = entries
        self.kinds = kinds
        self.kind = kind
        self.props = props

    def row(self, node_id: str) -> int:
        return bisect_left(self.ids, node_id)


def _merge_nodes(base: Base, writes: PendingWrites) -> tuple[Rows, _Nodes]:
    """Where each old row went, -1 if it is gone, and the new columns."""
    graph = base.graph
    gone = _rows_of(graph, writes.deleted_nodes)
    replaced = {row: node for node in writes.nodes.values() if (row := graph.index_of(node.id)) is not None}
    added = sorted((node for node in writes.nodes.values() if graph.index_of(node.id) is None), key=lambda n: n.id)
    stays = np.ones(graph.n_nodes, dtype=bool)
    stays[[row for row in gone if row not in replaced]] = False
    kept = np.flatnonzero(stays)
    ids = _pick(graph.ids, kept)
    places = np.array([bisect_left(ids, node.id) for node in added], dtype=np.int64)
    moved = np.full(graph.n_nodes, -1, dtype=np.int64)
    moved[kept] = np.arange(len(kept)) + np.searchsorted(places, np.arange(len(kept)), side="right")

    table = list(dict.fromkeys((*graph.node_kinds, *(node.kind for node in writes.nodes.values()))))
    code = {kind: i for i, kind in enumerate(table)}
    kind = np.insert(graph.node_kind[kept], places, [code[node.kind] for node in added]).astype(np.int32)
    names = _insert(_pick(graph.names, kept), places, [node.name for node in added])
    entries = _insert(_pick(graph.entries, kept), places, [node.entry for node in added])
    if replaced:
        names, entries = list(names), list(entries)
        for row, node in replaced.items():
            at = int(moved[row])
            names[at], entries[at], kind[at] = node.name, node.entry, code[node.kind]
    kinds, kind = canonical_kinds(table, kind, "node kind")
    ids = _insert(ids, places, [node.id for node in added])
    written = {bisect_left(ids, node.id): node for node in writes.nodes.values()}
    props = _merge_props(base.node_props, moved, written)
    return moved, _Nodes(ids, tuple(names), tuple(entries), kinds, kind, props)


def _merge_edges(base: Base, writes: PendingWrites, moved: Rows, nodes: _Nodes) -> Base:
    graph = base.graph
    stays = np.ones(graph.n_edges, dtype=bool)
    lost = np.zeros(graph.n_nodes, dtype=bool)  # a node deleted and inserted again keeps its row, not its edges
    lost[_rows_of(graph, writes.deleted_nodes)] = True
    if lost.any():
        stays &= ~(lost[graph.source_index] | lost[graph.target_index])
    hidden = [base.edge_row(key) for keys in (writes.deleted_edges, writes.edges) for key in keys]
    stays[[row for row in hidden if row is not None]] = False
    kept = np.flatnonzero(stays)

    edges = list(writes.edges.values())
    table = list(dict.fromkeys((*graph.edge_kinds, *(edge.kind for edge in edges))))
    code = {kind: i for i, kind in enumerate(table)}
    end = {node_id: nodes.row(node_id) for edge in edges for node_id in (edge.source, edge.target)}
    source = np.concatenate((moved[graph.source_index[kept]], _ints(end[edge.source] for edge in edges)))
    target = np.concatenate((moved[graph.target_index[kept]], _ints(end[edge.target] for edge in edges)))
    kind = np.concatenate((graph.edge_kind[kept], _ints(code[edge.kind] for edge in edges))).astype(np.int32)
    weight = np.concatenate((graph.weight[kept], [edge.weight for edge in edges]))
    kinds, kind = canonical_kinds(table, kind, "edge kind")
    n, m = len(nodes.ids), len(source)
    order = edge_order(source, target, kind, n, len(kinds))
    if order is None:
        order = np.arange(m)
    place = np.empty(m, dtype=np.int64)
    place[order] = np.arange(m)
    new_row = np.full(graph.n_edges, -1, dtype=np.int64)
    new_row[kept] = place[: len(kept)]
    written = dict(zip(place[len(kept) :].tolist(), edges, strict=True))
    index_type = np.int32 if n < 2**31 and m < 2**31 else np.int64
    merged = GraphSnapshot(
        ids=nodes.ids,
        names=nodes.names,
        entries=nodes.entries,
        node_kinds=nodes.kinds,
        node_kind=nodes.kind,
        source_index=source[order].astype(index_type),
        target_index=target[order].astype(index_type),
        edge_kinds=kinds,
        edge_kind=kind[order],
        weight=weight[order],
    )
    return Base(merged, nodes.props, _merge_props(base.edge_props, new_row, written))


def _rows_of(graph: GraphSnapshot, ids: dict[str, None]) -> list[int]:
    return [row for node_id in ids if (row := graph.index_of(node_id)) is not None]


def _ints(values: Iterable[int]) -> Rows:
    return np.fromiter(values, dtype=np.int64)


def _pick(column: Sequence[T], kept: Rows) -> Sequence[T]:
    rows: list[int] = kept.tolist()
    return column if len(rows) == len(column) else tuple(column[row] for row in rows)


def _insert(column: Sequence[T], places: Rows, values: Sequence[T]) -> Sequence[T]:
    """``values[i]`` before the old ``column[places[i]]``; ``places`` ascend."""
    if not values:
        return column
    parts: list[T] = []
    start = 0
    for place, value in zip(places.tolist(), values, strict=True):
        parts.extend(column[start:place])
        parts.append(value)
        start = place
    parts.extend(column[start:])
    return tuple(parts)


def _merge_props(old: SparseTexts, moved: Rows, written: dict[int, Node] | dict[int, Edge]) -> SparseTexts:
    """Old props in their new rows, those of the rows ``written`` replaced."""
    rows = moved[old.rows]
    fresh = {row: dump_props(item.props) for row, item in written.items() if item.props}
    if not fresh and not len(old):
        return old
    texts = {row: text for row, text in zip(rows.tolist(), old.texts, strict=True) if row >= 0 and row not in written}
    return SparseTexts.of(texts | fresh)
