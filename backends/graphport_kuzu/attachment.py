"""What is open of a graph: the database of the generation that counts, or nothing where there is none."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

from graphport.errors import StorageCorruptError, StorageUnavailableError
from graphport_kuzu.drivers import Settings, abandon, require_own_file
from graphport_kuzu.failures import typed, typed_files
from graphport_kuzu.generations import require_pointer, set_aside, sweep
from graphport_kuzu.pointer import Pointer, read_pointer
from graphport_kuzu.seals import DATABASE, Seal, inspect, repair, seals_size


class Mode(Enum):
    CLOSED = "closed"
    READER = "reader"
    WRITER = "writer"


class Attachment:
    """The database, its generation and the last seal; all None where the graph does not exist.

    ``may_close`` is set to false when closing the database would end the process.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.database: Any = None
        self.pointer: Pointer | None = None
        self.seal: Seal | None = None
        self.may_close = True

    @property
    def generation(self) -> Path:
        """Folder of the generation; only where there is one."""
        assert self.pointer is not None
        return self.folder / self.pointer.folder_name

    @property
    def where(self) -> str:
        """What error messages name."""
        return str(self.folder if self.seal is None else self.generation / DATABASE)

    @property
    def revision(self) -> int:
        """Of the graph, as the disk has it."""
        if self.seal is not None:
            return self.seal.revision
        return 0 if self.pointer is None else self.pointer.dropped_at or 0

    def open(self, mode: Mode) -> None:
        """Opens what ``CURRENT`` names. A writer repairs what a crash left, and moves aside what is damaged."""
        try:
            self.pointer = require_pointer(self.folder)
            if mode is Mode.WRITER:
                sweep(self.folder, self.pointer)
            if self.pointer is not None and self.pointer.is_live:
                self._open_generation(mode)
        except StorageCorruptError as error:
            if mode is not Mode.WRITER:
                raise
            raise set_aside(self.folder, error) from error

    def _open_generation(self, mode: Mode) -> None:
        place, driver = self.generation, self.settings.driver
        with typed_files(str(place)):
            require_own_file(driver, place / DATABASE)
            found = inspect(place)
            if mode is Mode.WRITER and not found.is_clean:
                repair(place, found)
        in_the_middle = driver.reads_beside_writer and not found.is_short  # of a commit of a writer beside this reader
        if mode is Mode.READER and not found.is_clean and not in_the_middle:
            raise StorageUnavailableError(
                f"{place} ends in a write that was cut off; open it once without read_only, which repairs it"
            )
        self.database = self.settings.open_database(place / DATABASE, read_only=mode is Mode.READER)
        self.seal = found.good

    def connect(self) -> Any:
        """A new connection."""
        with typed(self.where):
            return self.settings.driver.load().Connection(self.database)

    def close(self) -> None:
        """Closes the database; again is harmless. Its connections are closed before, or ladybug keeps its lock."""
        database, may_close, where = self.database, self.may_close, self.where
        self.database = self.pointer = self.seal = None
        self.may_close = True
        if database is not None and not may_close:
            abandon(database)
        elif database is not None:
            with typed(where):
                database.close()

    def look(self) -> tuple[Pointer | None, int]:
        """What changes on the disk whenever somebody commits."""
        pointer = read_pointer(self.folder)
        return pointer, 0 if pointer is None else seals_size(self.folder / pointer.folder_name)

    def abandon(self) -> None:
        """In a forked child: leaves the database to the parent.

        Its threads are not in the child, and ending it there would wait for them forever, at the child's
        normal exit too.
        """
        if self.database is not None:
            abandon(self.database)
