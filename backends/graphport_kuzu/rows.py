"""Nodes and edges as Arrow tables, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from graphport.model import Edge, EdgeKey, Node, dump_props
from graphport_kuzu.arrow import Schema, Table, pa
from graphport_kuzu.schema import EDGES, KEYS, NODES

BATCH = 4096
"""Rows turned into objects at a time while iterating."""


def node_table(nodes: Iterable[Node]) -> Table:
    """As `schema.NODES`; the types are given, for a column of None alone has none."""
    rows = [(node.id, node.kind, node.name, node.entry, dump_props(node.props)) for node in nodes]
    return _table(rows, NODES)


def edge_table(edges: Iterable[Edge]) -> Table:
    """As `schema.EDGES`."""
    return _table([(*edge.key, edge.weight, dump_props(edge.props)) for edge in edges], EDGES)


def key_table(keys: Iterable[EdgeKey]) -> Table:
    """As `schema.KEYS`."""
    return _table(list(keys), KEYS)


def iter_nodes(table: Table) -> Iterator[Node]:
    """The rows of a table of `schema.NODES`, in its order, a batch of objects at a time."""
    for batch in table.to_batches(max_chunksize=BATCH):
        for node_id, kind, name, entry, props in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Node(node_id, kind, name, entry, load_props(props))


def load_props(text: str) -> dict[str, Any]:
    """What `dump_props` made text of, a new dict each time."""
    if text == "{}":
        return {}
    props: dict[str, Any] = json.loads(text)
    return props


def _table(rows: list[tuple[Any, ...]], schema: Schema) -> Table:
    columns: Iterable[tuple[Any, ...]] = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.table(arrays, schema=schema)
