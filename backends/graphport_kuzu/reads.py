"""What is asked of the engine about some nodes or edges, each in one or two statements however many they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphport.model import Direction, Edge, EdgeKey, GraphCounts, Node
from graphport_kuzu.arrow import Table, pa
from graphport_kuzu.rows import iter_nodes, key_table, load_props
from graphport_kuzu.schema import EDGES, NODES
from graphport_kuzu.session import Session

FEW = 500
"""So many nodes are looked for among all faster than all edges are joined with them (measured at 200k and 1M)."""

_IDS = pa.schema([("id", pa.string())])
_OFFSETS = pa.schema([("id", pa.string()), ("offset", pa.int64())])
_KINDS = pa.schema([("kind", pa.string()), ("number", pa.int64())])
_INCIDENT = pa.schema([("near", pa.int64()), ("far", pa.string()), *list(EDGES)[2:], ("leaves", pa.bool_())])


def get_nodes(session: Session, ids: Sequence[str]) -> dict[str, Node]:
    """Those of the nodes that exist, in no order."""
    if not ids:  # the engine cannot type an empty list
        return {}
    table = session.table(
        "UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id, n.kind, n.name, n.entry, n.props",
        NODES,
        {"ids": list(ids)},
    )
    return {node.id: node for node in iter_nodes(table)}


def existing(session: Session, ids: Sequence[str]) -> set[str]:
    """Those of the ids that a node has."""
    if not ids:
        return set()
    table = session.table("UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id", _IDS, {"ids": list(ids)})
    return set(table["id"].to_pylist())


def get_edges(session: Session, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
    """Those of the edges that exist, in no order."""
    if not keys:
        return {}
    # OPTIONAL MATCH makes ladybug look the edges up; with MATCH, or in one pattern, it joins all edges (50x slower).
    table = session.table(
        "LOAD FROM $t MATCH (a:Node {id: source}) MATCH (b:Node {id: target}) "
        "OPTIONAL MATCH (a)-[e:Edge {kind: kind}]->(b) RETURN source, target, e.kind, e.weight, e.props",
        EDGES,
        {"t": key_table(keys)},
    )
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    found = (Edge(a, b, kind, weight, load_props(props)) for a, b, kind, weight, props in rows if kind is not None)
    return {edge.key: edge for edge in found}


def select_nodes(session: Session, *, kind: str | None, name: str | None, entry: str | None) -> Iterator[Node]:
    """Nodes by id; all filters that are given must hold. Read at once, made objects lazily."""
    wanted = {key: value for key, value in (("kind", kind), ("name", name), ("entry", entry)) if value is not None}
    where = " AND ".join(f"n.{key} = ${key}" for key in wanted)
    table = session.table(
        f"MATCH (n:Node) {where and 'WHERE'} {where} RETURN n.id, n.kind, n.name, n.entry, n.props ORDER BY n.id",
        NODES,
        wanted,
    )
    return iter_nodes(table)


def incident_edges(
    session: Session, ids: Sequence[str], direction: Direction, kinds: frozenset[str] | None
) -> dict[str, dict[EdgeKey, Edge]]:
    """All edges of each node that exists, in no order."""
    if not ids:
        return {}
    nodes = session.table(
        "UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id, offset(id(n))", _OFFSETS, {"ids": list(ids)}
    )
    offset_of: dict[str, int] = dict(zip(nodes["id"].to_pylist(), nodes["offset"].to_pylist(), strict=True))
    found: dict[str, dict[EdgeKey, Edge]] = {node_id: {} for node_id in offset_of}
    if not found or (kinds is not None and not kinds):
        return found
    table = _far_ends(session, offset_of, direction, kinds)
    id_at = {offset: node_id for node_id, offset in offset_of.items()}
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    for near, far, kind, weight, props, leaves in rows:
        here = id_at[near]
        source, target = (here, far) if leaves else (far, here)
        found[here][EdgeKey(source, target, kind)] = Edge(source, target, kind, weight, load_props(props))
    return found


def _far_ends(session: Session, offset_of: dict[str, int], direction: Direction, kinds: frozenset[str] | None) -> Table:
    """As `_INCIDENT`: the edges that leave or enter those nodes, in one statement for both ways."""
    few = len(offset_of) <= FEW
    near = "(a:Node)" if few else "(a:Node {id: i})"
    conditions = ["offset(id(a)) IN $near"] if few else []
    parameters: dict[str, Any] = {"near": list(offset_of.values()) if few else list(offset_of)}
    if kinds is not None:
        conditions.append("e.kind IN $kinds")
        parameters["kinds"] = sorted(kinds)
    queries = [
        f"{'' if few else 'UNWIND $near AS i'} MATCH {near}{arrow}(b:Node) "
        f"{'WHERE ' if conditions else ''}{' AND '.join(conditions)} "
        "RETURN offset(id(a)) AS near, b.id AS far, e.kind AS kind, e.weight AS weight, e.props AS props, "
        f"{leaves} AS leaves"
        for way, arrow, leaves in ((Direction.OUT, "-[e:Edge]->", "true"), (Direction.IN, "<-[e:Edge]-", "false"))
        if direction in (way, Direction.BOTH)
    ]
    return session.table(" UNION ALL ".join(queries), _INCIDENT, parameters)


def counts(session: Session) -> GraphCounts:
    nodes = _tally(session, "MATCH (n:Node) RETURN n.kind, count(n.id)")
    # count(*) is taken from a statistic that is wrong after deletes (kuzu 0.11.3)
    edges = _tally(session, "MATCH (a:Node)-[e:Edge]->(:Node) RETURN e.kind, count(a.id)")
    return GraphCounts(sum(nodes.values()), sum(edges.values()), nodes, edges)


def _tally(session: Session, query: str) -> dict[str, int]:
    table = session.table(query, _KINDS)
    return dict(sorted(zip(table["kind"].to_pylist(), table["number"].to_pylist(), strict=True)))
