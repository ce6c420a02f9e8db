"""The drivers' and the file system's errors as graphport's: made once, at the backend's edge."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager

from graphport.errors import (
    GraphportError,
    StorageBusyError,
    StorageClosedError,
    StorageCorruptError,
    StorageError,
    StorageFullError,
    StorageUnavailableError,
)

DriverFailures = (RuntimeError, MemoryError, ValueError, IndexError, OverflowError)
"""What pybind11 makes of C++ exceptions; both drivers report all their own as RuntimeError."""

# The drivers have no error codes: parts of their messages (kuzu 0.11.3, ladybug 0.22.0), first match wins.
_MESSAGES: tuple[tuple[str, type[StorageError], str], ...] = (
    ("Could not set lock on file", StorageBusyError, "another program has it open; close it there and try again"),
    ("Only one write transaction", StorageBusyError, "another write is going on; try again"),
    ("Interrupted", StorageBusyError, "the query was interrupted; try again"),
    ("buffer pool is full", StorageFullError, "raise buffer_pool_size, or ask for less at a time"),
    # A short write leaves whatever the last error was: "numBytesWritten: 1546. Error: Success".
    ("Cannot write to file", StorageFullError, "make room and try again"),
    ("No space left on device", StorageFullError, "make room and try again"),
    ("Disk quota exceeded", StorageFullError, "make room and try again"),
    ("File too large", StorageFullError, "make room and try again"),
    ("Cannot allocate memory", StorageFullError, "free some memory and try again"),
    ("Mmap for size", StorageFullError, "free some memory and try again"),
    ("is closed", StorageClosedError, "open it again"),
    ("Permission denied", StorageUnavailableError, "check the permissions of the folder"),
    ("Read-only file system", StorageUnavailableError, "open it with read_only"),
    ("No such file or directory", StorageUnavailableError, "check the path"),
    ("Too many open files", StorageUnavailableError, "close some and try again"),
)
_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def storage_error(error: BaseException, where: str) -> StorageError:
    """The `StorageError` that a driver's ``error`` is; ``where`` is the file."""
    said = " ".join(str(error).split())[:500] or type(error).__name__
    if isinstance(error, MemoryError):
        return StorageFullError(f"{where}: out of memory ({said}); free some memory and try again")
    for part, kind, advice in _MESSAGES:
        if part in said:
            return kind(f"{where}: {said}; {advice}")
    return StorageError(f"{where}: {said}")


def opening_error(error: BaseException, where: str) -> StorageError:
    """As `storage_error`, for an engine that could not open its file: what is not known to pass is corrupt."""
    known = storage_error(error, where)
    if type(known) is StorageError:
        return StorageCorruptError(f"{where} cannot be opened: {' '.join(str(error).split())[:500]}")
    return known


def may_close_after(error: BaseException) -> bool:
    """Whether a database may be closed after a statement that wrote to the disk failed with ``error``.

    Both engines end the process (``std::terminate``) when they close one whose log could not be written, kuzu
    also after a COPY that failed on a full disk. A full buffer pool does no harm.
    """
    return not isinstance(error, StorageError) or "buffer pool is full" in str(error)


@contextmanager
def typed(where: str) -> Generator[None]:
    """Turns what a driver raises inside the block into a `StorageError`."""
    try:
        yield
    except GraphportError:  # some are ValueErrors too
        raise
    except DriverFailures as error:
        raise storage_error(error, where) from error


@contextmanager
def typed_files(where: str) -> Generator[None]:
    """Turns what the file system raises inside the block into a `StorageError`."""
    try:
        yield
    except OSError as error:
        if error.errno in _ERRNOS:
            raise StorageFullError(f"{where}: {error}; make room and try again") from error
        raise StorageUnavailableError(f"{where}: {error}; check the folder and its permissions") from error
