"""Random writes, and what they make of a graph of two dicts."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterable, Sequence
from typing import Any

from graphport import Edge, EdgeKey, GraphStorage, Node

HARD_IDS = ["it's", 'a "b"', "back\\slash", "line\nbreak", "名前", "😀", "é", "e\u0301"]
IDS = [*(f"n{number}" for number in range(40)), *HARD_IDS]
KINDS = ["calls", "cites", "it's"]
Write = tuple[str, list[Any]]
"""The name of a method of `GraphStorage`, and its argument."""


class Model:
    """The writing half of `GraphStorage`, by the book."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[EdgeKey, Edge] = {}

    def upsert_nodes(self, nodes: Iterable[Node]) -> None:
        self.nodes.update((node.id, node) for node in nodes)

    def upsert_edges(self, edges: Iterable[Edge]) -> None:
        self.edges.update((edge.key, edge) for edge in edges)

    def delete_nodes(self, ids: Iterable[str]) -> None:
        for node_id in ids:
            self.nodes.pop(node_id, None)
            for key in [key for key in self.edges if node_id in (key.source, key.target)]:
                del self.edges[key]

    def delete_edges(self, keys: Iterable[EdgeKey]) -> None:
        for key in keys:
            self.edges.pop(key, None)

    def copy(self) -> Model:
        return copy.deepcopy(self)

    def assert_same(self, storage: GraphStorage) -> None:
        """Every read agrees with the two dicts."""
        nodes, edges = sorted(self.nodes), sorted(self.edges)
        assert list(storage.iter_nodes()) == [self.nodes[node_id] for node_id in nodes]
        assert list(storage.iter_edges()) == [self.edges[key] for key in edges]
        snapshot = storage.snapshot()
        assert list(snapshot.ids) == nodes
        assert [snapshot.edge_key(row) for row in range(snapshot.n_edges)] == edges
        assert storage.get_edges(edges) == {key: self.edges[key] for key in edges}
        incident = storage.incident_edges(nodes)
        assert incident == {
            node_id: [self.edges[key] for key in edges if node_id in (key.source, key.target)] for node_id in nodes
        }
        counts = storage.counts()
        assert (counts.nodes, counts.edges) == (len(nodes), len(edges))


def random_writes(chance: random.Random, model: Model, most: int = 6) -> list[Write]:
    """Up to ``most`` writes that are valid one after the other."""
    after = model.copy()
    writes: list[Write] = []
    for _ in range(chance.randint(1, most)):
        write = _random_write(chance, after)
        apply(after, [write])
        writes.append(write)
    return writes


def apply(target: Any, writes: Sequence[Write]) -> None:
    for method, argument in writes:
        getattr(target, method)(argument)


def _random_write(chance: random.Random, model: Model) -> Write:
    method = chance.choice(["upsert_nodes", "upsert_edges", "upsert_edges", "delete_nodes", "delete_edges"])
    if method == "upsert_nodes" or not model.nodes:
        return "upsert_nodes", [_node(chance, node_id) for node_id in chance.choices(IDS, k=chance.randint(0, 12))]
    there = sorted(model.nodes)
    if method == "upsert_edges":
        return method, [_edge(chance, there) for _ in range(chance.randint(0, 20))]
    if method == "delete_nodes":
        return method, chance.sample(IDS, chance.randint(0, 4))
    keys = sorted(model.edges)
    return method, [*chance.sample(keys, min(len(keys), chance.randint(0, 8))), EdgeKey("n0", "nobody", "calls")]


def _node(chance: random.Random, node_id: str) -> Node:
    entry = chance.choice([None, "entry 1", node_id])
    return Node(node_id, chance.choice(KINDS), f"name {chance.random()}", entry, _props(chance))


def _edge(chance: random.Random, there: Sequence[str]) -> Edge:
    source, target = chance.choice(there), chance.choice(there)
    return Edge(source, target, chance.choice(KINDS), chance.choice([0.0, 1.0, chance.random()]), _props(chance))


def _props(chance: random.Random) -> dict[str, Any]:
    return chance.choice([{}, {"x": chance.random()}, {"text": "x" * chance.randint(0, 3000), "none": None}])
