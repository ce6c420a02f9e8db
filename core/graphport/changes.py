"""What a graph of one revision lacks to be that of a later one, and a bounded memory of it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from graphport.errors import InvalidQueryError
from graphport.model import Edge, EdgeKey, Node, own_row
from graphport.pending import PendingWrites

MOST_KEYS = 16_384
"""Keys that a `ChangeFeed` remembers, in all its batches: some 5 MB of rows."""


@dataclass(frozen=True, slots=True)
class GraphChanges:
    """What turns a graph into the one of ``revision``, each key at most once in each part.

    Done in this order: ``deleted_edges`` go, ``deleted_nodes`` go with every edge that touches them,
    ``nodes`` and then ``edges`` are inserted or replaced. A node that was deleted and made again is in both
    parts. What is deleted may be absent already, and what is written may be as it was.
    """

    revision: int
    nodes: Mapping[str, Node]
    edges: Mapping[EdgeKey, Edge]
    deleted_nodes: tuple[str, ...] = ()
    deleted_edges: tuple[EdgeKey, ...] = ()

    def __len__(self) -> int:
        """How many keys it touches."""
        return len(self.nodes) + len(self.edges) + len(self.deleted_nodes) + len(self.deleted_edges)

    @classmethod
    def of(cls, writes: PendingWrites, revision: int) -> GraphChanges:
        """A coalesced batch that does not clear the graph; the rows get props of their own."""
        return cls(
            revision,
            {node_id: own_row(node) for node_id, node in writes.nodes.items()},
            {key: own_row(edge) for key, edge in writes.edges.items()},
            tuple(writes.deleted_nodes),
            tuple(writes.deleted_edges),
        )


def check_revision(revision: object) -> int:
    """``revision`` if it is an int; else `InvalidQueryError`."""
    if isinstance(revision, bool) or not isinstance(revision, int):
        raise InvalidQueryError(f"revision is {revision!r:.80}; it must be an integer, as revision() gave it")
    return revision


class ChangeFeed:
    """The last commits of a store that lives in this process; safe with threads.

    Revisions that were not added (`bulk_load`, another process) are holes, over which it does not reach.
    """

    def __init__(self, most_keys: int = MOST_KEYS) -> None:
        self._most_keys = most_keys
        self._keys = 0
        self._batches: deque[tuple[int, PendingWrites]] = deque()
        self._lock = threading.Lock()

    def add(self, revision: int, writes: PendingWrites) -> None:
        """Remember the batch that led to ``revision``; it must not change any more."""
        with self._lock:
            self._batches.append((revision, writes))
            self._keys += len(writes) + 1
            while self._keys > self._most_keys:
                self._keys -= len(self._batches.popleft()[1]) + 1

    def between(self, since: int, revision: int) -> GraphChanges | None:
        """The changes from ``since`` to ``revision``, None unless every commit between them is remembered."""
        with self._lock:
            batches = [batch for batch in self._batches if since < batch[0] <= revision]
        if since > revision or [at for at, _ in batches] != [*range(since + 1, revision + 1)]:
            return None
        writes = PendingWrites()
        for _, batch in batches:
            if batch.cleared:
                return None
            writes.absorb(batch)
        return GraphChanges.of(writes, revision)
