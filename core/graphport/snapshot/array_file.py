"""Named arrays in one file: written whole or not at all, read at once or mapped into memory.

::

    8 bytes   GPARRAYS
    u32       format
    u32       CRC-32 of the header
    u64       bytes of the header
    header    JSON: {"meta": {...}, "size": bytes of all arrays, "arrays": [[name, dtype, items, offset, CRC-32], ...]}
    arrays    little-endian, each at a multiple of 64 bytes from the end of the header

No pickle: a dtype is one of `DTYPES`.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import struct
import time
import uuid
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.errors import StorageCorruptError, StorageFormatError, StorageFullError, StorageUnavailableError

MAGIC = b"GPARRAYS"
FORMAT = 1
ALIGNMENT = 64
DTYPES = frozenset({"|u1", "<i4", "<i8", "<f8"})
_HEAD = struct.Struct("<8sIIQ")
_ABANDONED = 3600.0
"""Seconds after which a temporary file is taken for that of a killed process."""

Arrays = Mapping[str, NDArray[Any]]


class ArrayFile(NamedTuple):
    """What a file holds; the arrays are read-only."""

    meta: dict[str, Any]
    arrays: Arrays


def write_arrays(path: Path, meta: Mapping[str, Any], arrays: Arrays) -> None:
    """Puts the arrays at ``path``: whoever reads gets the old file or the new one, also after a crash.

    Several processes may write at once; the last one stays. Raises `StorageFullError` or
    `StorageUnavailableError`, and then leaves the old file.
    """
    columns = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    head = _header(meta, columns)
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    with _typed(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        try:
            with fresh.open("xb") as file:
                file.write(head)
                for array in columns.values():
                    _pad(file)
                    file.write(array.data)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def read_arrays(path: Path, *, mapped: bool) -> ArrayFile:
    """The arrays at ``path``, mapped (pages are read when they are touched, and shared) or in memory.

    Checked are the header and the length of the file and, unless it is mapped, every byte. Raises
    `StorageCorruptError` for a file that is torn or of something else, `StorageUnavailableError` for one
    that cannot be read, `StorageFormatError` for one of another version.
    """
    with _typed(path), path.open("rb") as file:
        header, block = _parts(path, file, mapped)
    try:
        columns = {str(row[0]): _array(block, *row[1:4]) for row in header["arrays"]}
        checks = {str(row[0]): row[4] for row in header["arrays"]}
        meta = dict(header["meta"])
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise StorageCorruptError(f"{path} has a header that makes no sense; delete it") from error
    for name, array in columns.items():
        if not mapped and zlib.crc32(array.data) != checks[name]:
            raise StorageCorruptError(f"{path}: {name} fails its checksum; delete the file")
    return ArrayFile(meta, columns)


def _header(meta: Mapping[str, Any], columns: Arrays) -> bytes:
    rows: list[list[Any]] = []
    size = 0  # of the arrays; offsets count from the end of the header, which does not know its own length yet
    for name, array in columns.items():
        if array.dtype.str not in DTYPES or array.ndim != 1:
            raise ValueError(f"array {name} is {array.dtype} {array.shape}; it must be one-dimensional, of {DTYPES}")
        size += -size % ALIGNMENT
        rows.append([name, array.dtype.str, len(array), size, zlib.crc32(array.data)])
        size += array.nbytes
    text = json.dumps({"meta": meta, "size": size, "arrays": rows}).encode()
    text += b" " * (-(_HEAD.size + len(text)) % ALIGNMENT)
    return _HEAD.pack(MAGIC, FORMAT, zlib.crc32(text), len(text)) + text


def _parts(path: Path, file: BinaryIO, mapped: bool) -> tuple[dict[str, Any], memoryview]:
    """The header, and the bytes of the arrays."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(MAGIC):
        raise StorageCorruptError(f"{path} is not a file of arrays; name another one, or delete it")
    _, version, crc, length = _HEAD.unpack(head)
    if version != FORMAT:
        raise StorageFormatError(
            f"{path} has format {version}, this graphport reads {FORMAT}; use the version that wrote it"
        )
    text = file.read(min(length, os.fstat(file.fileno()).st_size))
    if len(text) != length or zlib.crc32(text) != crc:
        raise StorageCorruptError(f"{path}: the header fails its checksum; delete the file")
    header = json.loads(text)
    start, size = _HEAD.size + length, os.fstat(file.fileno()).st_size
    if size != start + header["size"]:
        raise StorageCorruptError(f"{path} has {size} bytes instead of {start + header['size']}; delete it")
    if not mapped:
        return header, memoryview(file.read())
    return header, memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[start:]


def _array(block: memoryview, dtype: str, items: int, offset: int) -> NDArray[Any]:
    if dtype not in DTYPES:
        raise ValueError(dtype)
    array: NDArray[Any] = np.frombuffer(block, dtype=dtype, count=items, offset=offset) if items else np.zeros(0, dtype)
    array.flags.writeable = False
    return array


def _pad(file: BinaryIO) -> None:
    file.write(bytes(-file.tell() % ALIGNMENT))


def _sweep(path: Path) -> None:
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        try:
            if time.time() - left.stat().st_mtime > _ABANDONED:
                left.unlink()
        except FileNotFoundError:  # it was renamed, or another process swept it
            continue


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _typed(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFullError(f"{path}: {error.strerror}; make room and try again") from error
        raise StorageUnavailableError(f"{path}: {error.strerror}; check the folder and its permissions") from error
