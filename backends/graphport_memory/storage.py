"""The in-process graph store: `GraphStorage` over a `View`, durable when it is given a file."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, Self

import numpy as np

from graphport import traverse
from graphport.changes import ChangeFeed, GraphChanges, check_revision
from graphport.errors import MissingNodeError, StorageClosedError, TransactionError, UnsupportedError
from graphport.model import (
    Direction,
    Edge,
    EdgeKey,
    GraphCounts,
    Node,
    Subgraph,
    check_edges,
    check_ids,
    check_keys,
    check_kinds,
    check_nodes,
    check_text,
)
from graphport.pending import PendingWrites, rows_within
from graphport.snapshot import GraphSnapshot, canonical_kinds
from graphport.storage import DEFAULT_GRAPH
from graphport.traverse import check_direction, check_limit
from graphport_memory import walk
from graphport_memory.base import Base, without_props
from graphport_memory.file import GraphFile
from graphport_memory.state import State
from graphport_memory.view import View, settled


@dataclass
class _Transaction:
    """Open writes of one thread on top of the state they began with."""

    thread: int
    state: State
    pending: PendingWrites = field(default_factory=PendingWrites)

    @property
    def view(self) -> View:
        layers = self.state.view.layers
        return View(self.state.view.base, (*layers, self.pending) if self.pending else layers)


class MemoryStorage:
    """A graph in the memory of this process; with a ``path``, every commit is on disk before it returns.

    Without a path each handle is a universe of its own and ends with it. With one, any number of handles,
    threads and processes may read and write the file: a transaction holds the file's write lock from its
    start to its end, so that what it read is still true when it commits; another writer waits
    ``busy_timeout`` seconds and then gets `StorageBusyError`. Readers never wait.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        graph: str = DEFAULT_GRAPH,
        read_only: bool = False,
        busy_timeout: float = 5.0,
    ) -> None:
        if read_only and path is None:
            raise UnsupportedError("read_only needs a path: without one the graph is empty and nobody could fill it")
        self._graph = check_text(graph, "graph name")
        self._read_only = read_only
        self._closed = False
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._open: _Transaction | None = None
        self._state = State(View(Base.empty()))
        self._feed = ChangeFeed()
        self._file = None if path is None else GraphFile(Path(path), graph, read_only, busy_timeout)

    def __repr__(self) -> str:
        where = f", path={str(self._file.path)!r}" if self._file is not None else ""
        return f"MemoryStorage(graph={self._graph!r}{where})"

    @property
    def graph(self) -> str:
        return self._graph

    # -- what is seen ------------------------------------------------------------------------------

    def _own_transaction(self) -> _Transaction | None:
        transaction = self._open
        return transaction if transaction is not None and transaction.thread == threading.get_ident() else None

    def _committed(self) -> State:
        """The newest state, others' commits included."""
        with self._reading:
            self._require_open()
            if self._file is not None:
                self._state = self._file.newest(self._state)
            return self._state

    def _view(self) -> View:
        self._require_open()
        transaction = self._own_transaction()
        return self._committed().view if transaction is None else transaction.view

    def _still_view(self) -> View:
        """`_view`, but later writes of this thread's transaction leave it as it is."""
        transaction = self._own_transaction()
        if transaction is None or not transaction.pending:
            return self._view()
        view = transaction.view
        return View(view.base, (*view.layers[:-1], transaction.pending.copy()))

    def _require_open(self) -> None:
        if self._closed:
            raise StorageClosedError(f"graph {self._graph!r:.80} was closed; open it again")

    # -- reads -------------------------------------------------------------------------------------

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        wanted = check_ids(ids)
        return self._view().get_nodes(wanted)

    def get_edges(self, keys: Iterable[tuple[str, str, str]], /) -> dict[EdgeKey, Edge]:
        wanted, view = check_keys(keys), self._view()
        return {key: edge for key in wanted if (edge := view.edge(key)) is not None}

    def iter_nodes(
        self, *, kind: str | None = None, name: str | None = None, entry: str | None = None
    ) -> Iterator[Node]:
        for value, what in ((kind, "kind"), (name, "name"), (entry, "entry")):
            if value is not None:
                check_text(value, what)
        return rows_within(self._still_view().iter_nodes(kind, name, entry), self._own_transaction)

    def iter_edges(self, *, kinds: Iterable[str] | None = None) -> Iterator[Edge]:
        return rows_within(self._still_view().iter_edges(check_kinds(kinds)), self._own_transaction)

    def incident_edges(
        self,
        ids: Iterable[str],
        /,
        *,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
        limit_per_node: int | None = None,
    ) -> dict[str, list[Edge]]:
        way, wanted = check_direction(direction), check_kinds(kinds)
        limit = None if limit_per_node is None else check_limit(limit_per_node, "limit_per_node")
        asked = check_ids(ids)
        return self._view().incident_edges(asked, direction=way, kinds=wanted, limit_per_node=limit)

    def neighborhood(
        self,
        seeds: Iterable[str],
        /,
        *,
        depth: int = 1,
        max_nodes: int = 1000,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
    ) -> Subgraph:
        seeds, view = check_ids(seeds), self._view()
        if view.layers:
            return traverse.neighborhood(
                view, seeds, depth=depth, max_nodes=max_nodes, direction=direction, kinds=kinds
            )
        check_limit(depth, "depth")
        max_nodes = check_limit(max_nodes, "max_nodes", least=1)
        way, wanted = check_direction(direction), check_kinds(kinds)
        return walk.neighborhood(view.base, seeds, depth, max_nodes, way, wanted)

    def snapshot(self, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
        wanted = check_kinds(kinds)
        self._require_open()
        transaction = self._own_transaction()
        if transaction is not None and transaction.pending:
            graph, revision = transaction.view.flat().graph, None
        else:
            state = self._committed() if transaction is None else transaction.state
            graph, revision = self._flattened(state).view.base.graph, state.revision
        return without_props(graph if wanted is None else only_kinds(graph, wanted), revision=revision)

    def _flattened(self, state: State) -> State:
        """The state without layers; kept, so that the work is done once a revision."""
        if not state.view.layers:
            return state
        flat = replace(state, view=View(state.view.flat()))
        with self._reading:
            if self._state is state:
                self._state = flat
        return flat

    def revision(self) -> int:
        transaction = self._own_transaction()
        if transaction is not None:
            self._require_open()
            return transaction.state.revision
        with self._reading:
            self._require_open()
            return self._state.revision if self._file is None else self._file.revision()

    def identity(self) -> str | None:
        with self._reading:
            self._require_open()
            return None if self._file is None else self._file.identity()

    def changes_since(self, revision: int, /) -> GraphChanges | None:
        check_revision(revision)
        transaction = self._own_transaction()
        with self._reading:
            self._require_open()
            if transaction is not None and transaction.pending:
                return None
            if self._file is not None:
                return self._file.changes_since(revision)
            return self._feed.between(revision, self._state.revision)

    def counts(self) -> GraphCounts:
        return self._view().counts()

    # -- writes ------------------------------------------------------------------------------------

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        self._require_writable()
        batch = check_nodes(nodes)
        with self._joined() as transaction:
            transaction.pending.upsert_nodes(batch)

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        self._require_writable()
        batch = check_edges(edges)
        with self._joined() as transaction:
            view = transaction.view
            ends = dict.fromkeys(node_id for key in batch for node_id in (key.source, key.target))
            missing = tuple(node_id for node_id in ends if not view.has_node(node_id))
            if missing:
                shown = ", ".join(f"{node_id!r:.80}" for node_id in missing[:10])
                raise MissingNodeError(f"edges end in {len(missing)} absent nodes: {shown}; insert them first", missing)
            transaction.pending.upsert_edges(batch)

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        self._require_writable()
        wanted = check_ids(ids)
        with self._joined() as transaction:
            view = transaction.view
            found = [node_id for node_id in wanted if view.has_node(node_id)]
            transaction.pending.delete_nodes(found)
            return len(found)

    def delete_edges(self, keys: Iterable[tuple[str, str, str]], /) -> int:
        self._require_writable()
        wanted = check_keys(keys)
        with self._joined() as transaction:
            view = transaction.view
            found = [key for key in wanted if view.edge(key) is not None]
            transaction.pending.delete_edges(found)
            return len(found)

    def clear(self) -> None:
        self._require_writable()
        with self._joined() as transaction:
            transaction.pending.clear()

    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        self._require_writable()
        self._refuse_own_transaction("bulk_load")
        base = Base.of(graph)
        with self._transaction() as transaction:
            after = State(View(base), transaction.state.revision + 1)
            if self._file is not None:
                self._file.replace(after)
            self._publish(after)

    @contextmanager
    def transaction(self) -> Generator[None]:
        self._require_writable()
        self._refuse_own_transaction("transaction")
        with self._transaction():
            yield

    @contextmanager
    def _joined(self) -> Generator[_Transaction]:
        """The transaction of this thread, or one for the length of the block."""
        own = self._own_transaction()
        if own is not None:
            yield own
            return
        with self._transaction() as transaction:
            yield transaction

    @contextmanager
    def _transaction(self) -> Generator[_Transaction]:
        with self._writing:
            self._require_open()
            state = self._committed() if self._file is None else self._file.begin(self._state)
            self._open = _Transaction(threading.get_ident(), state)
            try:
                yield self._open
                self._commit(self._open)
            finally:
                self._open = None
                if self._file is not None:
                    self._file.end()

    def _commit(self, transaction: _Transaction) -> None:
        if not transaction.pending:
            return
        self._require_open()
        before = transaction.state
        after = State(settled(before.view, transaction.pending), before.revision + 1)
        if self._file is not None:
            self._file.append(after, transaction.pending)
        else:
            self._feed.add(after.revision, transaction.pending)
        self._publish(after)

    def _publish(self, state: State) -> None:
        with self._reading:
            if state.revision > self._state.revision:
                self._state = state

    def _require_writable(self) -> None:
        self._require_open()
        if self._read_only:
            raise UnsupportedError(f"graph {self._graph!r:.80} was opened read_only; open it without to write")

    def _refuse_own_transaction(self, what: str) -> None:
        if self._own_transaction() is not None:
            raise TransactionError(f"{what} inside a transaction; end the open transaction of this thread first")

    # -- graphs and the handle -----------------------------------------------------------------------

    def graphs(self) -> list[str]:
        with self._reading:
            self._require_open()
            if self._file is not None:
                return self._file.graphs()
            return [self._graph] if self._state.exists else []

    def drop_graph(self, name: str, /) -> bool:
        self._require_writable()
        self._refuse_own_transaction("drop_graph")
        check_text(name, "graph name")
        with self._transaction() as transaction:
            if self._file is not None:
                return self._file.drop(name)
            there = name == self._graph and transaction.state.exists
            if there:
                self._publish(State(View(Base.empty()), transaction.state.revision + 1, exists=False))
            return there

    def cypher(self, *_: object, **__: object) -> NoReturn:
        self._require_open()
        raise UnsupportedError("the memory backend has no Cypher; choose the backend kuzu or age")

    def close(self) -> None:
        if self._own_transaction() is not None:
            raise TransactionError("close inside a transaction; end the open transaction of this thread first")
        with self._writing, self._reading:
            if not self._closed and self._file is not None:
                self._file.close()
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def only_kinds(graph: GraphSnapshot, kinds: frozenset[str]) -> GraphSnapshot:
    """``graph`` with the edges of those kinds alone; all its nodes."""
    chosen = np.array([kind in kinds for kind in graph.edge_kinds], dtype=bool)
    rows = np.flatnonzero(chosen[graph.edge_kind])
    table, edge_kind = canonical_kinds(graph.edge_kinds, graph.edge_kind[rows], "edge kind")
    return GraphSnapshot(
        ids=graph.ids,
        names=graph.names,
        entries=graph.entries,
        node_kinds=graph.node_kinds,
        node_kind=graph.node_kind,
        source_index=graph.source_index[rows],
        target_index=graph.target_index[rows],
        edge_kinds=table,
        edge_kind=edge_kind,
        weight=graph.weight[rows],
    )
