"""What is asked of the engine about some nodes or edges, each in one or two statements however many they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
_INCIDENT = pa.schema([("near", pa.string()), *list(EDGES)[1:]])
_INCIDENT_BY_OFFSET = pa.schema([("near", pa.int64()), *list(EDGES)[1:]])


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
    table = session.table(
        "UNWIND $ids AS i MATCH (n:Node {id: i}) RETURN n.id, offset(id(n))", _OFFSETS, {"ids": list(ids)}
    )
    found: dict[str, dict[EdgeKey, Edge]] = {node_id: {} for node_id in table["id"].to_pylist()}
    ways = [way for way in (Direction.OUT, Direction.IN) if direction in (way, Direction.BOTH)]
    for way in ways if found and (kinds is None or kinds) else ():
        for near, far, kind, weight, props in _far_ends(session, table, way, kinds):
            source, target = (near, far) if way is Direction.OUT else (far, near)
            edge = Edge(source, target, kind, weight, load_props(props))
            found[near][edge.key] = edge
    return found


def _far_ends(
    session: Session, near: Table, way: Direction, kinds: frozenset[str] | None
) -> Iterator[tuple[str, str, str, float, str]]:
    """(id here, id there, kind, weight, props) of the edges that leave, or enter, the nodes of ``near``."""
    arrow = "-[e:Edge]->" if way is Direction.OUT else "<-[e:Edge]-"
    of_kinds = "" if kinds is None else "e.kind IN $kinds"
    parameters = {} if kinds is None else {"kinds": sorted(kinds)}
    ids, offsets = near["id"].to_pylist(), near["offset"].to_pylist()
    if len(ids) <= FEW:
        where = f"offset(id(a)) IN $near {of_kinds and 'AND'} {of_kinds}"
        table = session.table(
            f"MATCH (a:Node){arrow}(b:Node) WHERE {where} RETURN offset(id(a)), b.id, e.kind, e.weight, e.props",
            _INCIDENT_BY_OFFSET,
            {"near": offsets, **parameters},
        )
        id_at = dict(zip(offsets, ids, strict=True))
        here = [id_at[offset] for offset in table["near"].to_pylist()]
    else:
        table = session.table(
            f"UNWIND $near AS i MATCH (a:Node {{id: i}}){arrow}(b:Node) {of_kinds and 'WHERE'} {of_kinds} "
            "RETURN i, b.id, e.kind, e.weight, e.props",
            _INCIDENT,
            {"near": ids, **parameters},
        )
        here = table["near"].to_pylist()
    return zip(here, *(column.to_pylist() for column in table.columns[1:]), strict=True)


def counts(session: Session) -> GraphCounts:
    nodes = _tally(session, "MATCH (n:Node) RETURN n.kind, count(n.id)")
    # count(*) is taken from a statistic that is wrong after deletes (kuzu 0.11.3)
    edges = _tally(session, "MATCH (a:Node)-[e:Edge]->(:Node) RETURN e.kind, count(a.id)")
    return GraphCounts(sum(nodes.values()), sum(edges.values()), nodes, edges)


def _tally(session: Session, query: str) -> dict[str, int]:
    table = session.table(query, _KINDS)
    return dict(sorted(zip(table["kind"].to_pylist(), table["number"].to_pylist(), strict=True)))
