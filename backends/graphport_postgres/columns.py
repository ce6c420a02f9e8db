"""Reading a whole graph as columns: numbers in blocks for numpy, with no join and no Python loop over edges.

The server packs the keys and weights of many edges of one kind into one value each. COPY BINARY would
hand them over a row at a time, which costs psycopg 4 us a row: 1M edges take 4.3 s by COPY, 0.9 s so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import sql

from graphport.errors import StorageCorruptError
from graphport.snapshot import GraphSnapshot
from graphport_postgres.connections import Link
from graphport_postgres.layout import Layout

BLOCKS_A_QUERY = 16_384
"""128 MiB of the table: about 1M edges, whose packed numbers the server holds in memory, 24 bytes each."""

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

        An edge whose end is not one of our nodes (another tool may have made it) is left out, as it is
        by every other read.
        """
        nodes = connection.execute(self._nodes).fetchall()
        pks, ids, names, node_kinds, entries = zip(*nodes, strict=True) if nodes else ((),) * 5
        if None in ids or None in node_kinds:
            raise StorageCorruptError("a node has no id or no kind; both must be there, and text")
        table, codes = _coded(node_kinds)
        packed = list(self._packed(connection, kinds))
        edge_table, edge_codes = _coded([kind for kind, *_ in packed])
        counts = [len(weights) // 8 for *_, weights in packed]
        source, source_known = rows_of(_joined(packed, 1, ">i8"), np.array(pks, dtype=np.int64))
        target, target_known = rows_of(_joined(packed, 2, ">i8"), np.array(pks, dtype=np.int64))
        kept = source_known & target_known
        return GraphSnapshot.from_arrays(
            ids,
            source[kept],
            target[kept],
            _joined(packed, 3, ">f8").astype(np.float64)[kept],
            node_kind=codes,
            node_kinds=table,
            edge_kind=np.repeat(edge_codes, counts)[kept],
            edge_kinds=edge_table,
            names=names,
            entries=entries,
            revision=revision,
        )

    def _packed(self, connection: Link, kinds: Sequence[str] | None) -> Iterator[tuple[str, bytes, bytes, bytes]]:
        (blocks,) = connection.execute(self._blocks).fetchall()[0]
        with connection.cursor(binary=True) as cursor:
            for first in range(0, blocks, BLOCKS_A_QUERY):
                block_range = {"first": f"({first},0)", "last": f"({first + BLOCKS_A_QUERY},0)", "kinds": kinds}
                for row in cursor.execute(self._edges, block_range):
                    if row[0] is None:
                        raise StorageCorruptError("an edge has no kind; it must be there, and text")
                    yield row


def _coded(kinds: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    table = sorted(set(kinds))
    code = {kind: number for number, kind in enumerate(table)}
    return table, np.fromiter((code[kind] for kind in kinds), dtype=np.int32, count=len(kinds))


def _joined(packed: Sequence[tuple[Any, ...]], column: int, dtype: str) -> NDArray[Any]:
    return np.frombuffer(b"".join(row[column] for row in packed), dtype=dtype)


def rows_of(keys: NDArray[Any], known: Keys) -> tuple[Keys, NDArray[np.bool_]]:
    """For each key its place in ``known`` (where it has one), and whether it has one."""
    if not len(known) or not len(keys):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.bool_)
    low, high = int(known.min()), int(known.max())
    offsets = keys.astype(np.int64) - low
    inside = (offsets >= 0) & (offsets <= high - low)
    if high - low <= 8 * len(known) + 1024:  # keys come from a sequence: a table of places is the fastest
        places = np.full(high - low + 1, -1, dtype=np.int64)
        places[known - low] = np.arange(len(known))
        found = places[np.where(inside, offsets, 0)]
        return found, inside & (found >= 0)
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known, keys.astype(np.int64), sorter=order), len(known) - 1)
    found = order[at]
    return found, known[found] == keys
