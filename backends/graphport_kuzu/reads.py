"""What is asked of the engine about some nodes or edges, each in one or two statements however many they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphport.model import Direction, Edge, EdgeKey, GraphCounts, Node
from graphport_kuzu.arrow import pa
from graphport_kuzu.rows import iter_nodes, key_table, load_props
from graphport_kuzu.schema import EDGES, NODES
from graphport_kuzu.session import Session

_IDS = pa.schema([("id", pa.string())])
_OFFSETS = pa.schema([("id", pa.string()), ("offset", pa.int64())])
_KINDS = pa.schema([("kind", pa.string()), ("number", pa.int64())])
_INCIDENT = pa.schema([("near", pa.string()), ("far", pa.string()), *list(EDGES)[2:], ("leaves", pa.bool_())])
_INCIDENT_BY_OFFSET = pa.schema([("near", pa.int64()), *list(_INCIDENT)[1:]])
_WAYS = ((Direction.OUT, "-[e:Edge]->", "true"), (Direction.IN, "<-[e:Edge]-", "false"))


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
    if kinds is not None and not kinds:
        return {node_id: {} for node_id in existing(session, ids)}
    look_up = _by_scan if len(ids) <= session.scan_up_to else _by_join
    found: dict[str, dict[EdgeKey, Edge]] = {}
    for here, far, kind, weight, props, leaves in look_up(session, ids, direction, kinds):
        edges = found.setdefault(here, {})
        if far is not None:
            source, target = (here, far) if leaves else (far, here)
            edges[EdgeKey(source, target, kind)] = Edge(source, target, kind, weight, load_props(props))
    return found


_Incident = Iterator[tuple[str, str | None, str, float, str, bool]]
"""(id here, id there, kind, weight, props, whether it leaves); a node without edges has a row without the id there."""


def _by_join(session: Session, ids: Sequence[str], direction: Direction, kinds: frozenset[str] | None) -> _Incident:
    # OPTIONAL MATCH makes ladybug go from each node to its edges; with MATCH it joins all edges (100x slower).
    query = _each_way(
        direction,
        "UNWIND $ids AS i MATCH (a:Node {id: i}) OPTIONAL MATCH (a)",
        "" if kinds is None else "WHERE e.kind IN $kinds",
        near="a.id",
    )
    parameters = {"ids": list(ids)} if kinds is None else {"ids": list(ids), "kinds": sorted(kinds)}
    table = session.table(query, _INCIDENT, parameters)
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _by_scan(session: Session, ids: Sequence[str], direction: Direction, kinds: frozenset[str] | None) -> _Incident:
    nodes = session.table(
        "UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id, offset(id(n))", _OFFSETS, {"ids": list(ids)}
    )
    id_at: dict[int, str] = dict(zip(nodes["offset"].to_pylist(), nodes["id"].to_pylist(), strict=True))
    for node_id in id_at.values():
        yield node_id, None, "", 0.0, "", True
    if not id_at:  # the engine cannot type an empty list
        return
    query = _each_way(
        direction,
        "MATCH (a:Node)",
        f"WHERE offset(id(a)) IN $near {'' if kinds is None else 'AND e.kind IN $kinds'}",
        near="offset(id(a))",
    )
    parameters = {"near": list(id_at)} if kinds is None else {"near": list(id_at), "kinds": sorted(kinds)}
    table = session.table(query, _INCIDENT_BY_OFFSET, parameters)
    for near, *rest in zip(*(column.to_pylist() for column in table.columns), strict=True):
        yield id_at[near], *rest


def _each_way(direction: Direction, nodes: str, where: str, *, near: str) -> str:
    """The edges of the nodes ``(a)`` in each direction asked for, under the names of `_Incident`'s columns."""
    return " UNION ALL ".join(
        f"{nodes}{arrow}(b:Node) {where} RETURN {near} AS near, b.id AS far, e.kind AS kind, e.weight AS weight, "
        f"e.props AS props, {leaves} AS leaves"
        for way, arrow, leaves in _WAYS
        if direction in (way, Direction.BOTH)
    )


def counts(session: Session) -> GraphCounts:
    nodes = _tally(session, "MATCH (n:Node) RETURN n.kind, count(n.id)")
    # count(*) is taken from a statistic that is wrong after deletes (kuzu 0.11.3)
    edges = _tally(session, "MATCH (a:Node)-[e:Edge]->(:Node) RETURN e.kind, count(a.id)")
    return GraphCounts(sum(nodes.values()), sum(edges.values()), nodes, edges)


def _tally(session: Session, query: str) -> dict[str, int]:
    table = session.table(query, _KINDS)
    return dict(sorted(zip(table["kind"].to_pylist(), table["number"].to_pylist(), strict=True)))
