"""The two drivers: choosing one, telling whose a file is, and opening it.

``kuzu`` 0.11.3 is the last release of Kuzu, ``ladybug`` its maintained successor. API and Cypher are the
same; their files are not, and their C++ parts cannot be loaded into one process.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util  # kuzu's C++ part needs it imported, too
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphport.errors import BackendUnavailableError, StorageCorruptError, StorageError
from graphport_kuzu.failures import DriverFailures, opening_error, typed

MAX_DATABASE_BYTES = 1 << 36
"""Address space set aside for a database: the drivers' default of 8 TiB fails where it is limited."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver; ``signature`` are the first four bytes of its files.

    ``reads_beside_writer``: a process may open a file read-only while another one writes it. ``scan_up_to``:
    the edges of so many nodes are found faster by looking at all nodes than by a join (measured at 200,000).
    """

    name: str
    signature: bytes
    reads_beside_writer: bool
    scan_up_to: int
    install_hint: str

    def load(self) -> Any:
        """The driver's module; `BackendUnavailableError` if it is not installed, or the other one is loaded."""
        for other in DRIVERS.values():
            if other is not self and other.name in sys.modules:
                raise BackendUnavailableError(
                    f"driver {self.name!r} cannot be loaded: this process has loaded {other.name!r}, and the two "
                    "crash each other; use one driver, or a process for each"
                )
        if importlib.util.find_spec(self.name) is None:
            raise BackendUnavailableError(f"driver {self.name!r} is not installed; {self.install_hint}")
        try:
            return importlib.import_module(self.name)
        except ImportError as error:
            raise BackendUnavailableError(
                f"driver {self.name!r} cannot be loaded: {error}; {self.install_hint}"
            ) from error


LADYBUG = Driver("ladybug", b"LBUG", True, 0, "pip install 'graphport[kuzu]'")
KUZU = Driver("kuzu", b"KUZU", False, 500, "pip install 'graphport[kuzu-legacy]'")
DRIVERS = {driver.name: driver for driver in (LADYBUG, KUZU)}


@dataclass(frozen=True, slots=True)
class Settings:
    """What a database is opened with; ``max_threads`` 0 leaves it to the driver."""

    driver: Driver
    buffer_pool_size: int
    max_threads: int

    def database_options(self, *, read_only: bool) -> dict[str, Any]:
        """Keyword arguments of the driver's Database."""
        options: dict[str, Any] = {
            "read_only": read_only,
            "buffer_pool_size": self.buffer_pool_size,
            "max_num_threads": self.max_threads,
            "max_db_size": MAX_DATABASE_BYTES,
            # A checkpoint in place has lost data when the process was killed in it, so there is never one.
            "auto_checkpoint": False,
        }
        if self.driver is LADYBUG and read_only:
            # A writer may be in the middle of appending to the log: what is whole of it is read.
            options["throw_on_wal_replay_failure"] = False
        return options

    def open_database(self, file: Path, *, read_only: bool) -> Any:
        """The driver's Database; where it may write, told not to checkpoint when it is closed."""
        module = self.driver.load()
        try:
            database = module.Database(str(file), **self.database_options(read_only=read_only))
        except DriverFailures as error:
            raise opening_error(error, str(file)) from error
        if not read_only:
            with typed(str(file)):
                connection = module.Connection(database)
                connection.execute("CALL force_checkpoint_on_close=false").close()
                connection.close()
        return database


def abandon(thing: Any) -> None:
    """Sees to it that a driver's object is never destroyed, because its engine would hang or crash in that.

    It gets one more reference than there are. What it held is lost to the process, some memory and threads.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


def require_own_file(driver: Driver, file: Path) -> None:
    """Refuses a file that ``driver`` did not write, before its engine sees it.

    The first four bytes name the driver, the next four its storage version. Raises `StorageError` for
    the other driver's file or another version's, `StorageCorruptError` for what is neither's or missing.
    """
    if not file.exists():
        raise StorageCorruptError(f"{file} is missing")
    with file.open("rb") as stream:
        head = stream.read(8)
    version = int.from_bytes(head[4:8], "little")
    for candidate in DRIVERS.values():
        if head[:4] == candidate.signature and len(head) == 8:
            if candidate is not driver:
                raise StorageError(
                    f"{file} was written by the driver {candidate.name!r}, and driver is {driver.name!r}; "
                    f"set driver: {candidate.name}, or copy the graph over with `graphport migrate`"
                )
            own = int(driver.load().Database.get_storage_version())
            if version != own:
                raise StorageError(
                    f"{file} has {driver.name}'s storage version {version}, the installed {driver.name} writes "
                    f"{own}; install the version that wrote it and copy the graph over with `graphport migrate`"
                )
            return
    raise StorageCorruptError(f"{file} starts with {head!r}, which is neither a ladybug nor a kuzu file")
