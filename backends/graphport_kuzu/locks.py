"""One writer per graph among all processes, and what keeps threads apart while a database is reopened."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from graphport.errors import StorageBusyError

PAUSE = 0.02
"""Seconds between two tries for a lock."""


class FileLock:
    """The lock on a graph, held by a process through ``flock``: the kernel gives it up when the process ends.

    The engines' own locks are not enough: they go with the database file, which compaction replaces, and
    are lost when any handle of the process onto that file is closed (``fcntl`` locks).
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._descriptor: int | None = None

    def acquire(self, *, shared: bool, timeout: float) -> None:
        """Takes the lock, or changes the kind of one that is held; `StorageBusyError` after ``timeout`` seconds."""
        if self._descriptor is None:
            # A reader may lack the right to write the folder; a writer creates the file.
            self._descriptor = os.open(self.file, os.O_RDONLY if shared else os.O_RDWR | os.O_CREAT, 0o666)
        elif not shared:
            self._reopen_for_writing()
        deadline = time.monotonic() + timeout
        while not self._try(fcntl.LOCK_SH if shared else fcntl.LOCK_EX):
            if time.monotonic() >= deadline:
                holder = self._holder()
                self.release()
                raise StorageBusyError(
                    f"{self.file.parent} is open in {holder}; close it there and try again, or raise busy_timeout"
                )
            time.sleep(PAUSE)
        if not shared:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Gives the lock up; again is harmless. In a forked child the parent's lock stays."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _reopen_for_writing(self) -> None:
        self.release()
        self._descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o666)

    def _try(self, kind: int) -> bool:
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _holder(self) -> str:
        process = self.file.read_text(encoding="ascii", errors="replace").strip()
        return f"process {process}" if process.isdigit() else "another process"


class Gate:
    """Many may be inside together, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._taken = False

    @contextmanager
    def shared(self) -> Generator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._taken)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Generator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._taken)
            self._taken = True
            try:
                self._changed.wait_for(lambda: self._inside == 0)
            except BaseException:  # an interrupt while waiting must not lock everyone out
                self._taken = False
                self._changed.notify_all()
                raise
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()
