"""A graph's databases over time: each is built beside the last one, never in it, and then counts at once.

Both engines crash, hang or lose edges after a COPY into a live database fails, and kuzu also when a process
is killed in a checkpoint. So bulk loading and compaction write a new file, and nothing else is ever
checkpointed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from graphport.errors import StorageCorruptError
from graphport_kuzu import durable
from graphport_kuzu.arrow import Table
from graphport_kuzu.drivers import Settings, abandon
from graphport_kuzu.failures import may_close_after, typed, typed_files
from graphport_kuzu.pointer import CURRENT, Pointer, read_pointer, write_pointer
from graphport_kuzu.schema import DDL
from graphport_kuzu.seals import DATABASE, WAL, Seal, seal_database
from graphport_kuzu.session import Session

IDENTITY = "IDENTITY"
"""The file with a random text that tells this graph from every other, whatever their folders are called."""
FILE_SIZE = 4 * 2**20
"""At least as large as the file of an empty graph (kuzu: 1 MiB)."""


def build(folder: Path, pointer: Pointer, settings: Settings, nodes: Table, edges: Table, revision: int) -> None:
    """Writes the generation that ``pointer`` names, from unique nodes and edges, and makes it the current one.

    All or nothing: what fails on the way is removed, and the old generation still counts.
    """
    place = folder / f"new-{pointer.number:06d}"
    with typed_files(str(place)):
        shutil.rmtree(place, ignore_errors=True)
        durable.require_room(folder, FILE_SIZE + 2 * (nodes.nbytes + edges.nbytes))
        place.mkdir()
        try:
            _copy(place / DATABASE, settings, nodes, edges)
            seal_database(place, revision)
            finished = place.rename(folder / pointer.folder_name)
            durable.sync(folder)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        try:
            write_pointer(folder, pointer)
        except BaseException:
            if read_pointer(folder) != pointer:
                shutil.rmtree(finished, ignore_errors=True)
            raise


def _copy(file: Path, settings: Settings, nodes: Table, edges: Table) -> None:
    database = settings.open_database(file, read_only=False)
    connection = settings.driver.load().Connection(database)
    session = Session(connection, str(file))
    try:
        for statement in DDL:
            session.run(statement)
        for statement, table in (("COPY Node FROM $t", nodes), ("COPY Edge FROM $t", edges)):
            if table.num_rows:
                session.run(statement, {"t": table})
        session.run("CHECKPOINT")
    except BaseException as error:
        if not may_close_after(error):
            abandon(connection)
            abandon(database)
            for part in file.parent.iterdir():  # it stays open, and would keep the room on the disk
                durable.truncate(part, 0)
            raise
        _close(file, connection, database)
        raise
    _close(file, connection, database)


def _close(file: Path, connection: Any, database: Any) -> None:
    with typed(str(file)):
        connection.close()
        database.close()


def copy_for_queries(folder: Path, pointer: Pointer, seal: Seal) -> Path:
    """A copy of the generation's database as of ``seal``, for a process that may not open the original.

    Made once for each commit that is asked about; the last one is removed.
    """
    place = folder / f"query-{pointer.number:06d}-{seal.revision}"
    if not place.exists():
        with typed_files(str(place)):
            source, fresh = folder / pointer.folder_name, folder / "new-query"
            for old in (fresh, *folder.glob("query-*")):
                shutil.rmtree(old, ignore_errors=True)
            durable.require_room(folder, sum(file.stat().st_size for file in source.iterdir()))
            fresh.mkdir()
            shutil.copyfile(source / DATABASE, fresh / DATABASE)
            if seal.file == WAL:
                shutil.copyfile(source / WAL, fresh / WAL)
                durable.truncate(fresh / WAL, seal.size)
            fresh.rename(place)
    return place / DATABASE


def sweep(folder: Path, current: Pointer | None) -> None:
    """Removes what a killed process left: half-built generations, and such that no longer count."""
    for place in [*folder.glob("new-*"), *folder.glob("gen-*"), *folder.glob("query-*")]:
        if current is None or place.name != current.folder_name or not current.is_live:
            shutil.rmtree(place, ignore_errors=True)


def require_pointer(folder: Path) -> Pointer | None:
    """`read_pointer`, but ``CURRENT`` may be missing only where no generation was ever written to."""
    pointer = read_pointer(folder)
    if pointer is None and any(place.name != "gen-000001" or (place / WAL).exists() for place in folder.glob("gen-*")):
        raise StorageCorruptError(f"{folder / CURRENT} is missing, and there are generations it may have named")
    return pointer


def set_aside(folder: Path, error: StorageCorruptError) -> StorageCorruptError:
    """Moves all that belongs to the graph into a folder of its own, and returns the error that says so."""
    with typed_files(str(folder)):
        aside = durable.free_name(folder, "corrupt")
        aside.mkdir()
        for thing in [*folder.glob("gen-*"), folder / CURRENT, folder / IDENTITY]:
            if thing.exists():
                thing.rename(aside / thing.name)
        durable.sync(folder)
    return StorageCorruptError(
        f"{error}; everything of this graph was moved to {aside}, and opening it again starts an empty one"
    )
