"""Columns and batches as bytes: raw little-endian arrays, UTF-8 texts and JSON. Never pickle."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphport.model import Edge, EdgeKey, Node
from graphport.pending import PendingWrites
from graphport.snapshot import GraphSnapshot
from graphport_memory.base import Base, SparseTexts

ABSENT = -1
"""Length of a text that is None."""


def encode_base(base: Base) -> Iterator[tuple[str, bytes]]:
    """The columns by name, one at a time."""
    graph = base.graph
    header = {"node_kinds": graph.node_kinds, "edge_kinds": graph.edge_kinds, "index": graph.source_index.dtype.str}
    yield "header", json.dumps(header).encode()
    for name, texts in (
        ("ids", graph.ids),
        ("names", graph.names),
        ("entries", graph.entries),
        ("node_props", base.node_props.texts),
        ("edge_props", base.edge_props.texts),
    ):
        yield name, "".join(text for text in texts if text is not None).encode()
        lengths = [ABSENT if text is None else len(text) for text in texts]
        yield f"{name}.lengths", _bytes(np.array(lengths, dtype=np.int64), "<i8")
    yield "node_props.rows", _bytes(base.node_props.rows, "<i8")
    yield "edge_props.rows", _bytes(base.edge_props.rows, "<i8")
    yield "node_kind", _bytes(graph.node_kind, "<i4")
    yield "edge_kind", _bytes(graph.edge_kind, "<i4")
    yield "source", _bytes(graph.source_index, graph.source_index.dtype.str)
    yield "target", _bytes(graph.target_index, graph.target_index.dtype.str)
    yield "weight", _bytes(graph.weight, "<f8")


def decode_base(columns: Mapping[str, bytes]) -> Base:
    """The base of `encode_base`; KeyError or ValueError if the columns are not one."""
    header = json.loads(columns["header"])
    ids = cast("list[str]", _texts(columns, "ids"))
    names = [node_id if node_id == name else name for node_id, name in zip(ids, _texts(columns, "names"), strict=True)]
    graph = GraphSnapshot(
        ids=tuple(ids),
        names=tuple(cast("list[str]", names)),
        entries=tuple(_texts(columns, "entries")),
        node_kinds=header["node_kinds"],
        edge_kinds=header["edge_kinds"],
        node_kind=_array(columns, "node_kind", "<i4"),
        source_index=_array(columns, "source", header["index"]),
        target_index=_array(columns, "target", header["index"]),
        edge_kind=_array(columns, "edge_kind", "<i4"),
        weight=_array(columns, "weight", "<f8"),
    )
    return Base(graph, _sparse(columns, "node_props"), _sparse(columns, "edge_props"))


def encode_batch(writes: PendingWrites) -> bytes:
    """One committed batch as JSON; floats are written so that every bit comes back."""
    return json.dumps(
        {
            "cleared": writes.cleared,
            "deleted_nodes": list(writes.deleted_nodes),
            "deleted_edges": list(writes.deleted_edges),
            "nodes": [[node.id, node.kind, node.name, node.entry, node.props] for node in writes.nodes.values()],
            "edges": [[*edge.key, edge.weight, edge.props] for edge in writes.edges.values()],
        },
        separators=(",", ":"),
    ).encode()


def decode_batch(batch: bytes) -> PendingWrites:
    """The batch of `encode_batch`; KeyError, TypeError or ValueError if it is none."""
    row: dict[str, Any] = json.loads(batch)
    writes = PendingWrites(cleared=row["cleared"])
    writes.delete_edges(EdgeKey(*key) for key in row["deleted_edges"])
    writes.delete_nodes(row["deleted_nodes"])
    writes.upsert_nodes({node[0]: Node(*node) for node in row["nodes"]})
    edges = (Edge(*edge) for edge in row["edges"])
    writes.upsert_edges({edge.key: edge for edge in edges})
    return writes


def _bytes(array: NDArray[Any], dtype: str) -> bytes:
    return array.astype(np.dtype(dtype).newbyteorder("<"), copy=False).tobytes()


def _array(columns: Mapping[str, bytes], name: str, dtype: str) -> NDArray[Any]:
    return np.frombuffer(columns[name], dtype=np.dtype(dtype).newbyteorder("<"))


def _texts(columns: Mapping[str, bytes], name: str) -> list[str | None]:
    text = columns[name].decode()
    lengths: list[int] = _array(columns, f"{name}.lengths", "<i8").tolist()
    ends = list(accumulate(max(length, 0) for length in lengths))
    if len(text) != (ends[-1] if ends else 0):
        raise ValueError(f"column {name} has {len(text)} characters, its lengths add up to {ends[-1:]}")
    return [None if length == ABSENT else text[end - length : end] for length, end in zip(lengths, ends, strict=True)]


def _sparse(columns: Mapping[str, bytes], name: str) -> SparseTexts:
    texts = cast("Sequence[str]", tuple(_texts(columns, name)))
    return SparseTexts(_array(columns, f"{name}.rows", "<i8"), texts)
