"""Writing files so that they are still there, and whole, after the power failed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from graphport.errors import StorageFullError, StorageUnavailableError

SPARE = 16 * 2**20
"""What a write leaves free, for others write to the same disk."""


def sync(path: Path) -> None:
    """Waits until the bytes of a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_atomically(path: Path, text: str) -> None:
    """Replaces the file as a whole: a reader, or a machine that starts again, sees the old text or the new."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    sync(fresh)
    fresh.replace(path)
    sync(path.parent)


def append(path: Path, text: str) -> None:
    """Adds text at the end of the file; it is on the disk when this returns."""
    with path.open("ab") as stream:
        stream.write(text.encode())
        stream.flush()
        os.fdatasync(stream.fileno())


def truncate(path: Path, size: int) -> None:
    """Cuts the file to its first ``size`` bytes."""
    with path.open("r+b") as stream:
        stream.truncate(size)
        stream.flush()
        os.fsync(stream.fileno())


def require_room(folder: Path, size: int) -> None:
    """`StorageFullError` unless the disk has room for about ``size`` bytes, and some to spare.

    Raises `StorageUnavailableError` for a folder that is gone.
    """
    try:
        free = shutil.disk_usage(folder).free
    except FileNotFoundError as error:
        raise StorageUnavailableError(f"{folder} was deleted while it was open; open the graph again") from error
    if free < size + SPARE:
        raise StorageFullError(
            f"{folder} needs some {(size + SPARE) >> 20} MiB for this write, and the disk has {free >> 20}; make room"
        )


def free_name(folder: Path, stem: str) -> Path:
    """``stem-1`` in the folder, or with the first number that is free."""
    number = 1
    while (name := folder / f"{stem}-{number}").exists():
        number += 1
    return name
