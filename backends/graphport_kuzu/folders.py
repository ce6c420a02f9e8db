"""Where a graph lies: a sub-folder of the store's path, named so that every file system keeps names apart."""

from __future__ import annotations

import hashlib
import string
from pathlib import Path
from urllib.parse import unquote

from graphport.errors import StorageCorruptError, StorageUnavailableError
from graphport_kuzu.failures import typed_files
from graphport_kuzu.pointer import read_pointer

_PLAIN = frozenset((string.ascii_lowercase + string.digits + "_-").encode())
_LONGEST = 200
"""Most file systems take names of 255 bytes."""
NAME = "NAME"


def graph_folder(path: Path, graph: str) -> Path:
    """The folder of a graph, existing or not.

    Lower-case ASCII letters, digits, ``_`` and ``-`` stand for themselves, every other byte is ``%xx``: so
    names that differ in case or normalisation stay apart on file systems that confuse them. Where that
    gets too long it is ``~`` and a digest, and a file in it holds the name.
    """
    encoded = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in graph.encode())
    if len(encoded) > _LONGEST:
        encoded = "~" + hashlib.sha256(graph.encode()).hexdigest()
    return path / encoded


def make_graph_folder(path: Path, graph: str) -> Path:
    """`graph_folder`, made if it is not there."""
    folder = graph_folder(path, graph)
    if path.exists() and not path.is_dir():
        raise StorageUnavailableError(f"{path} is a file; a store is a folder that graphport makes: name another path")
    with typed_files(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        if folder.name.startswith("~"):
            (folder / NAME).write_text(graph, encoding="utf-8")
    return folder


def graph_names(path: Path) -> list[str]:
    """Names of the graphs in a store, sorted; dropped ones are not among them."""
    with typed_files(str(path)):
        folders = [folder for folder in path.iterdir() if folder.is_dir()] if path.is_dir() else []
        return sorted(_name(folder) for folder in folders if _is_live(folder))


def _is_live(folder: Path) -> bool:
    try:
        pointer = read_pointer(folder)
    except StorageCorruptError:
        return True  # there is a graph; opening it will say what is wrong with it
    return pointer is not None and pointer.is_live


def _name(folder: Path) -> str:
    return (folder / NAME).read_text(encoding="utf-8") if folder.name.startswith("~") else unquote(folder.name)
