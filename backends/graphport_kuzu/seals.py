"""Which bytes of a generation are good, so that the engine never sees others.

The engines read damaged files on trust: kuzu 0.11.3 with three flipped bits in its log died of a signal
in 9 of 40 tries, hung in 2 and silently lost commits in most others; with flips in the main file both
engines mostly noticed nothing. So beside each database lies ``SEALS``, a line per commit::

    graph.db 8679424 5a1b0c9f 0         the main file when it was built, and the revision it holds
    graph.db.wal 21228 77e0d1a3 1       the first 21228 bytes of the log are good, and are revision 1

(CRC-32 of all bytes up to there.) The main file never changes and the log only grows, so a line stays
true. **A transaction is committed when its line is on the disk**: what the log holds behind the last line was
never reported as written, and is cut off.
"""

from __future__ import annotations

import logging
import re
import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from graphport.errors import StorageCorruptError
from graphport_kuzu import durable

log = logging.getLogger("graphport")

DATABASE = "graph.db"
WAL = "graph.db.wal"
SEALS = "SEALS"
_LINE = re.compile(rb"(graph\.db(?:\.wal)?) ([0-9]+) ([0-9a-f]{8}) ([0-9]+)")
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Seal:
    """The first ``size`` bytes of ``file`` have this CRC-32 and hold this revision."""

    file: str
    size: int
    crc: int
    revision: int

    def __str__(self) -> str:
        return f"{self.file} {self.size} {self.crc:08x} {self.revision}\n"


@dataclass(frozen=True, slots=True)
class Inspection:
    """``good`` is the last seal whose bytes are all there, ``sealed`` the last that was written."""

    good: Seal
    sealed: Seal
    is_clean: bool
    """Whether the log and the seals end where ``good`` says."""

    @property
    def is_short(self) -> bool:
        """Whether the log lost its end: sealed bytes are missing."""
        return self.good is not self.sealed


def seal_database(folder: Path, revision: int) -> None:
    """Seals a database that was just built, and sees to it that all of it is on the disk."""
    file = folder / DATABASE
    durable.sync(file)
    size = file.stat().st_size
    seal = Seal(DATABASE, size, _crcs(file, [size])[0], revision)
    (folder / SEALS).write_text(str(seal), encoding="ascii")
    durable.sync(folder / SEALS)
    durable.sync(folder)


def seal_commit(folder: Path, last: Seal, revision: int) -> Seal:
    """Seals what was appended to the log since ``last``; from here on the transaction is committed."""
    wal = folder / WAL
    start, crc = (last.size, last.crc) if last.file == WAL else (0, 0)
    size = wal.stat().st_size
    if start == 0:
        durable.sync(folder)  # the log's name is new, and the engine syncs only its bytes
    seal = Seal(WAL, size, _crcs(wal, [size], start, crc)[0], revision)
    durable.append(folder / SEALS, str(seal))
    return seal


def inspect(folder: Path) -> Inspection:
    """What is good in a generation. Raises `StorageCorruptError` where sealed bytes changed."""
    seals, finished = _read(folder / SEALS)
    database, *commits = seals
    _require_as_sealed(folder / DATABASE, [database])
    wal = folder / WAL
    wal_size = wal.stat().st_size if wal.exists() else 0
    whole = [seal for seal in commits if seal.size <= wal_size]
    _require_as_sealed(wal, whole)
    good = whole[-1] if whole else database
    return Inspection(good, seals[-1], finished and good is seals[-1] and wal_size == _wal_end(good))


def repair(folder: Path, found: Inspection) -> None:
    """Cuts the log, and the seals, back to what is good. A log that lost sealed bytes is copied aside first."""
    wal, seals = folder / WAL, folder / SEALS
    if found.is_short:
        aside = durable.free_name(folder, "torn")
        aside.write_bytes(wal.read_bytes() if wal.exists() else b"")
        log.warning(
            "%s lost its end: revisions %d to %d are gone, the graph is at %d; what is left of the log is in %s",
            wal, found.good.revision + 1, found.sealed.revision, found.good.revision, aside,
        )  # fmt: skip
    if _wal_end(found.good):
        durable.truncate(wal, _wal_end(found.good))
    else:
        wal.unlink(missing_ok=True)
    before, last, _ = seals.read_bytes().partition(str(found.good).encode())
    durable.truncate(seals, len(before) + len(last))


def seals_size(folder: Path) -> int:
    """How many bytes of seals there are: grows with each commit. 0 where the generation is gone."""
    try:
        return (folder / SEALS).stat().st_size
    except FileNotFoundError:
        return 0


def _wal_end(seal: Seal) -> int:
    return seal.size if seal.file == WAL else 0


def _read(file: Path) -> tuple[list[Seal], bool]:
    """The seals, the database's first, and whether the last line was finished (one that was not is left out)."""
    *lines, rest = file.read_bytes().split(b"\n") if file.exists() else [b""]
    found = [_LINE.fullmatch(line) for line in lines]
    seals = [Seal(m[1].decode(), int(m[2]), int(m[3], 16), int(m[4])) for m in found if m is not None]
    grows = all(a.size < b.size and a.revision < b.revision for a, b in pairwise(seals[1:]))
    files = [DATABASE] + [WAL] * (len(lines) - 1)
    if not lines or not grows or [seal.file for seal in seals] != files:
        raise StorageCorruptError(f"{file} is not as it was written: damaged, or changed by another program")
    return seals, not rest


def _require_as_sealed(file: Path, seals: list[Seal]) -> None:
    """`StorageCorruptError` unless the file has each seal's CRC; none asks for nothing."""
    if not seals:
        return
    as_sealed = file.name != DATABASE or file.stat().st_size == seals[0].size
    if not as_sealed or _crcs(file, [seal.size for seal in seals]) != [seal.crc for seal in seals]:
        raise StorageCorruptError(f"{file} is not as it was written: damaged, or changed by another program")


def _crcs(file: Path, ends: list[int], start: int = 0, crc: int = 0) -> list[int]:
    """CRC-32 of the file up to each of the ends; ``crc`` is that of the first ``start`` bytes."""
    found: list[int] = []
    with file.open("rb") as stream:
        stream.seek(start)
        for end in ends:
            while start < end and (piece := stream.read(min(_PIECE, end - start))):
                crc, start = zlib.crc32(piece, crc), start + len(piece)
            found.append(crc)
    return found
