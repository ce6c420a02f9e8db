"""Nodes and edges as AGE's property maps: JSON text in, JSON text out.

AGE keeps what JSON says: 1 stays an integer and 1.0 a float, floats keep every bit, null stays null.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring as quoted  # the C function behind json.dumps: a tenth of its price
from typing import Any

from graphport.errors import StorageCorruptError
from graphport.model import Edge, Node, Props
from graphport.snapshot import GraphSnapshot
from graphport_postgres.layout import index_form

LINES_IN_A_PIECE = 10_000

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def encode_key(text: str) -> str:
    return quoted(index_form(text))


def encode_node(node: Node) -> tuple[str]:
    return (_node_properties(node.id, node.kind, node.name, node.entry, node.props),)


def _node_properties(node_id: str, kind: str, name: str, entry: str | None, props: Props | None) -> str:
    """A vertex's properties as JSON. ``long_id`` is there when ``id`` had to be a digest."""
    key = index_form(node_id)
    parts = [f'{{"id":{quoted(key)},"kind":{quoted(kind)},"name":{quoted(name)}']
    if key != node_id:
        parts.append(f'"long_id":{quoted(node_id)}')
    if entry is not None:
        parts.append(f'"entry":{quoted(entry)}')
    if props:
        parts.append(f'"props":{_json(props)}')
    return ",".join(parts) + "}"


def encode_edge(edge: Edge) -> tuple[str]:
    return (_edge_properties(_kind_properties(edge.kind), edge.weight, edge.props),)


def _kind_properties(kind: str) -> str:
    """How the properties of every edge of that kind begin."""
    key = index_form(kind)
    longer = "" if key == kind else f',"long_kind":{quoted(kind)}'
    return f'{{"kind":{quoted(key)}{longer}'


def _edge_properties(beginning: str, weight: float, props: Props | None) -> str:
    """An edge's properties as JSON, after what `kind_properties` gives; repr keeps every bit of a float."""
    if props:
        return f'{beginning},"weight":{weight!r},"props":{_json(props)}}}'
    return f'{beginning},"weight":{weight!r}}}'


def decode_node(row: Sequence[Any]) -> Node:
    held = json.loads(row[0])
    node_id, kind = held.get("long_id", held.get("id")), held.get("kind")
    if not isinstance(node_id, str) or not isinstance(kind, str):
        raise StorageCorruptError(
            f"a vertex :Node has the properties {row[0]:.200}; it must have id and kind, both text"
        )
    return Node(node_id, kind, held.get("name", node_id), held.get("entry"), held.get("props", {}))


def decode_edge(row: Sequence[Any]) -> Edge:
    source, target, properties = row
    held = json.loads(properties)
    kind = held.get("long_kind", held.get("kind"))
    if not isinstance(kind, str):
        raise StorageCorruptError(f"an edge :Edge has the properties {properties:.200}; it must have a kind, a text")
    return Edge(source, target, kind, float(held.get("weight", 1.0)), held.get("props", {}))


def node_lines(graph: GraphSnapshot, base: int) -> Iterator[str]:
    """Lines ``id properties`` for COPY, in pieces of 10,000."""
    kinds: list[int] = graph.node_kind.tolist()
    rows = zip(graph.ids, kinds, graph.names, graph.entries, strict=True)
    lines: list[str] = []
    for row, (node_id, kind, name, entry) in enumerate(rows):
        text = _node_properties(node_id, graph.node_kinds[kind], name, entry, graph.node_props.get(row))
        lines.append(f"{base + row + 1}\t{_copy_text(text)}\n")
        if len(lines) == LINES_IN_A_PIECE:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def edge_lines(graph: GraphSnapshot, node_base: int, edge_base: int) -> Iterator[str]:
    """Lines ``id start_id end_id properties`` for COPY, in pieces of 10,000."""
    beginnings = [_kind_properties(kind) for kind in graph.edge_kinds]
    ready = [_copy_text(beginning) for beginning in beginnings]
    node_keys = [*range(node_base + 1, node_base + graph.n_nodes + 1)]
    for first in range(0, graph.n_edges, LINES_IN_A_PIECE):
        piece = slice(first, first + LINES_IN_A_PIECE)
        kinds: list[int] = graph.edge_kind[piece].tolist()
        rows = zip(
            range(first, graph.n_edges),
            graph.source_index[piece].tolist(),
            graph.target_index[piece].tolist(),
            kinds,
            graph.weight[piece].tolist(),
            strict=False,
        )
        if graph.edge_props:
            yield "".join(
                f"{edge_base + row + 1}\t{node_keys[source]}\t{node_keys[target]}\t"
                f"{_copy_text(_edge_properties(beginnings[kind], weight, graph.edge_props.get(row)))}\n"
                for row, source, target, kind, weight in rows
            )
        else:
            yield "".join(
                f"{edge_base + row + 1}\t{node_keys[source]}\t{node_keys[target]}\t"
                f'{ready[kind]},"weight":{weight!r}}}\n'
                for row, source, target, kind, weight in rows
            )


def _copy_text(text: str) -> str:
    # JSON has no raw newline or tab; the backslash is all that COPY would take for its own.
    return text.replace("\\", "\\\\")
