"""Writes of an open transaction, coalesced, and what the graph looks like through them.

For backends that apply a transaction in one go at commit (the in-process one, Kuzu): the engine sees,
in this order, deleted edges, deleted nodes, upserted nodes, upserted edges, each key at most once and
nothing both deleted and upserted, except a node or edge that is replaced after its old self was deleted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from graphport.errors import TransactionError
from graphport.model import Direction, Edge, EdgeKey, Node, Row


@dataclass(slots=True)
class PendingWrites:
    """A coalesced batch of writes over a committed graph.

    ``deleted_nodes`` lost their edges too: a committed edge is gone when its key is in
    ``deleted_edges`` or one of its ends is in ``deleted_nodes``. A node deleted and inserted again is in
    both ``deleted_nodes`` and ``nodes``. ``cleared``: nothing committed is left.
    """

    cleared: bool = False
    deleted_nodes: dict[str, None] = field(default_factory=dict[str, None])
    deleted_edges: dict[EdgeKey, None] = field(default_factory=dict[EdgeKey, None])
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    edges: dict[EdgeKey, Edge] = field(default_factory=dict[EdgeKey, Edge])
    _ends: dict[str, dict[EdgeKey, None]] = field(default_factory=dict[str, dict[EdgeKey, None]])

    def __bool__(self) -> bool:
        return self.cleared or len(self) > 0

    def __len__(self) -> int:
        """How many keys it touches."""
        return len(self.deleted_nodes) + len(self.deleted_edges) + len(self.nodes) + len(self.edges)

    def copy(self) -> PendingWrites:
        """The same writes, apart from this object; rows are shared."""
        same = PendingWrites()
        same.absorb(self)
        return same

    def then(self, newer: PendingWrites) -> PendingWrites:
        """Both batches as one, ``newer`` applied last; neither is changed."""
        both = self.copy()
        both.absorb(newer)
        return both

    def absorb(self, newer: PendingWrites) -> None:
        """Take a later batch in."""
        if newer.cleared:
            self.clear()
        self.delete_edges(newer.deleted_edges)
        self.delete_nodes(newer.deleted_nodes)
        self.upsert_nodes(newer.nodes)
        self.upsert_edges(newer.edges)

    def upsert_nodes(self, batch: Mapping[str, Node]) -> None:
        self.nodes.update(batch)

    def upsert_edges(self, batch: Mapping[EdgeKey, Edge]) -> None:
        for key, edge in batch.items():
            self.edges[key] = edge
            self.deleted_edges.pop(key, None)
            self._ends.setdefault(key.source, {})[key] = None
            self._ends.setdefault(key.target, {})[key] = None

    def delete_nodes(self, ids: Iterable[str]) -> None:
        for node_id in ids:
            self.nodes.pop(node_id, None)
            self.deleted_nodes[node_id] = None
            for key in self._ends.pop(node_id, ()):
                self.edges.pop(key, None)

    def delete_edges(self, keys: Iterable[EdgeKey]) -> None:
        for key in keys:
            self.edges.pop(key, None)
            self.deleted_edges[key] = None

    def clear(self) -> None:
        for pending in (self.deleted_nodes, self.deleted_edges, self.nodes, self.edges, self._ends):
            pending.clear()
        self.cleared = True

    def hides_node(self, node_id: str) -> bool:
        """Whether the committed node of that id is gone or replaced."""
        return self.cleared or node_id in self.deleted_nodes or node_id in self.nodes

    def hides_edge(self, key: EdgeKey) -> bool:
        """Whether the committed edge of that key is gone or replaced."""
        return (
            self.cleared
            or key in self.deleted_edges
            or key in self.edges
            or key.source in self.deleted_nodes
            or key.target in self.deleted_nodes
        )

    def merge_nodes(self, committed: Iterable[Node]) -> Iterator[Node]:
        """All nodes by id; ``committed`` must be in that order."""
        left = (node for node in committed if not self.hides_node(node.id))
        return heapq.merge(left, [self.nodes[i] for i in sorted(self.nodes)], key=lambda node: node.id)

    def merge_edges(self, committed: Iterable[Edge], kinds: frozenset[str] | None) -> Iterator[Edge]:
        """All edges of ``kinds`` by key; ``committed`` must be in that order and of those kinds."""
        left = (edge for edge in committed if not self.hides_edge(edge.key))
        mine = [self.edges[key] for key in sorted(self.edges) if kinds is None or key.kind in kinds]
        return heapq.merge(left, mine, key=lambda edge: edge.key)

    def merge_incident(
        self,
        node_id: str,
        committed: Iterable[Edge],
        direction: Direction,
        kinds: frozenset[str] | None,
        limit: int | None,
    ) -> list[Edge]:
        """Edges of one node by key; ``committed`` are all its committed ones that were asked for, unlimited."""
        rows = {edge.key: edge for edge in committed if not self.hides_edge(edge.key)}
        for key in self._ends.get(node_id, ()):
            edge = self.edges.get(key)
            if edge is None or (kinds is not None and key.kind not in kinds):
                continue
            if (direction is not Direction.IN and key.source == node_id) or (
                direction is not Direction.OUT and key.target == node_id
            ):
                rows[key] = edge
        ordered = [rows[key] for key in sorted(rows)]
        return ordered if limit is None else ordered[:limit]


def rows_within(rows: Iterator[Row], transaction: Callable[[], object | None]) -> Iterator[Row]:
    """``rows``, and in a transaction only for as long as that is open; then `TransactionError`.

    ``transaction`` gives the one that the calling thread has open, or None. Whoever iterated on after a rollback
    would be given rows that were never in the graph.
    """
    began = transaction()
    return rows if began is None else _while_open(rows, lambda: transaction() is began)


def _while_open(rows: Iterator[Row], is_open: Callable[[], bool]) -> Iterator[Row]:
    while True:
        if not is_open():
            raise TransactionError("the transaction in which this iteration began has ended; iterate inside it")
        row = next(rows, None)
        if row is None:
            return
        yield row
