"""The two drivers: choosing one, telling whose a file is, and opening it.

``kuzu`` 0.11.3 is the last release of Kuzu, ``ladybug`` its maintained successor. API and Cypher are the
same; their files are not, and their C++ parts cannot be loaded into one process.
"""

from __future__ import annotations

import importlib
import importlib.util  # kuzu's C++ part needs it imported, too
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphport.errors import BackendUnavailableError, StorageCorruptError, StorageError

MAX_DATABASE_BYTES = 1 << 36
"""Address space set aside for a database: the drivers' default of 8 TiB fails where it is limited."""


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver; ``signature`` are the first four bytes of its files.

    ``reads_beside_writer``: a process may open a file read-only while another one writes it.
    """

    name: str
    signature: bytes
    reads_beside_writer: bool
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

    def open(self, file: Path, *, read_only: bool, buffer_pool_size: int, max_threads: int) -> Any:
        """The engine's Database on ``file``. Raises what the driver raises."""
        # A checkpoint in place has lost data when the process was killed in it, so there is never one.
        options: dict[str, Any] = {"auto_checkpoint": False}
        if self is LADYBUG and read_only:
            # A writer may be in the middle of appending to the log: what is whole of it is read.
            options["throw_on_wal_replay_failure"] = False
        return self.load().Database(
            str(file),
            read_only=read_only,
            buffer_pool_size=buffer_pool_size,
            max_num_threads=max_threads,
            max_db_size=MAX_DATABASE_BYTES,
            **options,
        )


LADYBUG = Driver("ladybug", b"LBUG", True, "pip install 'graphport[kuzu]'")
KUZU = Driver("kuzu", b"KUZU", False, "pip install 'graphport[kuzu-legacy]'")
DRIVERS = {driver.name: driver for driver in (LADYBUG, KUZU)}


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
