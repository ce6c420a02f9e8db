"""A graph as Arrow columns: what is read from the engine in bulk, and what COPY takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphport.errors import StorageCorruptError
from graphport.model import Edge, EdgeKey, GraphCounts
from graphport.pending import PendingWrites
from graphport.snapshot import GraphSnapshot
from graphport_kuzu.arrow import Array, ChunkedArray, Schema, Table, pa, pc
from graphport_kuzu.rows import BATCH, edge_table, load_props, node_table
from graphport_kuzu.schema import EDGES, NODES
from graphport_kuzu.session import Session

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """Nodes (n) by id, and edges (m) in any order: ``source`` and ``target`` (m,) are rows of ``nodes``.

    ``nodes`` has the columns of `schema.NODES`; ``edges`` has kind, weight and props. Props are left out
    where nobody asked for them.
    """

    nodes: Table
    source: Rows
    target: Rows
    edges: Table

    @classmethod
    def empty(cls) -> Columns:
        nowhere = np.zeros(0, dtype=np.int64)
        return cls(NODES.empty_table(), nowhere, nowhere, EDGES.empty_table().drop_columns(["source", "target"]))

    @property
    def ids(self) -> Array:
        return self.nodes["id"].combine_chunks()

    def tables(self) -> tuple[Table, Table]:
        """As `schema.NODES` and `schema.EDGES`, edges by key; it must have props. Ready for COPY."""
        order = self._key_order()
        ids = self.ids
        ends = [ids.take(pa.array(side[order])) for side in (self.source, self.target)]
        return self.nodes, pa.table([*ends, *self.edges.take(pa.array(order)).columns], schema=EDGES)

    def iter_edges(self) -> Iterator[Edge]:
        """Edges by key, a batch of objects at a time; it must have props."""
        order = self._key_order()
        ids = self.ids
        for first in range(0, len(order), BATCH):
            rows = order[first : first + BATCH]
            ends = (ids.take(pa.array(side[rows])).to_pylist() for side in (self.source, self.target))
            rest = (column.to_pylist() for column in self.edges.take(pa.array(rows)).columns)
            for source, target, kind, weight, props in zip(*ends, *rest, strict=True):
                yield Edge(source, target, kind, weight, load_props(props))

    def snapshot(self, revision: int | None) -> GraphSnapshot:
        """The same graph without props."""
        node_kinds, node_kind = _codes(self.nodes["kind"])
        edge_kinds, edge_kind = _codes(self.edges["kind"])
        return GraphSnapshot.from_arrays(
            self.nodes["id"].to_pylist(),
            self.source,
            self.target,
            self.edges["weight"].to_numpy(),
            node_kind=node_kind,
            node_kinds=node_kinds,
            edge_kind=edge_kind,
            edge_kinds=edge_kinds,
            names=self.nodes["name"].to_pylist(),
            entries=self.nodes["entry"].to_pylist(),
            revision=revision,
        )

    def of_kinds(self, kinds: frozenset[str] | None) -> Columns:
        """The same nodes, and the edges of those kinds."""
        if kinds is None:
            return self
        kept = _is_in(self.edges["kind"].combine_chunks(), sorted(kinds))
        return Columns(self.nodes, self.source[kept], self.target[kept], self.edges.filter(pa.array(kept)))

    def counts(self) -> GraphCounts:
        node_kinds: Counter[str] = Counter(self.nodes["kind"].to_pylist())
        edge_kinds: Counter[str] = Counter(self.edges["kind"].to_pylist())
        return GraphCounts(
            len(self.nodes), len(self.edges), dict(sorted(node_kinds.items())), dict(sorted(edge_kinds.items()))
        )

    def merged(self, pending: PendingWrites) -> Columns:
        """The graph after ``pending``; it must have props."""
        base = Columns.empty() if pending.cleared else self
        return base._merged(pending)

    def _merged(self, pending: PendingWrites) -> Columns:
        gone = _is_in(self.ids, list(pending.deleted_nodes))
        replaced = _is_in(self.ids, list(pending.nodes))
        kept = ~(gone[self.source] | gone[self.target] | self._has_key([*pending.deleted_edges, *pending.edges]))
        nodes = pa.concat_tables([self.nodes.filter(pa.array(~(gone | replaced))), node_table(pending.nodes.values())])
        nodes = nodes.sort_by("id")
        ids = nodes["id"].combine_chunks()
        moved = _rows_of(self.ids, ids)
        fresh = edge_table(pending.edges.values())
        return Columns(
            nodes,
            np.concatenate([moved[self.source[kept]], _rows_of(fresh["source"], ids)]),
            np.concatenate([moved[self.target[kept]], _rows_of(fresh["target"], ids)]),
            pa.concat_tables([self.edges.filter(pa.array(kept)), fresh.drop_columns(["source", "target"])]),
        )

    def _has_key(self, keys: Sequence[EdgeKey]) -> NDArray[np.bool_]:
        """(m,) whether each edge's key is one of ``keys``."""
        n, ids = len(self.nodes), self.ids
        source, target = (_rows_of(pa.array([key[side] for key in keys], pa.string()), ids) for side in (0, 1))
        wanted = set(zip(source.tolist(), target.tolist(), (key.kind for key in keys), strict=True))
        has_key = np.isin(self.source * n + self.target, source * n + target)
        rows = np.flatnonzero(has_key)  # the ends are those of a key; few are left to look at one by one
        kinds = self.edges["kind"].take(pa.array(rows)).to_pylist()
        found = zip(self.source[rows].tolist(), self.target[rows].tolist(), kinds, strict=True)
        has_key[rows] = [key in wanted for key in found]
        return has_key

    def _key_order(self) -> Rows:
        """The order of the edges by (source, target, kind)."""
        kinds, codes = _codes(self.edges["kind"])
        rank = np.zeros(len(kinds), dtype=np.int64)
        rank[sorted(range(len(kinds)), key=kinds.__getitem__)] = np.arange(len(kinds))
        n, k = len(self.nodes), max(len(kinds), 1)
        if n * n * k >= 2**63:
            return np.lexsort((rank[codes], self.target, self.source))
        key = (self.source * n + self.target) * k + rank[codes]  # one integer: a third of the time of three passes
        return np.arange(len(key)) if (key[:-1] <= key[1:]).all() else np.argsort(key, kind="stable")


