"""The bulk of a graph: immutable columns, found in by binary search, so that no table of keys is kept."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.model import Direction, Edge, EdgeKey, Node, Row, check_props, dump_props
from graphport.snapshot import GraphSnapshot, check_loadable, edge_row

CHUNK = 4096
"""Rows turned into objects at a time while iterating."""

Rows = NDArray[np.int64]


class SparseTexts:
    """Texts of a few rows: ``rows`` (k,) sorted, ``texts`` k str."""

    __slots__ = ("rows", "texts")

    def __init__(self, rows: Rows, texts: Sequence[str]) -> None:
        self.rows = rows
        self.texts = texts

    @classmethod
    def of(cls, texts: dict[int, str]) -> SparseTexts:
        ordered = sorted(texts)
        return cls(np.array(ordered, dtype=np.int64), tuple(texts[row] for row in ordered))

    def __len__(self) -> int:
        return len(self.texts)

    def get(self, row: int) -> str | None:
        at = bisect_left(self.rows, row)
        return self.texts[at] if at < len(self.texts) and self.rows[at] == row else None


class Base:
    """A committed graph in columns; ``graph`` has no props and no revision, those are kept as JSON text beside it."""

    def __init__(self, graph: GraphSnapshot, node_props: SparseTexts, edge_props: SparseTexts) -> None:
        self.graph = graph
        self.node_props = node_props
        self.edge_props = edge_props

    @classmethod
    def empty(cls) -> Base:
        return cls(GraphSnapshot.from_arrays([], [], []), SparseTexts.of({}), SparseTexts.of({}))

    @classmethod
    def of(cls, graph: GraphSnapshot) -> Base:
        """The graph and its props, checked as `check_loadable` does."""
        check_loadable(graph)
        checked = {row: check_props(props, f"node row {row}") for row, props in graph.node_props.items()}
        node_props = {row: dump_props(props) for row, props in checked.items() if props}
        checked = {row: check_props(props, f"edge row {row}") for row, props in graph.edge_props.items()}
        edge_props = {row: dump_props(props) for row, props in checked.items() if props}
        return cls(without_props(graph), SparseTexts.of(node_props), SparseTexts.of(edge_props))

    @cached_property
    def out_start(self) -> Rows:
        """(n + 1,) row of each node's first outgoing edge."""
        return _starts(self.graph.source_index, self.graph.n_nodes)

    @cached_property
    def incoming(self) -> tuple[Rows, NDArray[np.int32 | np.int64]]:
        """``start`` (n + 1,) and ``rows`` (m,): edges into node i are ``rows[start[i]:start[i + 1]]``, in key order."""
        graph = self.graph
        rows = np.arange(graph.n_edges, dtype=graph.source_index.dtype)
        pointers = self.out_start.astype(rows.dtype)
        by_source = csr_array((rows, graph.target_index, pointers), shape=(graph.n_nodes, graph.n_nodes))
        by_target = by_source.tocsc()  # a counting sort, stable: five times as fast as argsort
        return by_target.indptr.astype(np.int64), by_target.data

    @cached_property
    def edge_code(self) -> dict[str, int]:
        return {kind: code for code, kind in enumerate(self.graph.edge_kinds)}

    def node(self, node_id: str) -> Node | None:
        row = self.graph.index_of(node_id)
        return None if row is None else self.nodes_at([row])[0]

    def edge(self, key: EdgeKey) -> Edge | None:
        row = self.edge_row(key)
        return None if row is None else self.edges_at([row])[0]

    def edge_row(self, key: EdgeKey) -> int | None:
        return edge_row(self.graph, key)

    def incident_rows(self, node_id: str, direction: Direction, kinds: frozenset[str] | None) -> list[int]:
        """Rows of a node's edges, ascending, which is in order of their key."""
        index = self.graph.index_of(node_id)
        if index is None:
            return []
        out: range | list[int] = range(0)
        into: list[int] = []
        if direction is not Direction.IN:
            out = range(int(self.out_start[index]), int(self.out_start[index + 1]))
        if direction is not Direction.OUT:
            start, by_target = self.incoming
            into = by_target[start[index] : start[index + 1]].tolist()
        rows = sorted({*out, *into}) if out and into else list(out) or into
        if kinds is None or not rows:
            return rows
        codes = {self.edge_code[kind] for kind in kinds if kind in self.edge_code}
        edge_kind = self.graph.edge_kind[rows].tolist()
        return [row for row, code in zip(rows, edge_kind, strict=True) if code in codes]

    def nodes_at(self, rows: Sequence[int]) -> list[Node]:
        """The nodes in those rows, in that order."""
        graph, kinds, code = self.graph, self.graph.node_kinds, self.graph.node_kind
        nodes = [Node(graph.ids[row], kinds[int(code[row])], graph.names[row], graph.entries[row]) for row in rows]
        if not len(self.node_props):
            return nodes
        texts = map(self.node_props.get, rows)
        return [node if text is None else _with_props(node, text) for node, text in zip(nodes, texts, strict=True)]

    def edges_at(self, rows: Sequence[int] | Rows) -> list[Edge]:
        """The edges in those rows, in that order."""
        graph, at = self.graph, np.asarray(rows, dtype=np.int64)
        sources: list[int] = graph.source_index[at].tolist()
        targets: list[int] = graph.target_index[at].tolist()
        codes: list[int] = graph.edge_kind[at].tolist()
        weights: list[float] = graph.weight[at].tolist()
        ids, kinds = graph.ids, graph.edge_kinds
        edges = [
            Edge(ids[source], ids[target], kinds[code], weight)
            for source, target, code, weight in zip(sources, targets, codes, weights, strict=True)
        ]
        if not len(self.edge_props):
            return edges
        texts = map(self.edge_props.get, at.tolist())
        return [edge if text is None else _with_props(edge, text) for edge, text in zip(edges, texts, strict=True)]

    def iter_nodes(self, kind: str | None = None, name: str | None = None, entry: str | None = None) -> Iterator[Node]:
        """Nodes by id; where filters are given, at least one of them holds."""
        graph = self.graph
        if entry is not None:
            yield from self._nodes_where(graph.entries, entry)
        elif name is not None:
            yield from self._nodes_where(graph.names, name)
        elif kind is None or kind in graph.node_kinds:
            code = None if kind is None else graph.node_kinds.index(kind)
            for first in range(0, graph.n_nodes, CHUNK):
                rows = np.arange(first, min(first + CHUNK, graph.n_nodes))
                yield from self.nodes_at((rows if code is None else rows[graph.node_kind[rows] == code]).tolist())

    def _nodes_where(self, column: Sequence[str | None], value: str) -> Iterator[Node]:
        # A scan, but in C: 10 ms for a million rows, which no index that must be kept is worth.
        row = -1
        while True:
            try:
                row = column.index(value, row + 1)
            except ValueError:
                return
            yield from self.nodes_at([row])

    def iter_edges(self, kinds: frozenset[str] | None) -> Iterator[Edge]:
        """Edges of ``kinds`` by key."""
        graph = self.graph
        codes = None if kinds is None else [self.edge_code[kind] for kind in kinds if kind in self.edge_code]
        if codes == []:
            return
        for first in range(0, graph.n_edges, CHUNK):
            rows = np.arange(first, min(first + CHUNK, graph.n_edges))
            if codes is not None:
                rows = rows[np.isin(graph.edge_kind[rows], codes)]
            yield from self.edges_at(rows)


def without_props(graph: GraphSnapshot, *, revision: int | None = None) -> GraphSnapshot:
    """The same columns, shared, without props and with that revision; texts that are packed are unpacked."""
    ids = tuple(graph.ids)
    return GraphSnapshot(
        ids=ids,
        names=ids if graph.names is graph.ids else tuple(graph.names),
        entries=tuple(graph.entries),
        node_kinds=graph.node_kinds,
        node_kind=graph.node_kind,
        source_index=graph.source_index,
        target_index=graph.target_index,
        edge_kinds=graph.edge_kinds,
        edge_kind=graph.edge_kind,
        weight=graph.weight,
        revision=revision,
    )


def _starts(sorted_index: NDArray[Any], n: int) -> Rows:
    return np.concatenate(([0], np.cumsum(np.bincount(sorted_index, minlength=n)))).astype(np.int64)


def _with_props(row: Row, text: str) -> Row:
    return replace(row, props=json.loads(text))
