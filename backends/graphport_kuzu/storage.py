"""`GraphStorage` over an engine of this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from graphport.changes import GraphChanges, check_revision
from graphport.errors import StorageClosedError, StorageUnavailableError, TransactionError, UnsupportedError
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
    own_row,
)
from graphport.pending import PendingWrites, rows_within
from graphport.snapshot import GraphSnapshot
from graphport.traverse import check_direction, check_limit, neighborhood
from graphport_kuzu import engines, reads, writes
from graphport_kuzu.bulk import snapshot_tables
from graphport_kuzu.columns import read_columns
from graphport_kuzu.cypher import run_query
from graphport_kuzu.drivers import DRIVERS, Settings
from graphport_kuzu.engine import Engine
from graphport_kuzu.folders import graph_folder, graph_names, make_graph_folder
from graphport_kuzu.options import KuzuOptions
from graphport_kuzu.seen import Seen
from graphport_kuzu.session import Session


@dataclass
class _Transaction:
    """Open writes of one thread; nothing of them is in the engine before the commit."""

    thread: int
    pending: PendingWrites = field(default_factory=PendingWrites)


class KuzuStorage:
    """A graph in a file of Ladybug or Kuzu, one writing process at a time.

    Handles of one process share the database and may all write, one transaction at a time; a second
    writer waits ``busy_timeout`` seconds and then gets `StorageBusyError`. Another process gets that on
    opening; with ``read_only`` it may read beside a writer, and sees its commits, where the driver allows it
    (ladybug does, kuzu does not). A commit is on the disk when it returns.

    Reads take what they need at once, as Arrow columns: iterators see one state, hold its columns (about
    the size of the graph's file) until they end, and make objects of a few thousand rows at a time.
    """

    def __init__(self, options: KuzuOptions) -> None:
        driver = DRIVERS[options.driver]
        driver.load()
        self._graph = check_text(options.graph, "graph name")
        self._path = options.path.expanduser().absolute()
        self._read_only = options.read_only
        self._timeout = options.busy_timeout
        self._settings = Settings(driver, options.buffer_pool_size or _default_pool(), options.max_threads or 0)
        self._closed = False
        self._writing = threading.Lock()
        self._open: _Transaction | None = None
        self._engine = self._enlist(self._graph)

    def _enlist(self, graph: str) -> Engine:
        if self._read_only and not self._path.is_dir():
            raise StorageUnavailableError(
                f"{self._path} is no folder with graphs; open it without read_only to make one"
            )
        folder = graph_folder(self._path, graph) if self._read_only else make_graph_folder(self._path, graph)
        engine = engines.enlist(folder, self._settings, read_only=self._read_only, timeout=self._timeout)
        try:
            if not self._read_only and not engine.exists:
                with engine.writing(self._timeout):
                    if not engine.exists:
                        engine.create()
        except BaseException:
            engines.leave(engine, read_only=self._read_only)
            raise
        return engine

    def __repr__(self) -> str:
        return f"KuzuStorage(graph={self._graph!r}, path={str(self._path)!r}, driver={self._settings.driver.name!r})"

    @property
    def graph(self) -> str:
        return self._graph

    # -- reads -------------------------------------------------------------------------------------

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        wanted = check_ids(ids)
        with self._seeing() as seen:
            return seen.get_nodes(wanted)

    def get_edges(self, keys: Iterable[tuple[str, str, str]], /) -> dict[EdgeKey, Edge]:
        wanted = check_keys(keys)
        with self._seeing() as seen:
            return seen.get_edges(wanted)

    def iter_nodes(
        self, *, kind: str | None = None, name: str | None = None, entry: str | None = None
    ) -> Iterator[Node]:
        for value, what in ((kind, "kind"), (name, "name"), (entry, "entry")):
            if value is not None:
                check_text(value, what)
        pending = self._pending().copy()
        with self._reading() as session:
            nodes = reads.select_nodes(session, kind=kind, name=name, entry=entry)
        if pending:
            nodes = (
                own_row(node)
                for node in pending.merge_nodes(nodes)
                if kind in (None, node.kind) and name in (None, node.name) and entry in (None, node.entry)
            )
        return rows_within(nodes, self._own_transaction)

    def iter_edges(self, *, kinds: Iterable[str] | None = None) -> Iterator[Edge]:
        wanted = check_kinds(kinds)
        pending = self._pending().copy()
        with self._reading() as session:
            edges = read_columns(session, wanted, props=True).iter_edges()
        if pending:
            edges = map(own_row, pending.merge_edges(edges, wanted))
        return rows_within(edges, self._own_transaction)

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
        with self._seeing() as seen:
            return seen.incident_edges(asked, direction=way, kinds=wanted, limit_per_node=limit)

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
        seeds = check_ids(seeds)
        with self._seeing() as seen:
            return neighborhood(seen, seeds, depth=depth, max_nodes=max_nodes, direction=direction, kinds=kinds)

    def snapshot(self, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
        wanted = check_kinds(kinds)
        pending = self._pending()
        with self._reading() as session:
            columns = read_columns(session, None if pending else wanted, props=bool(pending))
        if not pending:
            return columns.snapshot(session.revision)
        return columns.merged(pending).of_kinds(wanted).snapshot(None)

    def revision(self) -> int:
        self._require_open()
        return self._engine.revision()

    def identity(self) -> str | None:
        self._require_open()
        return self._engine.identity()

    def changes_since(self, revision: int, /) -> GraphChanges | None:
        """As promised; the feed knows the commits of this process, the last ones, and forgets them with it."""
        check_revision(revision)
        self._require_open()
        if self._pending():
            return None
        return self._engine.feed.between(revision, self._engine.revision())

    def counts(self) -> GraphCounts:
        pending = self._pending()
        with self._reading() as session:
            if not pending:
                return reads.counts(session)
            columns = read_columns(session, props=True)
        return columns.merged(pending).counts()

    def cypher(
        self, query: str, params: Mapping[str, Any] | None = None, /, *, columns: Iterable[str] = ("result",)
    ) -> list[tuple[Any, ...]]:
        """Rows of a query that reads; see `graphport_kuzu.cypher` for what is refused."""
        self._require_open()
        if self._pending():
            raise TransactionError(
                "cypher after writes of an open transaction, which it could not see; commit them first"
            )
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        return run_query(self._engine, query, params or {}, names)

    # -- writes ------------------------------------------------------------------------------------

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        self._require_writable()
        batch = check_nodes(nodes)
        with self._joined() as pending:
            pending.upsert_nodes(batch)

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        self._require_writable()
        batch = check_edges(edges)
        with self._joined() as pending:
            with self._reading() as session:
                writes.require_ends(session, pending, batch)
            pending.upsert_edges(batch)

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        self._require_writable()
        wanted = check_ids(ids)
        with self._joined() as pending:
            with self._reading() as session:
                there = reads.existing(session, [node_id for node_id in wanted if not pending.hides_node(node_id)])
            gone = [node_id for node_id in wanted if node_id in there or node_id in pending.nodes]
            pending.delete_nodes(gone)
            return len(gone)

    def delete_edges(self, keys: Iterable[tuple[str, str, str]], /) -> int:
        self._require_writable()
        wanted = check_keys(keys)
        with self._joined() as pending:
            there = self.get_edges(wanted)
            pending.delete_edges(there)
            return len(there)

    def clear(self) -> None:
        self._require_writable()
        with self._joined() as pending:
            pending.clear()

    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        self._require_writable()
        self._refuse_own_transaction("bulk_load")
        nodes, edges = snapshot_tables(graph)
        with self._transaction():
            self._engine.replace(nodes, edges)

    @contextmanager
    def transaction(self) -> Generator[None]:
        self._require_writable()
        self._refuse_own_transaction("transaction")
        with self._transaction():
            yield

    @contextmanager
    def _joined(self) -> Generator[PendingWrites]:
        """The writes of this thread's transaction, or of one for the length of the block."""
        own = self._own_transaction()
        if own is not None:
            yield own.pending
            return
        with self._transaction() as pending:
            yield pending

    @contextmanager
    def _transaction(self) -> Generator[PendingWrites]:
        with self._writing:
            self._require_open()
            with self._engine.writing(self._timeout):
                self._open = _Transaction(threading.get_ident())
                try:
                    yield self._open.pending
                    if self._open.pending:
                        writes.commit(self._engine, self._open.pending)
                finally:
                    self._open = None

    def _own_transaction(self) -> _Transaction | None:
        transaction = self._open
        return transaction if transaction is not None and transaction.thread == threading.get_ident() else None

    def _pending(self) -> PendingWrites:
        own = self._own_transaction()
        return PendingWrites() if own is None else own.pending

    @contextmanager
    def _reading(self) -> Generator[Session]:
        self._require_open()
        with self._engine.reading() as session:
            yield session

    @contextmanager
    def _seeing(self) -> Generator[Seen]:
        with self._reading() as session:
            yield Seen(session, self._pending())

    def _require_open(self) -> None:
        self._engine.require_this_process()
        if self._closed:
            raise StorageClosedError(f"graph {self._graph!r:.80} was closed; open it again")

    def _require_writable(self) -> None:
        self._require_open()
        if self._read_only:
            raise UnsupportedError(f"graph {self._graph!r:.80} was opened read_only; open it without to write")

    def _refuse_own_transaction(self, what: str) -> None:
        if self._own_transaction() is not None:
            raise TransactionError(f"{what} inside a transaction; end the open transaction of this thread first")

    # -- graphs and the handle ---------------------------------------------------------------------

    def graphs(self) -> list[str]:
        self._require_open()
        return graph_names(self._path)

    def drop_graph(self, name: str, /) -> bool:
        self._require_writable()
        self._refuse_own_transaction("drop_graph")
        check_text(name, "graph name")
        if name == self._graph:
            with self._writing:
                return _drop(self._engine, self._timeout)
        if name not in graph_names(self._path):
            return False
        engine = engines.enlist(graph_folder(self._path, name), self._settings, read_only=False, timeout=self._timeout)
        try:
            return _drop(engine, self._timeout)
        finally:
            engines.leave(engine, read_only=False)

    def close(self) -> None:
        if not self._engine.is_of_this_process:
            self._closed = True
            return
        if self._own_transaction() is not None:
            raise TransactionError("close inside a transaction; end the open transaction of this thread first")
        with self._writing:
            if not self._closed:
                self._closed = True
                engines.leave(self._engine, read_only=self._read_only)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


def _drop(engine: Engine, timeout: float) -> bool:
    with engine.writing(timeout):
        there = engine.exists
        if there:
            engine.drop()
        return there


def _default_pool() -> int:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(2 * 2**30, memory // 4)
