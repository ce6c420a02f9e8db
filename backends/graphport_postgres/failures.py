"""The driver's errors as graphport's: made once, at the backend's edge."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout

from graphport.errors import (
    StorageBusyError,
    StorageClosedError,
    StorageCorruptError,
    StorageError,
    StorageFullError,
    StorageUnavailableError,
    TransactionError,
)

# The codes are PostgreSQL's SQLSTATEs, https://www.postgresql.org/docs/current/errcodes-appendix.html
_BUSY = {
    "40001": "another transaction changed the same rows first; try again",
    "40P01": "it was in a deadlock with another transaction; try again",
    "55P03": "somebody else holds the lock for longer than busy_timeout; try again, or raise busy_timeout",
    "53300": "the server has no connection left; try again, or lower pool_max",
    "57014": "it took longer than statement_timeout; ask for less, or raise statement_timeout",
}
_FULL = {"53000", "53100", "53200", "53400"}
_CORRUPT = {"XX001", "XX002"}
_DENIED = {"42501"}
_CLASSES_OF_A_LOST_SERVER = ("08", "57P", "28", "3D")


def storage_error(error: psycopg.Error, what: str) -> StorageError:
    """The `StorageError` that ``error`` is; ``what`` names the graph in its message."""
    if isinstance(error, PoolTimeout):
        return StorageBusyError(f"{what}: no connection became free in time; close iterators, or raise pool_max")
    if isinstance(error, PoolClosed):
        return StorageClosedError(f"{what} was closed; open it again")
    state = error.sqlstate or ""
    said = " ".join((error.diag.message_primary or str(error)).split())
    if state in _BUSY:
        return StorageBusyError(f"{what}: {_BUSY[state]} (server: {said})")
    if state in _FULL:
        return StorageFullError(f"{what}: the server is out of room: {said}; nothing was written")
    if state in _CORRUPT:
        return StorageCorruptError(f"{what}: {said}; the server's files are damaged: restore a backup")
    if state in _DENIED:
        return StorageUnavailableError(f"{what}: {said}; let the owner GRANT it to the role of the dsn")
    if isinstance(error, pg.InFailedSqlTransaction):
        return TransactionError(f"{what}: an earlier statement of this transaction failed; leave its with-block")
    if isinstance(error, pg.ReadOnlySqlTransaction):
        return StorageUnavailableError(f"{what}: the server takes no writes ({said}); connect to the primary")
    if state.startswith(_CLASSES_OF_A_LOST_SERVER) or (not state and isinstance(error, psycopg.OperationalError)):
        return StorageUnavailableError(
            f"{what}: the server cannot be reached: {said}; check that it runs, and what the dsn says"
        )
    return StorageError(f"{what}: {said} [{state}]")


@contextmanager
def typed(what: str) -> Generator[None]:
    """Turns driver errors inside the block into `StorageError`."""
    try:
        yield
    except psycopg.Error as error:
        raise storage_error(error, what) from error
