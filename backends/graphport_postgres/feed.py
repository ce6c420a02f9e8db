"""The change feed of a graph in PostgreSQL: which keys each of its last commits touched.

A ring of rows beside the graph's tables, written in the transaction of the commit: what is not in it, for it
was too much or too long ago, is read anew. It holds keys and no rows; a reader takes the rows as they are now.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphport.changes import GraphChanges
from graphport.model import Edge, EdgeKey, Node
from graphport_postgres.wire import Rows

COMMITS = 256
"""Commits that are remembered."""
MOST_KEYS = 4096
MOST_TEXT = 2**18
"""A commit that touches more keys, or takes more characters to say so, is not; 64 MiB a graph at most."""
WORTH_READING = 65_536
"""Keys above which a new snapshot is the better answer, however large the graph."""


class Touched(NamedTuple):
    """Keys that a write may have changed. ``gone`` nodes took all their edges along."""

    nodes: Sequence[str] = ()
    gone: Sequence[str] = ()
    edges: Sequence[EdgeKey] = ()

    @property
    def size(self) -> int:
        return len(self.nodes) + len(self.gone) + len(self.edges)


@dataclass
class Touches:
    """What the writes of one commit touched, one after the other; None stands for everything."""

    writes: list[Touched | None] = field(default_factory=list[Touched | None])
    _size: int = 0

    def add(self, touched: Touched | None) -> None:
        self._size += MOST_KEYS + 1 if touched is None else touched.size
        self.writes.append(touched if self._size <= MOST_KEYS else None)

    def text(self) -> str | None:
        """All of it as JSON, None where it is too much to remember."""
        known = [touched for touched in self.writes if touched is not None]
        if len(known) < len(self.writes):
            return None
        text = json.dumps(
            [[key for touched in known for key in touched[part]] for part in range(3)],
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return text if len(text) <= MOST_TEXT else None


def read_touched(since: int, revision: int, rows: Rows) -> Touched | None:
    """What the commits after ``since`` touched, from the feed's rows; None unless all of them are there."""
    if (
        since > revision
        or [row[0] for row in rows] != [*range(since + 1, revision + 1)]
        or any(row[1] is None for row in rows)
    ):
        return None
    nodes, gone, edges = dict[str, None](), dict[str, None](), dict[EdgeKey, None]()
    for _, text in rows:
        commit: Any = json.loads(text)
        nodes |= dict.fromkeys(commit[0])
        gone |= dict.fromkeys(commit[1])
        edges |= dict.fromkeys(EdgeKey(*key) for key in commit[2])
    touched = Touched([*nodes], [*gone], [*edges])
    return touched if touched.size <= WORTH_READING else None


def changes_of(touched: Touched, revision: int, nodes: Iterable[Node], edges: Iterable[Edge]) -> GraphChanges:
    """The changes, from the touched rows that there are now."""
    there = {node.id: node for node in nodes}
    kept = {edge.key: edge for edge in edges}
    return GraphChanges(
        revision,
        there,
        kept,
        (*touched.gone, *(key for key in touched.nodes if key not in there and key not in touched.gone)),
        tuple(key for key in touched.edges if key not in kept),
    )
