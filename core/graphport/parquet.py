"""A graph as a folder of Parquet files, cut into parts by number of edges: what engines beyond one process read.

::

    folder/graphport.json            {"format": 1, "nodes": n, "edges": m}
    folder/nodes/part-00000.parquet  index int64 (0 .. n-1, in order of id), id, kind, name, entry, props (JSON text)
    folder/edges/part-00000.parquet  source, target (ids), kind, weight float64, props; in order of key

A part holds a million rows, so a hub's edges spread over as many parts as they fill, and readers share the work
evenly.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from graphport.errors import BackendUnavailableError, InvalidInputError, StorageBusyError, StorageCorruptError
from graphport.model import Edge, GraphCounts, Node
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage

T = TypeVar("T")

MANIFEST = "graphport.json"
FORMAT = 1
GROUP_ROWS, PART_GROUPS = 100_000, 10
"""Rows held in memory while they are written, and how many times that makes a part."""


def is_export(folder: str | Path) -> bool:
    """Whether this is a folder that `write_parquet` wrote."""
    return (Path(folder) / MANIFEST).is_file()


def write_parquet(graph: GraphStorage, folder: str | Path) -> GraphCounts:
    """Write a graph, rows streamed in bounded memory, into a folder that is there only when it is whole.

    Raises `InvalidInputError` if ``folder`` exists, `StorageBusyError` if the graph changes meanwhile, and
    `BackendUnavailableError` without pyarrow.
    """
    target = Path(folder)
    if target.exists():
        raise InvalidInputError(f"{target} exists; give a folder that does not")
    pa, pq = _arrow()
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        revision = graph.revision()
        nodes = _write(pq, unfinished / "nodes", graph.iter_nodes(), _node_table(pa))
        edges = _write(pq, unfinished / "edges", graph.iter_edges(), _edge_table(pa))
        if graph.revision() != revision:
            raise StorageBusyError("the graph changed while it was written out; do it again")
        (unfinished / MANIFEST).write_text(json.dumps({"format": FORMAT, "nodes": nodes, "edges": edges}) + "\n")
        unfinished.chmod(0o777 & ~_umask())
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return GraphCounts(nodes, edges)


def read_parquet(folder: str | Path) -> GraphSnapshot:
    """The whole graph of an export, props included.

    Raises `InvalidInputError` for a folder that is no export, `StorageCorruptError` for one that is not whole.
    """
    place = Path(folder)
    counts = read_counts((place / MANIFEST).read_text("utf-8") if is_export(place) else "", str(place))
    pa, pq = _arrow()
    compute = importlib.import_module("pyarrow.compute")
    nodes, edges = (pa.concat_tables(pq.read_table(part) for part in _parts(place / of)) for of in ("nodes", "edges"))
    check_counts(counts, GraphCounts(nodes.num_rows, edges.num_rows), str(place))
    ids = nodes["id"].combine_chunks()
    source, target = (compute.index_in(edges[end], value_set=ids) for end in ("source", "target"))
    if source.null_count or target.null_count:
        raise StorageCorruptError(f"{place}: an edge ends in a node that is not there; export the graph again")
    node_kind, node_kinds = _coded(nodes["kind"])
    edge_kind, edge_kinds = _coded(edges["kind"])
    return GraphSnapshot.from_arrays(
        ids.to_pylist(),
        source.to_numpy(),
        target.to_numpy(),
        edges["weight"].to_numpy(),
        node_kind=node_kind,
        node_kinds=node_kinds,
        edge_kind=edge_kind,
        edge_kinds=edge_kinds,
        names=nodes["name"].to_pylist(),
        entries=nodes["entry"].to_pylist(),
        node_props=_props(nodes["props"]),
        edge_props=_props(edges["props"]),
    )


def read_counts(manifest: str, folder: str) -> GraphCounts:
    """Numbers of nodes and edges by the text of a manifest; `InvalidInputError` if it is none of ours."""
    try:
        told: Any = json.loads(manifest)
        if told["format"] == FORMAT:
            return GraphCounts(int(told["nodes"]), int(told["edges"]))
    except (json.JSONDecodeError, KeyError, TypeError, ValueError):
        pass
    raise InvalidInputError(
        f"{folder} is no export of format {FORMAT}; write one: graphport export GRAPH FOLDER --format parquet"
    )


def check_counts(told: GraphCounts, found: GraphCounts, folder: str) -> None:
    """Raises `StorageCorruptError` if an export holds other rows than its manifest says."""
    if told != found:
        raise StorageCorruptError(
            f"{folder} holds {found.nodes} nodes and {found.edges} edges, its {MANIFEST} says {told.nodes} and "
            f"{told.edges}; export the graph again"
        )


def _arrow() -> tuple[Any, Any]:
    """pyarrow, which brings no types, and its Parquet module."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise BackendUnavailableError("Parquet needs pyarrow; pip install 'graphport[parquet]'") from error


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))


def _write(pq: Any, folder: Path, rows: Iterable[T], table_of: Callable[[int, list[T]], Any]) -> int:
    """Writes rows as numbered parts, at least one; returns how many rows there were."""
    folder.mkdir()
    rest, written, part = iter(rows), 0, 0
    while written == part * PART_GROUPS * GROUP_ROWS:
        groups = _groups(rest, table_of, written)
        first = next(groups)
        with pq.ParquetWriter(folder / f"part-{part:05d}.parquet", first.schema, compression="zstd") as writer:
            for group in (first, *groups):
                writer.write_table(group)
                written += group.num_rows
        part += 1
    return written


def _groups(rest: Iterator[T], table_of: Callable[[int, list[T]], Any], written: int) -> Iterator[Any]:
    """Tables of one part; the first may be empty."""
    for number in range(PART_GROUPS):
        rows = list(islice(rest, GROUP_ROWS))
        if not rows and number:
            return
        yield table_of(written + number * GROUP_ROWS, rows)


def _node_table(pa: Any) -> Callable[[int, list[Node]], Any]:
    text = pa.string()
    schema = pa.schema(
        [("index", pa.int64()), ("id", text), ("kind", text), ("name", text), ("entry", text), ("props", text)]
    )

    def table(first: int, nodes: list[Node]) -> Any:
        columns = [
            list(range(first, first + len(nodes))),
            [node.id for node in nodes],
            [node.kind for node in nodes],
            [node.name for node in nodes],
            [node.entry for node in nodes],
            [json.dumps(node.props) if node.props else None for node in nodes],
        ]
        return pa.table(columns, schema=schema)

    return table


def _edge_table(pa: Any) -> Callable[[int, list[Edge]], Any]:
    text = pa.string()
    schema = pa.schema([("source", text), ("target", text), ("kind", text), ("weight", pa.float64()), ("props", text)])

    def table(_: int, edges: list[Edge]) -> Any:
        columns = [
            [edge.source for edge in edges],
            [edge.target for edge in edges],
            [edge.kind for edge in edges],
            [edge.weight for edge in edges],
            [json.dumps(edge.props) if edge.props else None for edge in edges],
        ]
        return pa.table(columns, schema=schema)

    return table


def _coded(column: Any) -> tuple[Any, list[str]]:
    """A column of texts as codes into a table."""
    coded = column.combine_chunks().dictionary_encode()
    return coded.indices.to_numpy(), coded.dictionary.to_pylist()


def _props(column: Any) -> dict[int, Any]:
    return {row: json.loads(text) for row, text in enumerate(column.to_pylist()) if text is not None}


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
