"""One graph's database in this process: shared by every handle, reopened when it must be."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graphport.changes import ChangeFeed
from graphport.errors import StorageBusyError, StorageError, StorageUnavailableError
from graphport_kuzu import durable
from graphport_kuzu.arrow import Table
from graphport_kuzu.attachment import Attachment, Mode
from graphport_kuzu.drivers import Settings
from graphport_kuzu.failures import may_close_after, typed_files
from graphport_kuzu.generations import IDENTITY, build, copy_for_queries
from graphport_kuzu.locks import FileLock, Gate
from graphport_kuzu.pointer import Pointer, write_pointer
from graphport_kuzu.query_process import QueryProcess
from graphport_kuzu.query_worker import Reply, Request
from graphport_kuzu.schema import DDL, EDGES, NODES
from graphport_kuzu.seals import DATABASE, WAL, seal_commit
from graphport_kuzu.session import Session

LOCK = "LOCK"
SMALL_WAL = 64 * 2**20
"""A log that takes up to 3 s to replay at the next opening (19 MB/s) is never worth a compaction."""
TRIES = 5
"""How often a reader opens again when a writer's compaction took the generation away under it."""


class Engine:
    """The database of one graph, and what it may never be asked to do kept from it.

    Reads go on side by side, each on a connection of its own: ladybug 0.22 keeps a plan per Arrow parameter
    as long as the connection lives. They wait only while the database is reopened. Whoever writes holds
    `writing`. There is one Database object per file: a second one in the same process is not refused by the
    drivers, and loses updates. ``writers`` and ``readers`` are the handles there are, kept by `engines`.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.writers = 0
        self.readers = 0
        self.feed = ChangeFeed()
        self._process = os.getpid()
        self._writing = threading.Lock()
        self._gate = Gate()
        self._lock = FileLock(folder / LOCK)
        self._queries = QueryProcess()
        self._mode = Mode.CLOSED
        self._open = Attachment(folder, settings)
        self._is_current = False
        self._seen: object = None
        self._revision = 0
        self._wal_limit = SMALL_WAL

    # -- reading ---------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Generator[Session]:
        """A session that sees one committed state, as long as the block runs."""
        self._refresh()
        with self._gate.shared():
            if not self.exists:
                yield self._session(None)
                return
            connection = self._open.connect()
            try:
                session = self._session(connection)
                session.run("BEGIN TRANSACTION READ ONLY")
                yield session
                session.run("COMMIT")
            finally:
                connection.close()

    def _session(self, connection: Any) -> Session:
        scan_up_to = self.settings.driver.scan_up_to
        return Session(connection, self._open.where, revision=self._revision, scan_up_to=scan_up_to)

    def revision(self) -> int:
        self._refresh()
        return self._revision

    def identity(self) -> str | None:
        """What the graph was given when it was made, and where it is: a copy of the folder is another; None before."""
        self.require_this_process()
        file = self.folder / IDENTITY
        with typed_files(str(file)):
            return f"{file.read_text()} {self.folder}" if file.exists() else None

    @property
    def exists(self) -> bool:
        """Whether the graph is there: false once it was dropped, until it is written again."""
        return self._open.database is not None

    def query(self, query: str, values: Mapping[str, Any]) -> Reply:
        """What a process of its own replies to a user's query about the committed graph."""
        self.require_this_process()
        return self._queries.ask(lambda: self._request(query, values))

    def _request(self, query: str, values: Mapping[str, Any]) -> Request:
        self._refresh()
        with self._gate.shared():
            return {
                "driver": self.settings.driver.name,
                "file": self._file_for_queries(),
                "state": (str(self._open.pointer), str(self._open.seal)),
                "options": self.settings.database_options(read_only=True),
                "ddl": DDL,
                "query": query,
                "values": values,
            }

    def _file_for_queries(self) -> str | None:
        opened = self._open
        if opened.pointer is None or opened.seal is None:
            return None
        if self._mode is Mode.WRITER and not self.settings.driver.reads_beside_writer:
            return str(copy_for_queries(self.folder, opened.pointer, opened.seal))
        return str(opened.generation / DATABASE)

    # -- writing ---------------------------------------------------------------------------------------

    @contextmanager
    def writing(self, timeout: float) -> Generator[None]:
        """The right to write, among the handles of this process; `StorageBusyError` after ``timeout`` seconds."""
        self._refresh()
        if not self._writing.acquire(timeout=timeout):
            raise StorageBusyError(
                f"{self.folder} is being written by another handle of this process; try again, or raise busy_timeout"
            )
        try:
            yield
        finally:
            self._writing.release()

    def transaction(self, apply: Callable[[Session], None]) -> None:
        """Runs ``apply`` in a transaction and commits it, or leaves nothing of it.

        After a failure the database is opened anew, from what is sealed: kuzu's state in memory is broken
        after a rollback. The caller holds `writing`, and the graph exists.
        """
        try:
            with self._gate.shared():
                self._commit(apply)
        except BaseException:
            self._is_current = False
            with suppress(StorageError):  # the next use tries again
                self._refresh()
            raise

    def _commit(self, apply: Callable[[Session], None]) -> None:
        opened, revision = self._open, self._revision
        assert opened.seal is not None
        connection = opened.connect()
        try:
            session = self._session(connection)
            session.run("BEGIN TRANSACTION")
            apply(session)
            try:
                session.run("COMMIT")
            except StorageError as error:
                opened.may_close = may_close_after(error)
                raise
        finally:
            connection.close()
        self._revision += 1  # and not back if sealing fails: a reader may have seen what is cut off then
        with typed_files(opened.where):
            opened.seal = seal_commit(opened.generation, opened.seal, revision + 1)

    def replace(self, nodes: Table, edges: Table) -> None:
        """Makes these rows the whole graph, as a new generation; readers have the old one until it is there.

        Ids and keys are unique, and the edges' ends among the nodes. The caller holds `writing`.
        """
        self._build(nodes, edges, self._revision + 1)

    def create(self) -> None:
        """Makes an empty graph where none exists, without a new revision. The caller holds `writing`."""
        self.feed = ChangeFeed()
        if self.identity() is None:
            with typed_files(str(self.folder)):
                durable.write_atomically(self.folder / IDENTITY, uuid.uuid4().hex)
        self._build(NODES.empty_table(), EDGES.empty_table(), self._revision)

    def compact(self, nodes: Table, edges: Table) -> None:
        """As `replace`, with the rows that the graph has anyway: its log becomes empty."""
        self._build(nodes, edges, self._revision)

    def _build(self, nodes: Table, edges: Table, revision: int) -> None:
        last = self._open.pointer
        pointer = Pointer(1 if last is None else last.number + 1)
        build(self.folder, pointer, self.settings, nodes, edges, revision)
        with self._gate.exclusive():
            self._attach()

    def drop(self) -> None:
        """Ends the graph; only its last revision is remembered. The caller holds `writing`, and the graph exists."""
        assert self._open.pointer is not None
        with typed_files(str(self.folder)):
            write_pointer(self.folder, Pointer(self._open.pointer.number, dropped_at=self._revision + 1))
        with self._gate.exclusive():
            self._attach()

    @property
    def needs_compaction(self) -> bool:
        return self._wal_size > self._wal_limit

    def postpone_compaction(self) -> None:
        """Not before the log is twice as long."""
        self._wal_limit = 2 * self._wal_size

    @property
    def _wal_size(self) -> int:
        seal = self._open.seal
        return seal.size if seal is not None and seal.file == WAL else 0

    # -- opening and closing ---------------------------------------------------------------------------

    def settle(self, timeout: float) -> None:
        """Opens, reopens or closes the database so that it fits the handles there are.

        Raises `StorageBusyError` if another process keeps it for ``timeout`` seconds; then all is as before.
        """
        with self._gate.exclusive(), typed_files(str(self.folder)):
            wanted = Mode.WRITER if self.writers else Mode.READER if self.readers else Mode.CLOSED
            if wanted is self._mode:
                return
            self._detach()
            try:
                self._take_lock(wanted, timeout)
            except StorageBusyError:
                self._take_lock(self._mode, timeout)
                raise
            self._mode = wanted
            if wanted is not Mode.CLOSED:
                self._attach()

    def _take_lock(self, mode: Mode, timeout: float) -> None:
        alone = not self.settings.driver.reads_beside_writer and self._lock.file.exists()
        if mode is Mode.WRITER:
            self._lock.acquire(shared=False, timeout=timeout)
        elif mode is Mode.READER and alone:
            self._lock.acquire(shared=True, timeout=timeout)
        else:
            self._lock.release()

    def _refresh(self) -> None:
        """Opens the database again if a writer in another process went on, or if opening it failed last time."""
        self.require_this_process()
        with typed_files(str(self.folder)):
            if self._is_current and (self._mode is Mode.WRITER or self._seen == self._open.look()):
                return
            with self._gate.exclusive():
                self._attach()

    def _attach(self) -> None:
        """Opens what counts now, from the disk. Runs alone in the gate."""
        for tries_left in reversed(range(TRIES)):
            self._detach()
            self._seen = None if self._mode is Mode.WRITER else self._open.look()
            try:
                self._open.open(self._mode)
            except StorageError:
                if self._mode is Mode.WRITER or not tries_left or self._open.look() == self._seen:
                    raise
            else:
                break
        self._is_current = True
        self._revision = max(self._revision, self._open.revision)
        if self.exists:
            self._wal_limit = max(SMALL_WAL, (self._open.generation / DATABASE).stat().st_size // 4)

    def _detach(self) -> None:
        self._is_current = False
        self._queries.rest()  # it holds the files of the generation that ends
        self._open.close()

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process opened it; a forked child did not, and its engine would hang."""
        return os.getpid() == self._process

    def require_this_process(self) -> None:
        if not self.is_of_this_process:
            raise StorageUnavailableError(f"{self.folder} was opened before a fork; open it again in this process")

    def abandon(self) -> None:
        """In a forked child: leaves everything to the parent."""
        self._open.abandon()
        self._lock.release()