_NODES = pa.schema([("offset", pa.int64()), *NODES])
_EDGES = pa.schema([("from", pa.int64()), ("to", pa.int64()), *list(EDGES)[2:]])


def read_columns(session: Session, kinds: frozenset[str] | None = None, *, props: bool) -> Columns:
    """Every node, and the edges of ``kinds``.

    Edges come with the engine's offsets of their ends, not their ids: half the time, a third of the memory.
    Raises `StorageCorruptError` if an edge ends nowhere.
    """
    nodes = session.table(
        "MATCH (n:Node) RETURN offset(id(n)), n.id, n.kind, n.name, n.entry "
        f"{', n.props' if props else ''} ORDER BY n.id",
        _NODES if props else _without_props(_NODES),
    )
    edges = _read_edges(session, kinds, props)
    offset, start, end = (column.to_numpy() for column in (nodes["offset"], edges["from"], edges["to"]))
    rows = np.full(max(int(side.max(initial=-1)) for side in (offset, start, end)) + 1, -1, dtype=np.int64)
    rows[offset] = np.arange(len(offset))
    source, target = rows[start], rows[end]
    if min(source.min(initial=0), target.min(initial=0)) < 0:
        raise StorageCorruptError("the graph has edges that end in no node; build it again")
    return Columns(nodes.drop_columns(["offset"]), source, target, edges.drop_columns(["from", "to"]))


def _read_edges(session: Session, kinds: frozenset[str] | None, props: bool) -> Table:
    schema = _EDGES if props else _without_props(_EDGES)
    if kinds is not None and not kinds:  # the engine cannot type an empty list
        return schema.empty_table()
    return session.table(
        f"MATCH (a:Node)-[e:Edge]->(b:Node) {'' if kinds is None else 'WHERE e.kind IN $kinds'} "
        f"RETURN offset(id(a)), offset(id(b)), e.kind, e.weight {', e.props' if props else ''}",
        schema,
        None if kinds is None else {"kinds": sorted(kinds)},
    )


def _without_props(schema: Schema) -> Schema:
    return schema.remove(schema.get_field_index("props"))


def _codes(column: ChunkedArray) -> tuple[list[str], NDArray[np.int32]]:
    """The different texts of a column, and which of them each row has."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy()


def _is_in(column: Array, texts: list[str]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.is_in(column, pa.array(texts, pa.string())).to_numpy(zero_copy_only=False)
    return found


def _rows_of(texts: Any, ids: Array) -> Rows:
    """The row of each text in ``ids``, -1 where it is not there."""
    rows: Rows = pc.fill_null(pc.index_in(texts, ids), -1).to_numpy().astype(np.int64)
    return rows
