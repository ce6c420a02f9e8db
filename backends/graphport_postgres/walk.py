"""Breadth-first search, a level at a time, over the tables' own keys."""

from __future__ import annotations

from collections.abc import Sequence

from graphport.model import Direction, Edge, Node, Subgraph
from graphport_postgres.layout import Layout
from graphport_postgres.session import View
from graphport_postgres.statements import Statements
from graphport_postgres.wire import Rows, Statement, run


class Walk:
    """`GraphStorage.neighborhood` in depth + 2 round trips; a hub's edges stay on the server.

    Each level is asked for with one node more than may be taken, which shows whether ``max_nodes`` cuts
    something off.
    """

    def __init__(self, view: View, layout: Layout, statements: Statements, max_nodes: int) -> None:
        """``view`` was asked for the seeds."""
        self._view = view
        self._layout = layout
        self._statements = statements
        self._max_nodes = max_nodes
        self._nodes: list[Node] = []
        self._depths: dict[str, int] = {}
        self._seen: list[str] = []
        self._truncated = False

    def onward(self, *, depth: int, way: Direction, kinds: Sequence[str] | None) -> Subgraph:
        """From the seeds; ``kinds`` are encoded keys."""
        level = self._taken(self._view.rows[0], 0)
        for step in range(1, depth + 1):
            if not level or self._truncated:
                break
            asked = {"level": level, "seen": self._seen, "kinds": kinds, "room": self._room() + 1}
            level = self._taken(run(self._view.connection, Statement(self._statements.step[way], asked))[0], step)
        return Subgraph(tuple(self._nodes), tuple(self._inside(kinds)), self._depths, self._truncated)

    def _inside(self, kinds: Sequence[str] | None) -> list[Edge]:
        """The edges between two of the nodes found, by key."""
        if not self._seen:
            return []
        ids = dict(zip(self._seen, self._depths, strict=True))
        statement = Statement(self._statements.inside, {"seen": self._seen, "kinds": kinds})
        rows = run(self._view.connection, statement, *self._view.ending)[0]
        edges = (self._layout.decode_edge((ids[source], ids[target], *rest)) for source, target, *rest in rows)
        return sorted(edges, key=lambda edge: edge.key)

    def _room(self) -> int:
        return self._max_nodes - len(self._nodes)

    def _taken(self, rows: Rows, step: int) -> list[str]:
        """Keys of the rows there is room for, which are now part of what was found."""
        room = self._room()
        self._truncated = self._truncated or len(rows) > room
        for _, *row in rows[:room]:
            node = self._layout.decode_node(row)
            self._nodes.append(node)
            self._depths[node.id] = step
        level = [row[0] for row in rows[:room]]
        self._seen.extend(level)
        return level
