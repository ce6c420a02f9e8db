"""A snapshot and what changed since, as the next snapshot: array work, apart from the rows that changed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.changes import GraphChanges
from graphport.errors import MissingNodeError
from graphport.model import Edge, EdgeKey, Node
from graphport.snapshot.bisect_many import bisect_many
from graphport.snapshot.canonical import canonical_kinds
from graphport.snapshot.columns import GraphSnapshot
from graphport.snapshot.earlier import RowChanges
from graphport.snapshot.splice import Rows, Splice


class Patch(NamedTuple):
    """The new graph, without props; how rows moved; and which rows were written (their new places)."""

    graph: GraphSnapshot
    nodes: Splice
    edges: Splice
    written_nodes: Mapping[int, Node]
    written_edges: Mapping[int, Edge]

    def row_changes(self, before: GraphSnapshot) -> RowChanges:
        """How the nodes differ from those of ``before``, the graph that was patched."""
        ends = np.concatenate([before.source_index[self.edges.cut], before.target_index[self.edges.cut]])
        left = np.setdiff1d(ends, self.nodes.cut)  # each once
        rows = list(self.written_edges)
        touched = [
            np.array([*self.nodes.new_rows, *self.written_nodes], dtype=np.int64),
            self.nodes.moved(left),
            self.graph.source_index[rows],
            self.graph.target_index[rows],
        ]
        return RowChanges(self.nodes, np.unique(np.concatenate(touched)))


def patch(graph: GraphSnapshot, changes: GraphChanges) -> Patch:
    """``graph`` after ``changes``, equal to a new snapshot array for array; ``graph`` stays as it is.

    Raises `MissingNodeError` for an edge that ends in no node: ``changes`` are not those of this graph.
    """
    cut = [
        row for key in changes.deleted_nodes if key not in changes.nodes and (row := graph.index_of(key)) is not None
    ]
    added = [node for key, node in sorted(changes.nodes.items()) if graph.index_of(key) is None]
    nodes = Splice(graph.n_nodes, cut, [bisect_left(graph.ids, node.id) for node in added])
    columns = _NodeColumns(graph, changes.nodes, nodes, added)
    edges = [changes.edges[key] for key in sorted(changes.edges)]
    places = _places(graph, [edge.key for edge in edges])
    splice = Splice(graph.n_edges, _gone(graph, changes, places), places.rows.tolist())
    written = dict(zip(splice.new_rows, edges, strict=True))
    return Patch(
        _after(graph, changes.revision, columns, nodes, splice, edges), nodes, splice, columns.written, written
    )


class _NodeColumns:
    """The node columns of the new snapshot."""

    def __init__(
        self, graph: GraphSnapshot, upserted: Mapping[str, Node], splice: Splice, added: Sequence[Node]
    ) -> None:
        table, code = _table(graph.node_kinds, (node.kind for node in upserted.values()))
        self.ids = splice.texts(graph.ids, [node.id for node in added])
        self.written = {bisect_left(self.ids, node_id): node for node_id, node in upserted.items()}
        names = splice.texts(graph.names, [node.name for node in added])
        entries = splice.texts(graph.entries, [node.entry for node in added])
        kind = splice.array(graph.node_kind, [code[node.kind] for node in added])
        lost = graph.node_kind[splice.cut]
        replaced = [row for row, node in self.written.items() if (names[row], entries[row]) != (node.name, node.entry)]
        if replaced:
            again = Splice(len(self.ids), replaced, sorted(replaced))
            names = again.texts(names, [self.written[row].name for row in sorted(replaced)])
            entries = again.texts(entries, [self.written[row].entry for row in sorted(replaced)])
        if len(self.written) > len(added):
            rows = list(self.written)
            lost, kind = np.append(lost, kind[rows]), kind.copy()
            kind[rows] = [code[node.kind] for node in self.written.values()]
        self.names, self.entries = names, entries
        self.kinds, self.kind = _kinds(table, kind, lost, "node kind")


def _after(
    graph: GraphSnapshot, revision: int, columns: _NodeColumns, nodes: Splice, splice: Splice, edges: Sequence[Edge]
) -> GraphSnapshot:
    row = _rows_of(columns.ids, edges)
    source, target = graph.source_index, graph.target_index
    if nodes:
        source, target = source.copy(), target.copy()
        nodes.renumber(source)
        nodes.renumber(target)
    table, code = _table(graph.edge_kinds, (edge.kind for edge in edges))
    codes = splice.array(graph.edge_kind, [code[edge.kind] for edge in edges])
    kinds, kind = _kinds(table, codes, graph.edge_kind[splice.cut], "edge kind")
    index_type = np.int32 if max(len(columns.ids), len(kind)) < 2**31 else np.int64
    return GraphSnapshot(
        ids=columns.ids,
        names=columns.names,
        entries=columns.entries,
        node_kinds=columns.kinds,
        node_kind=columns.kind,
        source_index=splice.array(source, [row[edge.source] for edge in edges]).astype(index_type, copy=False),
        target_index=splice.array(target, [row[edge.target] for edge in edges]).astype(index_type, copy=False),
        edge_kinds=kinds,
        edge_kind=kind,
        weight=splice.array(graph.weight, [edge.weight for edge in edges]),
        revision=revision,
    )


def _rows_of(ids: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    rows = {end: bisect_left(ids, end) for edge in edges for end in (edge.source, edge.target)}
    missing = tuple(end for end, row in rows.items() if row == len(ids) or ids[row] != end)
    if missing:
        raise MissingNodeError(f"edges end in nodes that the snapshot lacks: {missing!r:.200}; read it anew", missing)
    return rows


def edge_row(graph: GraphSnapshot, key: EdgeKey) -> int | None:
    """Row of an edge, None if it is absent. O(log m)."""
    source, target = graph.index_of(key.source), graph.index_of(key.target)
    code = bisect_left(graph.edge_kinds, key.kind)
    if source is None or target is None or graph.edge_kinds[code : code + 1] != (key.kind,):
        return None
    first = bisect_left(graph.source_index, source)
    last = bisect_right(graph.source_index, source, first)
    first = bisect_left(graph.target_index, target, first, last)
    last = bisect_right(graph.target_index, target, first, last)
    row = bisect_left(graph.edge_kind, code, first, last)
    return row if row < last and graph.edge_kind[row] == code else None


class _Places(NamedTuple):
    """Of k keys: the row of each edge or, where there is none, the row before which it belongs."""

    rows: Rows
    found: NDArray[np.bool_]


def _places(graph: GraphSnapshot, keys: Sequence[EdgeKey]) -> _Places:
    """All at once: a step of the binary search is a step for every key."""
    source, has_source = _positions(graph.ids, [key.source for key in keys])
    target, has_target = _positions(graph.ids, [key.target for key in keys])
    kind, has_kind = _positions(graph.edge_kinds, [key.kind for key in keys])
    row, end = np.zeros(len(keys), dtype=np.int64), np.full(len(keys), graph.n_edges)
    for column, value, has in (
        (graph.source_index, source, has_source),
        (graph.target_index, target, has_target),
        (graph.edge_kind, kind, has_kind),
    ):
        first = bisect_many(column, value, row, end)
        row, end = first, np.where(has, bisect_many(column, value + 1, first, end), first)
    return _Places(row, row < end)


def _positions(table: Sequence[str], texts: Sequence[str]) -> tuple[Rows, NDArray[np.bool_]]:
    """Where each text is in a sorted table, or would be; and whether it is."""
    at = {text: bisect_left(table, text) for text in dict.fromkeys(texts)}
    there = {text for text, row in at.items() if row < len(table) and table[row] == text}
    n = len(texts)
    return (
        np.fromiter((at[text] for text in texts), dtype=np.int64, count=n),
        np.fromiter((text in there for text in texts), dtype=np.bool_, count=n),
    )


def _gone(graph: GraphSnapshot, changes: GraphChanges, written: _Places) -> set[int]:
    """Rows of edges that are deleted, or replaced, or lost an end."""
    deleted = _places(graph, changes.deleted_edges)
    gone: set[int] = {*deleted.rows[deleted.found].tolist(), *written.rows[written.found].tolist()}
    lost = [row for key in changes.deleted_nodes if (row := graph.index_of(key)) is not None]
    if lost:
        ends = np.zeros(graph.n_nodes, dtype=bool)
        ends[lost] = True
        rows: Rows = np.flatnonzero(ends[graph.source_index] | ends[graph.target_index])
        gone.update(rows.tolist())
    return gone


def _table(old: Sequence[str], more: Iterable[str]) -> tuple[list[str], dict[str, int]]:
    """The kinds of both, and their codes."""
    table = list(dict.fromkeys((*old, *more)))
    return table, {kind: code for code, kind in enumerate(table)}


def _kinds(
    table: list[str], codes: NDArray[np.int32], lost: NDArray[np.int32], what: str
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """As `canonical_kinds`, of rows that use all kinds but those of which some were ``lost``."""
    if table == sorted(table) and all((codes == code).any() for code in set(lost.tolist())):
        return tuple(table), codes
    return canonical_kinds(table, codes, what)
