"""The tables in the engine, and the same columns in Arrow."""

from __future__ import annotations

from graphport_kuzu.arrow import pa

DDL = (
    "CREATE NODE TABLE Node(id STRING PRIMARY KEY, kind STRING, name STRING, entry STRING, props STRING)",
    "CREATE REL TABLE Edge(FROM Node TO Node, kind STRING, weight DOUBLE, props STRING)",
)
"""One table each: a table per kind gains only where one kind is scanned (2x), and costs DDL and planning.

``props`` are canonical JSON text. Nothing else is in the database, so that a user's ``MATCH (n)`` finds nodes.
"""

NODES = pa.schema(
    [("id", pa.string()), ("kind", pa.string()), ("name", pa.string()), ("entry", pa.string()), ("props", pa.string())]
)
EDGES = pa.schema(
    [
        ("source", pa.string()),
        ("target", pa.string()),
        ("kind", pa.string()),
        ("weight", pa.float64()),
        ("props", pa.string()),
    ]
)
KEYS = pa.schema([("source", pa.string()), ("target", pa.string()), ("kind", pa.string())])
