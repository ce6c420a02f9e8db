"""``CURRENT``: the one small file that says which generation of a graph counts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graphport.errors import StorageCorruptError, StorageFormatError
from graphport_kuzu import durable

CURRENT = "CURRENT"
FORMAT = 1
"""Layout of a graph's folder; raised when an older graphport could no longer read it."""
_TEXT = re.compile(r"gen-([0-9]{6,}) format ([0-9]+)(?: dropped at revision ([0-9]+))?\n")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A generation, or, where the graph was dropped, the last one there was and the revision of its end."""

    number: int
    dropped_at: int | None = None

    @property
    def is_live(self) -> bool:
        return self.dropped_at is None

    @property
    def folder_name(self) -> str:
        return f"gen-{self.number:06d}"


def read_pointer(folder: Path) -> Pointer | None:
    """What ``CURRENT`` says; None where there is none: the graph was never opened.

    Raises `StorageCorruptError` for what makes no sense, `StorageFormatError` for another format.
    """
    file = folder / CURRENT
    try:
        text = file.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return None
    match = _TEXT.fullmatch(text)
    if match is None:
        raise StorageCorruptError(f"{file} says {text!r:.80}; it must name a generation, as 'gen-000001 format 1'")
    if int(match[2]) != FORMAT:
        raise StorageFormatError(
            f"{file} has format {match[2]}, this graphport reads {FORMAT}; use the version that wrote it"
        )
    return Pointer(int(match[1]), None if match[3] is None else int(match[3]))


def write_pointer(folder: Path, pointer: Pointer) -> None:
    """Makes ``pointer`` what counts, atomically and durably."""
    end = "" if pointer.dropped_at is None else f" dropped at revision {pointer.dropped_at}"
    durable.write_atomically(folder / CURRENT, f"{pointer.folder_name} format {FORMAT}{end}\n")
