"""Comparing rows to the last bit, and building what a graph should look like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphport.model import Edge, Node, dump_props
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage


def exact_node(node: Node) -> tuple[Any, ...]:
    """Equal only for nodes that are the same in every character and bit; 1, 1.0 and true are three values."""
    assert type(node) is Node
    return (node.id, node.kind, node.name, node.entry, dump_props(node.props))


def exact_edge(edge: Edge) -> tuple[Any, ...]:
    """As `exact_node`; -0.0 is not 0.0, and an int is no weight."""
    assert type(edge) is Edge
    return (*edge.key, repr(edge.weight), dump_props(edge.props))


def exact_nodes(nodes: Iterable[Node]) -> list[tuple[Any, ...]]:
    return [exact_node(node) for node in nodes]


def exact_edges(edges: Iterable[Edge]) -> list[tuple[Any, ...]]:
    return [exact_edge(edge) for edge in edges]


def by_id(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node.id)


def by_key(edges: Iterable[Edge]) -> list[Edge]:
    return sorted(edges, key=lambda edge: edge.key)


def assert_holds(storage: GraphStorage, nodes: Iterable[Node], edges: Iterable[Edge] = ()) -> None:
    """The graph is these rows and nothing else, in order."""
    nodes, edges = by_id(nodes), by_key(edges)
    assert exact_nodes(storage.iter_nodes()) == exact_nodes(nodes)
    assert exact_edges(storage.iter_edges()) == exact_edges(edges)
    counts = storage.counts()
    assert (counts.nodes, counts.edges) == (len(nodes), len(edges))


def reference_snapshot(nodes: Iterable[Node], edges: Iterable[Edge], *, with_props: bool = False) -> GraphSnapshot:
    """The columns of these rows, built by `GraphSnapshot.from_arrays`."""
    nodes, edges = list(nodes), list(edges)
    row = {node.id: i for i, node in enumerate(nodes)}
    node_kinds = sorted({node.kind for node in nodes})
    edge_kinds = sorted({edge.kind for edge in edges})
    return GraphSnapshot.from_arrays(
        [node.id for node in nodes],
        [row[edge.source] for edge in edges],
        [row[edge.target] for edge in edges],
        [edge.weight for edge in edges],
        node_kind=[node_kinds.index(node.kind) for node in nodes],
        node_kinds=node_kinds,
        edge_kind=[edge_kinds.index(edge.kind) for edge in edges],
        edge_kinds=edge_kinds,
        names=[node.name for node in nodes],
        entries=[node.entry for node in nodes],
        node_props={i: node.props for i, node in enumerate(nodes) if node.props} if with_props else None,
        edge_props={i: edge.props for i, edge in enumerate(edges) if edge.props} if with_props else None,
    )
