"""Breadth-first search, a level at a time, over the tables' own keys."""

from __future__ import annotations

from collections.abc import Sequence

from graphport.model import Direction, Node, Subgraph
from graphport_postgres.connections import Link
from graphport_postgres.layout import Layout
from graphport_postgres.session import Rows, run
from graphport_postgres.statements import Statement, Statements


def walk(
    connection: Link,
    layout: Layout,
    statements: Statements,
    seeds: Sequence[str],
    *,
    depth: int,
    max_nodes: int,
    way: Direction,
    kinds: Sequence[str] | None,
) -> Subgraph:
    """`GraphStorage.neighborhood` in depth + 2 round trips; a hub's edges stay on the server.

    ``seeds`` and ``kinds`` are encoded keys. Each level is asked for with one node more than may be
    taken, which shows whether ``max_nodes`` cuts something off.
    """
    nodes: list[Node] = []
    depths: dict[str, int] = {}
    seen: list[str] = []
    truncated = False

    def taken(rows: Rows, step: int) -> list[str]:
        nonlocal truncated
        room = max_nodes - len(nodes)
        truncated = truncated or len(rows) > room
        for _, *row in rows[:room]:
            node = layout.decode_node(row)
            nodes.append(node)
            depths[node.id] = step
        level = [row[0] for row in rows[:room]]
        seen.extend(level)
        return level

    first = Statement(statements.seeds, {"ids": seeds, "room": max_nodes + 1})
    level = taken(run(connection, first)[0], 0)
    for step in range(1, depth + 1):
        if not level or truncated:
            break
        room = max_nodes - len(nodes) + 1
        ahead = Statement(statements.step[way], {"level": level, "seen": seen, "kinds": kinds, "room": room})
        level = taken(run(connection, ahead)[0], step)
    inside = run(connection, Statement(statements.inside, {"seen": seen, "kinds": kinds}))[0] if seen else []
    edges = sorted(map(layout.decode_edge, inside), key=lambda edge: edge.key)
    return Subgraph(tuple(nodes), tuple(edges), depths, truncated)
