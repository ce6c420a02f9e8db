"""The file behind a durable graph: per graph a base in columns and the batches committed since, in SQLite."""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections import defaultdict
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from graphport.changes import GraphChanges
from graphport.errors import (
    StorageBusyError,
    StorageCorruptError,
    StorageError,
    StorageFormatError,
    StorageFullError,
    StorageUnavailableError,
)
from graphport.pending import PendingWrites
from graphport_memory.base import Base
from graphport_memory.codec import decode_base, decode_batch, encode_base, encode_batch
from graphport_memory.state import State
from graphport_memory.view import View, settled

APPLICATION_ID = 0x67726170
FORMAT = 2
PART = 8 * 2**20
"""Bytes of a column in one row: SQLite keeps a row in memory whole while it writes it."""
SMALL_LOG = 2**20
"""Bytes of batches that never make a new base worth it."""

# `graphs` keeps the row of a dropped graph, so that its revision never falls back to one that was seen before.
_SCHEMA = f"""
CREATE TABLE graphs (
    graph INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, present INTEGER NOT NULL DEFAULT 1,
    identity TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))),
    revision INTEGER NOT NULL DEFAULT 0, base_revision INTEGER NOT NULL DEFAULT 0,
    base_bytes INTEGER NOT NULL DEFAULT 0, log_bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE columns (
    graph INTEGER NOT NULL, name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, crc INTEGER NOT NULL,
    PRIMARY KEY (graph, name, part));
CREATE TABLE batches (
    graph INTEGER NOT NULL, revision INTEGER NOT NULL, batch BLOB NOT NULL, crc INTEGER NOT NULL,
    PRIMARY KEY (graph, revision));
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT};
"""


class _Place(NamedTuple):
    """Where a graph stands; all 0 for one that is not there."""

    graph: int
    revision: int
    base_revision: int


