"""One graph's database in this process: opened once, shared by every handle, reopened when it must be."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from graphport.errors import StorageBusyError, StorageCorruptError, StorageError, StorageUnavailableError
from graphport_kuzu.arrow import Table
from graphport_kuzu.drivers import Driver, require_own_file
from graphport_kuzu.failures import DriverFailures, opening_error, typed, typed_files
from graphport_kuzu.generations import build, require_pointer, set_aside, sweep
from graphport_kuzu.locks import FileLock, Gate
from graphport_kuzu.pointer import Pointer, read_pointer, write_pointer
from graphport_kuzu.schema import EDGES, NODES
from graphport_kuzu.seals import DATABASE, WAL, Seal, inspect, repair, seal_commit, seals_size
from graphport_kuzu.session import Session

LOCK = "LOCK"
SMALL_WAL = 64 * 2**20
"""A log that takes up to 3 s to replay at the next opening (19 MB/s) is never worth a compaction."""
TRIES = 5
"""How often a reader opens again when a writer's compaction took the generation away under it."""


class Mode(Enum):
    CLOSED = "closed"
    READER = "reader"
    WRITER = "writer"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the engine is opened with; ``max_threads`` 0 leaves it to the driver."""

    driver: Driver
    buffer_pool_size: int
    max_threads: int


class Engine:
    """The database of one graph, and what it may never be asked to do kept from it.

    Reads go on side by side, each on a connection of its own: ladybug 0.22 keeps a plan per Arrow parameter
    as long as the connection lives. They wait only while the database is reopened. Whoever writes holds
    `writing`. There is one Database object per file: a second one in the same process is not refused by the
    drivers, and loses updates.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.writers = 0
        self.readers = 0
        self._process = os.getpid()
        self._writing = threading.Lock()
        self._gate = Gate()
        self._lock = FileLock(folder / LOCK)
        self._mode = Mode.CLOSED
        self._attached = False
        self._database: Any = None
        self._pointer: Pointer | None = None
        self._seal: Seal | None = None
        self._revision = 0
        self._wal_limit = SMALL_WAL
        self._seen: object = None

    # -- reading ---------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Generator[Session]:
        """A session that sees one committed state, as long as the block runs."""
        self._refresh()
        with self._gate.shared():
            if self._database is None:
                yield Session(None, self._where, self._revision)
                return
            connection = self._connect()
            try:
                session = Session(connection, self._where, self._revision)
                session.run("BEGIN TRANSACTION READ ONLY")
                yield session
                session.run("COMMIT")
            finally:
                connection.close()

    def revision(self) -> int:
        self._refresh()
        return self._revision

    @property
    def exists(self) -> bool:
        """Whether the graph is there: false once it was dropped, until it is written again."""
        return self._database is not None

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process opened it; a forked child did not, and its engine would hang."""
        return os.getpid() == self._process

    def require_this_process(self) -> None:
        if not self.is_of_this_process:
            raise StorageUnavailableError(f"{self.folder} was opened before a fork; open it again in this process")

    def _refresh(self) -> None:
        """Opens the database again if a writer in another process went on, or if opening it failed last time."""
        self.require_this_process()
        if self._attached and (self._mode is Mode.WRITER or self._seen == self._look()):
            return
        with self._gate.exclusive():
            self._attach()

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
            self._attached = False
            self._revision += 1  # a reader may have seen what was not sealed; no number means two things
            with suppress(StorageError):  # the next use tries again
                self._refresh()
            raise

    def _commit(self, apply: Callable[[Session], None]) -> None:
        assert self._pointer is not None
        assert self._seal is not None
        connection = self._connect()
        try:
            session = Session(connection, self._where, self._revision)
            session.run("BEGIN TRANSACTION")
            apply(session)
            session.run("COMMIT")
        finally:
            connection.close()
        with typed_files(self._where):
            self._seal = seal_commit(self.folder / self._pointer.folder_name, self._seal, self._revision + 1)
        self._revision += 1

    def replace(self, nodes: Table, edges: Table) -> None:
        """Makes these rows the whole graph, as a new generation; readers have the old one until it is there.

        Ids and keys are unique, and the edges' ends among the nodes. The caller holds `writing`.
        """
        self._build(nodes, edges, self._revision + 1)

    def create(self) -> None:
        """Makes an empty graph where none exists, without a new revision. The caller holds `writing`."""
        self._build(NODES.empty_table(), EDGES.empty_table(), self._revision)

    def compact(self, nodes: Table, edges: Table) -> None:
        """As `replace`, with the rows that the graph has anyway: its log becomes empty."""
        self._build(nodes, edges, self._revision)

    def _build(self, nodes: Table, edges: Table, revision: int) -> None:
        pointer = Pointer(1 if self._pointer is None else self._pointer.number + 1)
        build(self.folder, pointer, self._open_new, nodes, edges, revision)
        with self._gate.exclusive():
            self._attach()

    def _open_new(self, file: Path) -> tuple[Any, Any]:
        database = self._open(file, read_only=False)
        return database, self.settings.driver.load().Connection(database)

    def drop(self) -> None:
        """Ends the graph; only its last revision is remembered. The caller holds `writing`, and the graph exists."""
        assert self._pointer is not None
        with typed_files(str(self.folder)):
            write_pointer(self.folder, Pointer(self._pointer.number, dropped_at=self._revision + 1))
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
        return self._seal.size if self._seal is not None and self._seal.file == WAL else 0

    # -- opening and closing ---------------------------------------------------------------------------

    def settle(self, timeout: float) -> None:
        """Opens, reopens or closes the database so that it fits the handles there are.

        Raises `StorageBusyError` if another process keeps it for ``timeout`` seconds; then all is as before.
        """
        with self._gate.exclusive():
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
        beside = self.settings.driver.reads_beside_writer or not self._lock.file.exists()
        if mode is Mode.WRITER:
            self._lock.acquire(shared=False, timeout=timeout)
        elif mode is Mode.READER and not beside:
            self._lock.acquire(shared=True, timeout=timeout)
        else:
            self._lock.release()

    def _attach(self) -> None:
        """Opens what counts now, from the disk. Runs alone in the gate."""
        for tries_left in reversed(range(TRIES)):
            self._detach()
            self._seen = None if self._mode is Mode.WRITER else self._look()
            try:
                self._open_current()
            except StorageError:
                if self._mode is Mode.WRITER or not tries_left or self._look() == self._seen:
                    raise
            else:
                self._attached = True
                return

    def _look(self) -> tuple[Pointer | None, int]:
        """What changes whenever somebody commits."""
        pointer = read_pointer(self.folder)
        return pointer, 0 if pointer is None else seals_size(self.folder / pointer.folder_name)

    def _detach(self) -> None:
        database, self._database = self._database, None
        self._attached = False
        if database is not None:
            with typed(self._where):
                database.close()

    def _open_current(self) -> None:
        try:
            self._pointer = require_pointer(self.folder)
            if self._mode is Mode.WRITER:
                sweep(self.folder, self._pointer)
            if self._pointer is None or self._pointer.dropped_at is not None:
                self._seal = None
                self._revision = max(self._revision, self._pointer.dropped_at or 0 if self._pointer else 0)
            else:
                self._open_generation(self.folder / self._pointer.folder_name)
        except StorageCorruptError as error:
            if self._mode is not Mode.WRITER:
                raise
            raise set_aside(self.folder, error) from error

    def _open_generation(self, place: Path) -> None:
        with typed_files(str(place)):
            require_own_file(self.settings.driver, place / DATABASE)
            found = inspect(place)
            if self._mode is Mode.WRITER and not found.is_clean:
                repair(place, found)
        beside_writer = self.settings.driver.reads_beside_writer and not found.is_short
        if self._mode is Mode.READER and not found.is_clean and not beside_writer:
            raise StorageUnavailableError(
                f"{place} ends in a write that was cut off; open it once without read_only, which repairs it"
            )
        self._database = self._open(place / DATABASE, read_only=self._mode is Mode.READER)
        self._seal = found.good
        self._revision = max(self._revision, found.good.revision)
        self._wal_limit = max(SMALL_WAL, (place / DATABASE).stat().st_size // 4)

    def _open(self, file: Path, *, read_only: bool) -> Any:
        settings = self.settings
        try:
            database = settings.driver.open(
                file,
                read_only=read_only,
                buffer_pool_size=settings.buffer_pool_size,
                max_threads=settings.max_threads,
            )
        except DriverFailures as error:
            raise opening_error(error, str(file)) from error
        if not read_only:
            with typed(str(file)):
                connection = settings.driver.load().Connection(database)
                connection.execute("CALL force_checkpoint_on_close=false").close()
                connection.close()
        return database

    def _connect(self) -> Any:
        with typed(self._where):
            return self.settings.driver.load().Connection(self._database)

    @property
    def _where(self) -> str:
        return str(self.folder if self._pointer is None else self.folder / self._pointer.folder_name / DATABASE)

    def abandon(self) -> None:
        """In a forked child: leaves the database to the parent.

        Its threads are not in the child, and ending it there would wait for them forever, at the child's
        normal exit too. So it is never ended: one more reference than there are.
        """
        if self._database is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._database))
        self._lock.release()
