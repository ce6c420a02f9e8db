"""The file of the in-process backend, read and written by SQL, numpy and json alone."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from graphport import Edge, Node
from graphport.testing import Rows


def read_file(path: Path, graph: str) -> Rows:
    with closing(sqlite3.connect(path)) as file:
        (number,) = file.execute("SELECT graph FROM graphs WHERE name = ?", (graph,)).fetchone()
        columns: dict[str, bytes] = {}
        for name, data in file.execute("SELECT name, data FROM columns WHERE graph = ? ORDER BY name, part", (number,)):
            columns[name] = columns.get(name, b"") + data
        nodes, edges = _base_rows(columns) if columns else ({}, {})
        for (text,) in file.execute("SELECT batch FROM batches WHERE graph = ? ORDER BY revision", (number,)):
            _apply(json.loads(text), nodes, edges)
    return Rows(list(nodes.values()), list(edges.values()))


def poke_file(path: Path, graph: str, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    batch = {
        "cleared": False,
        "deleted_nodes": [],
        "deleted_edges": [],
        "nodes": [[node.id, node.kind, node.name, node.entry, node.props] for node in nodes],
        "edges": [[edge.source, edge.target, edge.kind, edge.weight, edge.props] for edge in edges],
    }
    text = json.dumps(batch).encode()
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE graphs SET revision = revision + 1 WHERE name = ?", (graph,))
        file.execute(
            "INSERT INTO batches SELECT graph, revision, ?, ? FROM graphs WHERE name = ?",
            (text, zlib.crc32(text), graph),
        )


def _base_rows(columns: dict[str, bytes]) -> tuple[dict[str, Node], dict[tuple[str, str, str], Edge]]:
    header = json.loads(columns["header"])
    ids, names, entries = (_texts(columns, name) for name in ("ids", "names", "entries"))
    node_props, edge_props = (_props(columns, name) for name in ("node_props", "edge_props"))
    nodes = {
        node_id: Node(node_id, header["node_kinds"][code], names[row], entries[row], node_props.get(row, {}))
        for row, (node_id, code) in enumerate(zip(ids, np.frombuffer(columns["node_kind"], "<i4"), strict=True))
    }
    source, target = (np.frombuffer(columns[name], header["index"]) for name in ("source", "target"))
    kind, weight = np.frombuffer(columns["edge_kind"], "<i4"), np.frombuffer(columns["weight"], "<f8").tolist()
    edges = {}
    for row in range(len(source)):
        key = (ids[source[row]], ids[target[row]], header["edge_kinds"][kind[row]])
        edges[key] = Edge(*key, weight[row], edge_props.get(row, {}))
    return nodes, edges


def _apply(batch: dict[str, Any], nodes: dict[str, Node], edges: dict[tuple[str, str, str], Edge]) -> None:
    if batch["cleared"]:
        nodes.clear()
        edges.clear()
    for key in batch["deleted_edges"]:
        edges.pop(tuple(key), None)
    gone = set(batch["deleted_nodes"])
    for key in [key for key in edges if key[0] in gone or key[1] in gone]:
        del edges[key]
    for node_id in gone:
        nodes.pop(node_id, None)
    nodes.update({row[0]: Node(*row) for row in batch["nodes"]})
    edges.update({tuple(row[:3]): Edge(*row) for row in batch["edges"]})


def _texts(columns: dict[str, bytes], name: str) -> list[Any]:
    text, at = columns[name].decode(), 0
    texts: list[str | None] = []
    for length in np.frombuffer(columns[f"{name}.lengths"], "<i8").tolist():
        texts.append(None if length < 0 else text[at : at + length])
        at += max(length, 0)
    return texts


def _props(columns: dict[str, bytes], name: str) -> dict[int, Any]:
    rows = np.frombuffer(columns[f"{name}.rows"], "<i8").tolist()
    return {row: json.loads(text) for row, text in zip(rows, _texts(columns, name), strict=True)}
