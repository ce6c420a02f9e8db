"""A snapshot as a folder: its columns in one file, and beside it a file for each thing derived from them."""

from __future__ import annotations

import json
import logging
import uuid
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphport.errors import StorageCorruptError, StorageError
from graphport.model import Props, dump_props
from graphport.snapshot.array_file import ArrayFile, Arrays, read_arrays, write_arrays
from graphport.snapshot.columns import GraphSnapshot
from graphport.snapshot.packed import Packed, packed

log = logging.getLogger("graphport")

COLUMNS = "columns"


class Shelf:
    """The folder as the place of what is derived from one snapshot; ``token`` tells that snapshot from others.

    A writable shelf keeps what is put there; one that is not only gives what it has.
    """

    def __init__(self, folder: Path, token: str, *, mapped: bool, writable: bool) -> None:
        self.folder = folder
        self.token = token
        self._mapped = mapped
        self._writable = writable

    def all(self) -> dict[str, Arrays]:
        """What there is of this very snapshot, by key."""
        keys = [path.name.replace("-", ":") for path in self.folder.glob("[!.]*") if path.name != COLUMNS]
        return {key: arrays for key in keys if (arrays := self.get(key)) is not None}

    def get(self, key: str) -> Arrays | None:
        """The arrays of that key, None if there are none of this very snapshot."""
        path = self._path(key)
        if not path.exists():
            return None
        try:
            found = read_arrays(path, mapped=self._mapped)
        except StorageError as error:
            log.warning("%s is made anew: %s", path, error)
            return None
        return found.arrays if found.meta.get("of") == self.token else None

    def offer(self, key: str, arrays: Arrays) -> None:
        """Keeps the arrays if it is writable; if they cannot be written, the next process makes them again."""
        if self._writable:
            try:
                self.put(key, arrays)
            except StorageError as error:
                log.warning("%s is not kept: %s", self._path(key), error)

    def put(self, key: str, arrays: Arrays) -> None:
        write_arrays(self._path(key), {"of": self.token}, arrays)

    def _path(self, key: str) -> Path:
        return self.folder / key.replace(":", "-")


class LazyProps(Mapping[int, Props]):
    """Props by row, decoded when they are looked at."""

    def __init__(self, rows: NDArray[np.int64], texts: Packed[str]) -> None:
        self._rows = rows
        self._texts = texts

    def __getitem__(self, row: int) -> Props:
        at = bisect_left(self._rows, row)
        if at == len(self._rows) or self._rows[at] != row:
            raise KeyError(row)
        props: Props = json.loads(self._texts[at])
        return props

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows.tolist())

    def __len__(self) -> int:
        return len(self._rows)


def save(graph: GraphSnapshot, folder: Path, derived: Mapping[str, Arrays], **meta: Any) -> None:
    """Writes the columns, then ``derived`` beside them; ``meta`` comes back in `read`."""
    token = uuid.uuid4().hex
    kinds = {"node_kinds": graph.node_kinds, "edge_kinds": graph.edge_kinds}
    head = {"snapshot": 1, "of": token, "revision": graph.revision, **kinds, **meta}
    write_arrays(folder / COLUMNS, head, _columns(graph))
    shelf = Shelf(folder, token, mapped=False, writable=True)
    for key, arrays in derived.items():
        shelf.put(key, arrays)


def read(folder: Path, *, mapped: bool) -> ArrayFile:
    """The columns in a folder; `StorageCorruptError` if the file is not one of a snapshot."""
    found = read_arrays(folder / COLUMNS, mapped=mapped)
    if found.meta.get("snapshot") != 1:
        raise StorageCorruptError(f"{folder / COLUMNS} holds no snapshot; name another folder, or delete it")
    return found


def snapshot_from(found: ArrayFile, folder: Path, *, mapped: bool, writable: bool) -> GraphSnapshot:
    """The snapshot whose columns these are; ``writable``: what is derived from it is kept in the folder."""
    meta, arrays = found
    try:
        ids: Packed[str] = _texts(arrays, "ids")
        graph = GraphSnapshot(
            ids=ids,
            names=_texts(arrays, "names") if "names.text" in arrays else ids,
            entries=_texts(arrays, "entries"),
            node_kinds=meta["node_kinds"],
            edge_kinds=meta["edge_kinds"],
            node_kind=arrays["node_kind"],
            source_index=arrays["source"],
            target_index=arrays["target"],
            edge_kind=arrays["edge_kind"],
            weight=arrays["weight"],
            node_props=_props(arrays, "node_props"),
            edge_props=_props(arrays, "edge_props"),
            revision=meta["revision"],
            shelf=Shelf(folder, meta["of"], mapped=mapped, writable=writable),
        )
    except KeyError as error:
        raise StorageCorruptError(f"{folder / COLUMNS} lacks {error}; delete it") from error
    n, m = graph.n_nodes, graph.n_edges
    lengths = (
        (len(graph.names), len(graph.entries), len(graph.node_kind)),
        (len(graph.target_index), len(graph.edge_kind), len(graph.weight)),
    )
    if lengths != ((n, n, n), (m, m, m)):
        raise StorageCorruptError(f"{folder / COLUMNS} has columns of different lengths, {lengths}; delete it")
    return graph


def _columns(graph: GraphSnapshot) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {
        "node_kind": graph.node_kind,
        "source": graph.source_index,
        "target": graph.target_index,
        "edge_kind": graph.edge_kind,
        "weight": graph.weight,
        **_packed("ids", graph.ids),
        **_packed("entries", graph.entries),
    }
    if graph.names is not graph.ids and tuple(graph.names) != tuple(graph.ids):
        columns |= _packed("names", graph.names)
    for name, props in (("node_props", graph.node_props), ("edge_props", graph.edge_props)):
        rows = sorted(props)
        columns[f"{name}.rows"] = np.array(rows, dtype=np.int64)
        columns |= _packed(name, [dump_props(props[row]) for row in rows])
    return columns


def _packed(name: str, texts: Sequence[Any]) -> dict[str, NDArray[Any]]:
    block = packed(texts)
    return {f"{name}.text": block.raw(), f"{name}.start": block.start - block.start[0]}


def _texts(arrays: Arrays, name: str) -> Packed[Any]:
    return Packed(arrays[f"{name}.text"], arrays[f"{name}.start"])


def _props(arrays: Arrays, name: str) -> LazyProps:
    return LazyProps(arrays[f"{name}.rows"], _texts(arrays, name))
