"""From facts to the graph: what the visible facts say each node and edge is.

The graph is a function of the truth and a moment: a fact counts while its entry is visible, a node
exists while a visible entry declares it, and an edge needs both its ends. Everything here reads one
SQLite connection inside `Truth.read` or `Truth.write`.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import Any

import numpy as np

from graphport.model import Edge, EdgeKey, Node
from graphport.snapshot import GraphSnapshot

VISIBLE = "e.flagged = 0 AND (e.valid_to IS NULL OR e.valid_to > :now)"

_NODE_COLUMNS = "n.id, n.kind, n.name, n.entry, n.stands, n.props"
_FACT_COLUMNS = "f.source, f.target, f.kind, f.entry, f.weight, f.props"


def nodes_now(db: sqlite3.Connection, ids: Iterable[str], now: float) -> dict[str, Node]:
    """Those of the nodes that exist at ``now`` (seconds since the epoch), by id."""
    rows = db.execute(
        f"SELECT {_NODE_COLUMNS} FROM json_each(:ids) j JOIN node_facts n ON n.id = j.value "  # noqa: S608 - constants
        f"JOIN entries e ON e.id = n.entry WHERE {VISIBLE} ORDER BY n.id, n.entry, n.owner, n.rowid",
        {"ids": json.dumps(sorted(set(ids))), "now": now},
    )
    return {node.id: node for node in _nodes(rows)}


def edges_now(
    db: sqlite3.Connection, keys: Iterable[EdgeKey], now: float, factors: Mapping[str, float]
) -> dict[EdgeKey, Edge]:
    """Those of the edges that exist at ``now``, by key; ``factors`` scale the weights of kinds."""
    rows = db.execute(
        f"SELECT {_FACT_COLUMNS} FROM json_each(:keys) j "  # noqa: S608 - constants
        "JOIN facts f ON f.source = json_extract(j.value, '$[0]') AND f.target = json_extract(j.value, '$[1]') "
        "AND f.kind = json_extract(j.value, '$[2]') "
        f"JOIN entries e ON e.id = f.entry WHERE {VISIBLE} "
        "ORDER BY f.source, f.target, f.kind, f.entry, f.owner, f.rowid",
        {"keys": json.dumps(sorted(set(keys))), "now": now},
    )
    found = {edge.key: edge for edge in _edges(rows, factors)}
    ends = nodes_now(db, {end for key in found for end in key[:2]}, now)
    return {key: edge for key, edge in found.items() if key.source in ends and key.target in ends}


def entries_of(db: sqlite3.Connection, key: EdgeKey, now: float) -> list[str]:
    """Ids of the visible entries that an edge is known from, sorted."""
    rows = db.execute(
        "SELECT DISTINCT f.entry FROM facts f JOIN entries e ON e.id = f.entry "  # noqa: S608 - a constant
        f"WHERE f.source = :source AND f.target = :target AND f.kind = :kind AND {VISIBLE} ORDER BY f.entry",
        {"source": key.source, "target": key.target, "kind": key.kind, "now": now},
    )
    return [row[0] for row in rows]


def incident_keys(db: sqlite3.Connection, ids: Iterable[str]) -> list[EdgeKey]:
    """Keys of all facts, visible or not, that touch one of the nodes."""
    rows = db.execute(
        "SELECT f.source, f.target, f.kind FROM json_each(:ids) j JOIN facts f ON f.source = j.value "
        "UNION SELECT f.source, f.target, f.kind FROM json_each(:ids) j JOIN facts f ON f.target = j.value",
        {"ids": json.dumps(sorted(set(ids)))},
    )
    return [EdgeKey(*row) for row in rows]


def whole_graph(
    db: sqlite3.Connection, now: float, factors: Mapping[str, float], counted: Iterable[Edge] = ()
) -> GraphSnapshot:
    """The graph at ``now``, props included, as `GraphStorage.bulk_load` takes it.

    ``counted`` are edges that follow from all facts together and are facts of no single entry.
    """
    node_rows = db.execute(
        f"SELECT {_NODE_COLUMNS} FROM node_facts n JOIN entries e ON e.id = n.entry "  # noqa: S608 - constants
        f"WHERE {VISIBLE} ORDER BY n.id, n.entry, n.owner, n.rowid",
        {"now": now},
    )
    nodes = list(_nodes(node_rows))
    place = {node.id: row for row, node in enumerate(nodes)}
    node_kinds = _Codes()
    node_kind = np.fromiter((node_kinds.code(node.kind) for node in nodes), np.int32, len(nodes))
    edge_kinds = _Codes()
    source: list[int] = []
    target: list[int] = []
    kind: list[int] = []
    weight: list[float] = []
    edge_props: dict[int, Mapping[str, Any]] = {}
    fact_rows = db.execute(
        f"SELECT {_FACT_COLUMNS} FROM facts f JOIN entries e ON e.id = f.entry "  # noqa: S608 - constants
        f"WHERE {VISIBLE} ORDER BY f.source, f.target, f.kind, f.entry, f.owner, f.rowid",
        {"now": now},
    )
    for edge in chain(_edges(fact_rows, factors), counted):
        if edge.source not in place or edge.target not in place:
            continue
        if edge.props:
            edge_props[len(source)] = edge.props
        source.append(place[edge.source])
        target.append(place[edge.target])
        kind.append(edge_kinds.code(edge.kind))
        weight.append(edge.weight)
    return GraphSnapshot.from_arrays(
        [node.id for node in nodes],
        np.array(source, dtype=np.int64),
        np.array(target, dtype=np.int64),
        np.array(weight, dtype=np.float64),
        node_kind=node_kind,
        node_kinds=node_kinds.table or ("node",),
        edge_kind=np.array(kind, dtype=np.int32),
        edge_kinds=edge_kinds.table or ("edge",),
        names=[node.name for node in nodes],
        entries=[node.entry for node in nodes],
        node_props={row: node.props for row, node in enumerate(nodes) if node.props},
        edge_props=edge_props,
    )


class _Codes:
    """Kinds numbered as they come."""

    def __init__(self) -> None:
        self.table: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, kind: str) -> int:
        found = self._codes.get(kind)
        if found is None:
            found = self._codes[kind] = len(self.table)
            self.table.append(kind)
        return found


def _nodes(rows: Iterable[tuple[Any, ...]]) -> Iterator[Node]:
    """Rows by (id, entry) as nodes: the first declaration counts, and the first entry it stands for."""
    for node_id, group in groupby(rows, key=lambda row: row[0]):
        declared = list(group)
        first = declared[0]
        entry = next((row[3] for row in declared if row[4]), None)
        yield Node(node_id, first[1], first[2], entry, json.loads(first[5]))


def _edges(rows: Iterable[tuple[Any, ...]], factors: Mapping[str, float]) -> Iterator[Edge]:
    """Rows by (source, target, kind, entry) as edges: the sum over entries of each one's largest weight."""
    for key, group in groupby(rows, key=lambda row: row[:3]):
        weights: dict[str, float] = {}
        props = "{}"
        for row in group:
            weights[row[3]] = max(row[4], weights.get(row[3], 0.0))
            if props == "{}":
                props = row[5]
        # fsum: the exact sum, whatever the order the facts were added in
        weight = math.fsum(weights.values()) * factors.get(key[2], 1.0)
        yield Edge(key[0], key[1], key[2], weight, json.loads(props))