class GraphFile:
    """One named graph in one file. Calls that read and calls that write may come from two threads, not from more."""

    def __init__(self, path: Path, graph: str, read_only: bool, busy_timeout: float) -> None:
        self.path = path.expanduser().absolute()
        self._name = graph
        self._read_only = read_only
        self._timeout = busy_timeout
        self._process = os.getpid()
        self._seen = -1
        with self._typed(), ExitStack() as opened:
            self._writer = None if read_only else opened.enter_context(closing(self._connect("rwc")))
            if self._writer is not None:
                self._prepare(self._writer)
                self._register(self._writer)
            self._reader = opened.enter_context(closing(self._connect("ro")))
            self._require_ours(self._reader)
            self._opened = self._place_on_disk()
            opened.pop_all()  # from here on `close` closes them

    def newest(self, state: State) -> State:
        """``state`` with what others committed since; one cheap query when there is nothing."""
        self._require_usable()
        with self._typed():
            (version,) = self._reader.execute("PRAGMA data_version").fetchone()
            if version == self._seen:
                return state
            self._reader.execute("BEGIN")
            try:
                newest = self._caught_up(self._reader, state)
            finally:
                self._reader.execute("ROLLBACK")
            self._seen = version
            return newest

    def begin(self, state: State) -> State:
        """Takes the write lock, waiting for it as long as allowed; returns the newest state."""
        self._require_usable()
        with self._typed():
            self._writing.execute("BEGIN IMMEDIATE")
            try:
                return self._caught_up(self._writing, state)
            except BaseException:
                self.end()
                raise

    def append(self, state: State, writes: PendingWrites) -> None:
        """Commits ``writes``, which lead to ``state``; makes a new base when the batches outweigh the old one."""
        batch = encode_batch(writes)
        with self._typed():
            graph, base_bytes, log_bytes = self._writing.execute(
                "SELECT graph, base_bytes, log_bytes FROM graphs WHERE name = ?", (self._name,)
            ).fetchone()
            log_bytes += len(batch)
            if log_bytes > max(SMALL_LOG, base_bytes):
                self._write_base(graph, state)
            else:
                self._writing.execute(
                    "INSERT INTO batches VALUES (?, ?, ?, ?)", (graph, state.revision, batch, zlib.crc32(batch))
                )
                self._writing.execute(
                    "UPDATE graphs SET revision = ?, log_bytes = ?, present = 1 WHERE graph = ?",
                    (state.revision, log_bytes, graph),
                )
            self._writing.execute("COMMIT")

    def replace(self, state: State) -> None:
        """Commits ``state`` as a new base."""
        with self._typed():
            (graph,) = self._writing.execute("SELECT graph FROM graphs WHERE name = ?", (self._name,)).fetchone()
            self._write_base(graph, state)
            self._writing.execute("COMMIT")

    def drop(self, name: str) -> bool:
        """Commits the end of that graph; False if there is none."""
        with self._typed():
            row = self._writing.execute("SELECT graph FROM graphs WHERE name = ? AND present", (name,)).fetchone()
            if row is None:
                return False
            self._writing.execute("DELETE FROM columns WHERE graph = ?", row)
            self._writing.execute("DELETE FROM batches WHERE graph = ?", row)
            self._writing.execute(
                "UPDATE graphs SET present = 0, revision = revision + 1, base_revision = revision + 1, "
                "base_bytes = 0, log_bytes = 0 WHERE graph = ?",
                row,
            )
            self._writing.execute("COMMIT")
            return True

    def end(self) -> None:
        """Gives the write lock up; what was not committed is undone."""
        if self._writing.in_transaction:
            with self._typed():
                self._writing.execute("ROLLBACK")

    def identity(self) -> str | None:
        """What the graph was given when it was made, and where it is: a copy of the file is another; None before."""
        self._require_usable()
        with self._typed():
            row = self._reader.execute("SELECT identity FROM graphs WHERE name = ?", (self._name,)).fetchone()
        return None if row is None else f"{row[0]} {self.path.resolve()}"

    def revision(self) -> int:
        """The newest one; reads nothing of the graph."""
        self._require_usable()
        with self._typed():
            return self._place(self._reader).revision

    def changes_since(self, since: int) -> GraphChanges | None:
        """What was committed after ``since``; None where a base took its batches in."""
        self._require_usable()
        with self._typed():
            self._reader.execute("BEGIN")
            try:
                place = self._place(self._reader)
                if not place.base_revision <= since <= place.revision:
                    return GraphChanges(since, {}, {}) if since == place.revision else None
                writes = self._read_batches(self._reader, place.graph, since, place.revision)
            finally:
                self._reader.execute("ROLLBACK")
        return None if writes.cleared else GraphChanges.of(writes, place.revision)

    def graphs(self) -> list[str]:
        with self._typed():
            rows = self._reader.execute("SELECT name FROM graphs WHERE present").fetchall()
        return sorted(name for (name,) in rows)

    def close(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()

    @property
    def _writing(self) -> sqlite3.Connection:
        assert self._writer is not None, "a read-only handle never gets here"
        return self._writer

    # -- opening -----------------------------------------------------------------------------------

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,  # MemoryStorage's locks keep threads apart
        )
        try:
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:  # a file that is no database, say
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if _is_empty(connection):
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA.split(";") if _is_empty(connection) else ():
                connection.execute(statement)
            connection.execute("COMMIT")
        self._require_ours(connection)
        self._use_wal(connection)

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        # This switch alone gets SQLITE_BUSY without waiting, while somebody else is opening the new file.
        deadline = time.monotonic() + self._timeout
        while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _require_ours(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise StorageCorruptError(f"{self.path} is an SQLite file of something else; name another file")
        if version != FORMAT:
            raise StorageFormatError(
                f"{self.path} has format {version}, this graphport reads {FORMAT}; use the version that wrote it"
            )

    def _register(self, connection: sqlite3.Connection) -> None:
        # Looks first: who opens a graph that is there does not wait for whoever writes it.
        if connection.execute("SELECT 1 FROM graphs WHERE name = ? AND present", (self._name,)).fetchone() is None:
            connection.execute(
                "INSERT INTO graphs (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET present = 1", (self._name,)
            )

    # -- reading -----------------------------------------------------------------------------------

    def _place(self, connection: sqlite3.Connection) -> _Place:
        row = connection.execute(
            "SELECT graph, revision, base_revision FROM graphs WHERE name = ?", (self._name,)
        ).fetchone()
        if row is None:  # only a read-only handle may look for a graph that nobody ever opened
            return _Place(0, 0, 0)
        if not isinstance(row[1], int) or not isinstance(row[2], int):
            raise self._corrupt(f"graph {self._name!r:.80} has no revision")
        return _Place(*row)

    def _caught_up(self, connection: sqlite3.Connection, state: State) -> State:
        graph, revision, base_revision = self._place(connection)
        if revision == state.revision:
            return state
        view = state.view
        start = state.revision
        if start < base_revision:
            view, start = View(self._read_base(connection, graph)), base_revision
        writes = self._read_batches(connection, graph, start, revision)
        return State(settled(view, writes) if writes else view, revision)

    def _read_base(self, connection: sqlite3.Connection, graph: int) -> Base:
        parts: dict[str, list[bytes]] = defaultdict(list)
        rows = connection.execute("SELECT name, data, crc FROM columns WHERE graph = ? ORDER BY name, part", (graph,))
        for name, data, crc in rows:
            if not _is_sound(data, crc):
                raise self._corrupt(f"column {name} of graph {self._name!r:.80} fails its checksum")
            parts[name].append(data)
        if not parts:
            return Base.empty()
        try:
            return decode_base({name: b"".join(part) for name, part in parts.items()})
        except (KeyError, TypeError, ValueError) as error:
            raise self._corrupt(f"columns of graph {self._name!r:.80} do not fit together") from error

    def _read_batches(self, connection: sqlite3.Connection, graph: int, start: int, end: int) -> PendingWrites:
        writes = PendingWrites()
        rows = connection.execute(
            "SELECT revision, batch, crc FROM batches WHERE graph = ? AND revision > ? ORDER BY revision",
            (graph, start),
        )
        for expected, (revision, batch, crc) in zip(range(start + 1, end + 1), rows, strict=False):
            if revision != expected or not _is_sound(batch, crc):
                raise self._corrupt(f"batch {expected} of graph {self._name!r:.80} is missing or fails its checksum")
            try:
                writes.absorb(decode_batch(batch))
            except (KeyError, TypeError, ValueError) as error:
                raise self._corrupt(f"batch {revision} of graph {self._name!r:.80} makes no sense") from error
            start = revision
        if start != end:
            raise self._corrupt(f"batch {start + 1} of graph {self._name!r:.80} is missing")
        return writes

    def _write_base(self, graph: int, state: State) -> None:
        connection = self._writing
        connection.execute("DELETE FROM columns WHERE graph = ?", (graph,))
        connection.execute("DELETE FROM batches WHERE graph = ?", (graph,))
        size = 0
        for name, data in encode_base(state.view.flat()):
            for part, start in enumerate(range(0, max(len(data), 1), PART)):
                piece = data[start : start + PART]
                connection.execute(
                    "INSERT INTO columns VALUES (?, ?, ?, ?, ?)", (graph, name, part, piece, zlib.crc32(piece))
                )
                size += len(piece)
        connection.execute(
            "UPDATE graphs SET revision = ?, base_revision = ?, base_bytes = ?, log_bytes = 0, present = 1 "
            "WHERE graph = ?",
            (state.revision, state.revision, size, graph),
        )

    # -- what can go wrong -------------------------------------------------------------------------

    def _corrupt(self, what: str) -> StorageCorruptError:
        return StorageCorruptError(f"{self.path}: {what}; restore the file, or delete it and build the graph again")

    def _require_usable(self) -> None:
        if os.getpid() != self._process:
            raise StorageUnavailableError(f"{self.path} was opened before a fork; open it again in this process")
        # SQLite goes on with a file that has no name any more, and what it commits there is lost at close.
        if self._place_on_disk() != self._opened:
            raise StorageUnavailableError(
                f"{self.path} was deleted or replaced while it was open; close this handle and open the graph again"
            )

    def _place_on_disk(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def _typed(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._storage_error(error) from error

    def _storage_error(self, error: sqlite3.Error) -> StorageError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # no code: text that is no UTF-8
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StorageBusyError(
                f"{self.path} is being written by someone else for more than {self._timeout} s; "
                "try again, or raise busy_timeout"
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self._corrupt(str(error))
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG):
            return StorageFullError(f"{self.path}: {error}; make room and try again")
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_IOERR_WRITE":  # a quota or a limit of file sizes; a disk without room is SQLITE_FULL
            return StorageFullError(f"{self.path}: {error}, while writing; look for a quota or a limit of file sizes")
        if code == sqlite3.SQLITE_CANTOPEN:
            return StorageUnavailableError(f"{self.path}: {error}; {self._why_not_opened()}")
        if code == sqlite3.SQLITE_READONLY and self._read_only:
            return StorageUnavailableError(
                f"{self.path}: {error}; to read, too, SQLite must write beside the file: copy it into a folder of yours"
            )
        return StorageUnavailableError(f"{self.path}: {error}; check the folder and its permissions")

    def _why_not_opened(self) -> str:
        if self.path.is_dir():
            return "it is a folder, and a graph of this backend is a file: name one in it"
        if not self.path.parent.is_dir():
            return "make its folder first"
        if self._read_only and not self.path.exists():
            return "there is no such file: open it once without read_only to make it"
        return "check the folder and its permissions"


def _is_empty(connection: sqlite3.Connection) -> bool:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(tables == 0)


def _is_sound(data: object, crc: object) -> bool:
    return isinstance(data, bytes) and zlib.crc32(data) == crc
