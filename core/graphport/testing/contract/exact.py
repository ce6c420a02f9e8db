"""Comparing rows to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphport.model import Edge, Node, dump_props
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
