"""The truth: one SQLite file that holds everything a knowledge base cannot compute again.

Entries, vectors, facts and the gazetteer's runtime layer are here; every index is derived from it. One
user action is one transaction, and each transaction moves ``revision`` by one.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from graphport.errors import (
    StorageBusyError,
    StorageClosedError,
    StorageCorruptError,
    StorageError,
    StorageFullError,
    StorageUnavailableError,
)

SCHEMA_VERSION = 1
BUSY_SECONDS = 10.0

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,          -- relative to its source, or 'entry:ID' for an entry added by hand
    source TEXT NOT NULL DEFAULT '',    -- the folder or file it was indexed from
    digest TEXT NOT NULL,               -- of its content
    size INTEGER NOT NULL DEFAULT -1,   -- as last seen on disk: unchanged size and time, unread file
    mtime_ns INTEGER NOT NULL DEFAULT -1,
    builder TEXT NOT NULL,
    builder_version INTEGER NOT NULL,
    data TEXT NOT NULL,                 -- Extraction.data
    warnings TEXT NOT NULL
);
CREATE TABLE entries (
    id TEXT PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    ord INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    names TEXT NOT NULL,
    meta TEXT NOT NULL,
    flagged INTEGER NOT NULL,
    valid_to REAL
);
CREATE INDEX entries_document ON entries (document, ord);
CREATE INDEX entries_valid_to ON entries (valid_to) WHERE valid_to IS NOT NULL;
CREATE INDEX entries_flagged ON entries (id) WHERE flagged;
CREATE TABLE vectors (entry TEXT PRIMARY KEY REFERENCES entries ON DELETE CASCADE, vector BLOB NOT NULL);
CREATE TABLE definitions (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    ord INTEGER NOT NULL,
    name TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (document, ord)
) WITHOUT ROWID;
CREATE INDEX definitions_name ON definitions (name);
CREATE TABLE lookups (                  -- names that a document's links depend on
    name TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    PRIMARY KEY (name, document)
) WITHOUT ROWID;
CREATE INDEX lookups_document ON lookups (document);
CREATE TABLE stale_documents (document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE);
CREATE TABLE node_facts (
    entry TEXT NOT NULL REFERENCES entries ON DELETE CASCADE,
    owner TEXT NOT NULL,                -- 'document' (its builder) or 'mentions'
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    stands INTEGER NOT NULL,
    props TEXT NOT NULL
);
CREATE INDEX node_facts_entry ON node_facts (entry, owner);
CREATE INDEX node_facts_id ON node_facts (id, entry);
CREATE TABLE facts (
    entry TEXT NOT NULL REFERENCES entries ON DELETE CASCADE,
    owner TEXT NOT NULL,
    source TEXT NOT NULL,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    weight REAL NOT NULL,
    props TEXT NOT NULL
);
CREATE INDEX facts_entry ON facts (entry, owner);
CREATE INDEX facts_key ON facts (source, target, kind, entry);
CREATE INDEX facts_target ON facts (target);
CREATE TABLE forms (                    -- surface forms that mentions are found by
    form TEXT NOT NULL,
    folded TEXT NOT NULL,               -- equal for spellings that one text would mention
    entry TEXT NOT NULL REFERENCES entries ON DELETE CASCADE,
    PRIMARY KEY (entry, form)
) WITHOUT ROWID;
CREATE INDEX forms_form ON forms (form);
CREATE INDEX forms_folded ON forms (folded);
CREATE TABLE stale_forms (form TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE runtime_entities (
    id TEXT PRIMARY KEY, type TEXT NOT NULL, names TEXT NOT NULL, ord INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE changes (                  -- what the derived indexes have not taken in yet
    what TEXT NOT NULL,                 -- 'entry', 'node', 'edge', or 'name' (folded)
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (what, key)
) WITHOUT ROWID;
CREATE INDEX changes_revision ON changes (what, revision);
CREATE TABLE derived (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
"""


