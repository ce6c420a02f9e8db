"""Reading a whole graph as columns: numbers in blocks for numpy, with no join and no Python loop over edges.

The server packs the keys and weights of many edges of one kind into one value each. COPY BINARY would
hand them over a row at a time, which costs psycopg 4 us a row: 1M edges take 4.3 s by COPY, 0.9 s so.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg import sql

from graphport.errors import StorageCorruptError
from graphport.snapshot import GraphSnapshot
from graphport_postgres.connections import Link
from graphport_postgres.layout import Layout
from graphport_postgres.wire import Statement, fetched

BLOCKS_A_QUERY = 16_384
"""128 MiB of the table: about 1M edges, whose packed numbers the server holds in memory, 24 bytes each."""

NODES_A_FETCH = 20_000

Keys = NDArray[np.int64]

_NODES = """
SELECT n.{pk}::text, {n_id}, {node_name}, {node_kind}, {node_entry} FROM {nodes} AS n ORDER BY {n_id}"""

_BLOCKS = "SELECT pg_relation_size({edges_text}::regclass) / current_setting('block_size')::bigint"

# In the physical order, by ranges of it: what is read once is not read again, whatever the indexes.
_EDGES = """
SELECT {edge_kind}, string_agg({send}(e.{start}), ''), string_agg({send}(e.{end}), ''),
    string_agg(float8send({edge_weight}), '')
FROM {edges} AS e
WHERE e.ctid >= %(first)s::tid AND e.ctid < %(last)s::tid AND {of_kinds}
GROUP BY 1"""


class Columns:
    """The snapshot queries of one graph."""

    def __init__(self, layout: Layout, space: str) -> None:
        parts = layout.fragments(space)
        parts |= {
            "send": sql.SQL(layout.pk_send),
            "edges_text": sql.Literal(parts["edges"].as_string()),
        }
        self._nodes = sql.SQL(_NODES).format(**parts).as_bytes()
        self._blocks = sql.SQL(_BLOCKS).format(**parts).as_bytes()
        self._edges = sql.SQL(_EDGES).format(**parts).as_bytes()

    def read(self, connection: Link, kinds: Sequence[str] | None, revision: int | None) -> GraphSnapshot:
        """The graph with the edges of ``kinds`` (encoded keys); the connection must see one state throughout.

        Rows become columns as they arrive, so that little more is in memory than the snapshot and what sorting
        it takes. An edge whose end is not one of our nodes (another tool may have made it) is left out, as it
        is by every other read.
        """
        nodes = self._read_nodes(connection)
        row_of = RowOf(np.frombuffer(nodes.pks, dtype=np.int64))
        edges = _Edges()
        for kind, source, target, weight in self._packed(connection, kinds):
            edges.add(kind, row_of(source), row_of(target), weight)
        return GraphSnapshot.from_arrays(
            nodes.ids,
            edges.column("source"),
            edges.column("target"),
            edges.column("weight"),
            node_kind=np.frombuffer(nodes.kind, dtype=np.int32),
            node_kinds=[*nodes.kinds],
            edge_kind=edges.column("kind"),
            edge_kinds=[*edges.kinds],
            names=nodes.names,
            entries=nodes.entries,
            revision=revision,
        )

    def _read_nodes(self, connection: Link) -> _Nodes:
        nodes = _Nodes()
        try:
            for row in fetched(connection, "gp_nodes", Statement(self._nodes, {}), rows_a_fetch=NODES_A_FETCH):
                nodes.add(*row)
        finally:
            with suppress(psycopg.Error):  # the transaction failed already, and its cursors are gone
                connection.execute(b"CLOSE gp_nodes")
        return nodes

    def _packed(self, connection: Link, kinds: Sequence[str] | None) -> Iterator[tuple[str, bytes, bytes, bytes]]:
        (blocks,) = connection.execute(self._blocks).fetchall()[0]
        with connection.cursor(binary=True) as cursor:
            for first in range(0, blocks, BLOCKS_A_QUERY):
                block_range = {"first": f"({first},0)", "last": f"({first + BLOCKS_A_QUERY},0)", "kinds": kinds}
                for row in cursor.execute(self._edges, block_range):
                    if row[0] is None:
                        raise StorageCorruptError("an edge has no kind; it must be there, and text")
                    yield row


class _Nodes:
    """The node columns as they grow."""

    def __init__(self) -> None:
        self.pks = array("q")
        self.ids: list[str] = []
        self.names: list[str] = []
        self.entries: list[str | None] = []
        self.kinds: dict[str, int] = {}
        self.kind = array("i")

    def add(self, pk: str, node_id: str | None, name: str, kind: str | None, entry: str | None) -> None:
        if node_id is None or kind is None:
            raise StorageCorruptError("a node has no id or no kind; both must be there, and text")
        self.pks.append(int(pk))
        self.ids.append(node_id)
        self.names.append(node_id if name == node_id else name)  # one text where they are the same
        self.entries.append(node_id if entry == node_id else entry)
        self.kind.append(self.kinds.setdefault(kind, len(self.kinds)))


class _Edges:
    """The edge columns as they grow, in pieces."""

    def __init__(self) -> None:
        self.kinds: dict[str, int] = {}
        self._pieces: dict[str, list[NDArray[Any]]] = {"source": [], "target": [], "weight": [], "kind": []}

    def add(self, kind: str, source: Keys, target: Keys, weight: bytes) -> None:
        kept = (source >= 0) & (target >= 0)
        code = self.kinds.setdefault(kind, len(self.kinds))
        piece: dict[str, NDArray[Any]] = {
            "source": source[kept].astype(np.int32),
            "target": target[kept].astype(np.int32),
            "weight": np.frombuffer(weight, dtype=">f8")[kept].astype(np.float64),
            "kind": np.full(int(kept.sum()), code, dtype=np.int32),
        }
        for name, values in piece.items():
            self._pieces[name].append(values)

    def column(self, name: str) -> NDArray[Any]:
        """The whole column; its pieces are given up."""
        pieces = self._pieces.pop(name)
        return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int32)


class RowOf:
    """The row of each key in ``known`` (n,), which are unique, in any order."""

    def __init__(self, known: Keys) -> None:
        self._known = known
        self._low = int(known.min()) if len(known) else 0
        span = int(known.max()) - self._low + 1 if len(known) else 0
        self._table: Keys | None = None
        if span <= 8 * len(known) + 1024:  # keys come from a sequence: a table of rows is the fastest
            self._table = np.full(span, -1, dtype=np.int64)
            self._table[known - self._low] = np.arange(len(known))
        self._order = np.argsort(known) if self._table is None else np.zeros(0, dtype=np.int64)

    def __call__(self, packed: bytes) -> Keys:
        """(k,) rows, -1 for a key that is not known; ``packed`` are k big-endian int64."""
        keys = np.frombuffer(packed, dtype=">i8").astype(np.int64)
        if not len(self._known):
            return np.full(len(keys), -1, dtype=np.int64)
        if self._table is not None:
            offsets = keys - self._low
            inside = (offsets >= 0) & (offsets < len(self._table))
            return np.where(inside, self._table[np.where(inside, offsets, 0)], -1)
        at = np.minimum(np.searchsorted(self._known, keys, sorter=self._order), len(self._known) - 1)
        rows = self._order[at]
        return np.where(self._known[rows] == keys, rows, -1)