class Truth:
    """The SQLite file of one knowledge base; ``path`` None keeps it in memory.

    Threads share one connection under a lock. Raises `StorageCorruptError` for a file that is no
    knowledge base or damaged, `StorageBusyError` when another process holds the write lock for more
    than ``busy_seconds``.
    """

    def __init__(self, path: Path | None, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self.lock = threading.RLock()
        self._depth = 0
        self._open: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        with sqlite_errors(path):
            connection = sqlite3.connect(
                ":memory:" if path is None else path,
                timeout=busy_seconds,
                isolation_level=None,
                check_same_thread=False,
            )
        self._open = connection
        try:
            with sqlite_errors(path):
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._file = None if path is None else _file_at(path)

    @property
    def is_there(self) -> bool:
        """Whether the file is still the one that was opened. What is written to one that was deleted is lost."""
        return self.path is None or self._file is None or _file_at(self.path) == self._file

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA cache_size = -65536")
        with self.write():
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                for statement in _SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute("INSERT INTO meta VALUES ('schema', ?), ('revision', '0')", (str(SCHEMA_VERSION),))
        found = self.meta("schema")
        if found != str(SCHEMA_VERSION):
            raise StorageCorruptError(
                f"{self.path} has schema version {found}, this graphport reads {SCHEMA_VERSION}; "
                "use the version that wrote it, or index into a new knowledge base"
            )

    @property
    def db(self) -> sqlite3.Connection:
        """The connection; hold `lock` (or be inside `read` or `write`) while using it."""
        if self._open is None:
            raise StorageClosedError("the knowledge base is closed; open it again")
        return self._open

    @contextmanager
    def read(self) -> Generator[sqlite3.Connection]:
        """One consistent view of the truth, for as long as the block lasts."""
        with self.lock, sqlite_errors(self.path):
            if self._depth or self.db.in_transaction:
                yield self.db
                return
            self.db.execute("BEGIN")
            try:
                yield self.db
            finally:
                self.db.execute("COMMIT")

    @contextmanager
    def write(self) -> Generator[sqlite3.Connection]:
        """One transaction: committed at the end, undone by any exception. Blocks may nest; the outermost commits.

        Raises `StorageUnavailableError` for a file that was deleted or replaced since it was opened.
        """
        with self.lock, sqlite_errors(self.path):
            db = self.db
            if self._depth:
                yield db
                return
            if not self.is_there:
                raise StorageUnavailableError(
                    f"{self.path} was deleted or replaced since it was opened; nothing was written, open it again"
                )
            db.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            finally:
                self._depth = 0

    @contextmanager
    def scratch(self) -> Generator[sqlite3.Connection]:
        """A transaction that is always undone: for asking what would be if."""
        with self.lock, sqlite_errors(self.path):
            self.db.execute("BEGIN IMMEDIATE")
            self._depth = 1
            try:
                yield self.db
            finally:
                self._depth = 0
                self.db.execute("ROLLBACK")

    def revision(self) -> int:
        """Revision last committed (or, inside `write`, reached)."""
        with self.lock, sqlite_errors(self.path):
            row = self.db.execute("SELECT value FROM meta WHERE key = 'revision'").fetchone()
        return int(row[0])

    def next_revision(self) -> int:
        """Moves the revision by one; call it once in each `write` that changes something."""
        with self.write() as db:
            db.execute("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'revision'")
        return self.revision()

    def meta(self, key: str) -> str | None:
        with self.lock, sqlite_errors(self.path):
            try:
                row = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
            except sqlite3.OperationalError as error:
                raise StorageCorruptError(f"{self.path} is an SQLite file but no knowledge base: {error}") from error
        return None if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        with self.write() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def close(self) -> None:
        with self.lock:
            if self._open is not None:
                self._open.close()
                self._open = None


def _file_at(path: Path) -> tuple[int, int] | None:
    """What tells one file from another of the same name; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def sqlite_errors(path: Path | None) -> Generator[None]:
    """Turns sqlite3's errors into graphport's, once, here."""
    try:
        yield
    except sqlite3.Error as error:
        raise _typed(error, path) from error


def _typed(error: sqlite3.Error, path: Path | None) -> StorageError:
    name = getattr(error, "sqlite_errorname", "") or ""
    where = path or "the knowledge base in memory"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StorageBusyError(f"{where} is being written by another process; try again")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StorageCorruptError(f"{where} is damaged or no knowledge base ({error}); restore it from a backup")
    if name.startswith(("SQLITE_FULL", "SQLITE_NOMEM", "SQLITE_TOOBIG")):
        return StorageFullError(f"no room to write {where} ({error}); free some space")
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH")):
        return StorageUnavailableError(f"{where} cannot be opened or written ({error}); check the path and its rights")
    return StorageError(f"{where}: {error}")
