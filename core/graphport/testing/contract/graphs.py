"""Graphs that the tests write, and brute-force answers about them."""

from __future__ import annotations

import random
from collections.abc import Iterable

from graphport.model import Direction, Edge, Node

ORDERED_IDS = ("!", "A", "Z", "_", "a", "a0", "aa", "a\u0301", "b", "z", "é", "名", "\uff61", "\ufffd", "𝕏", "😀", "😁")
"""In code point order, which is neither a locale's order, nor that of UTF-16, nor one that ignores case."""


def node(node_id: str, kind: str = "k", **more: object) -> Node:
    """A node that is named like its id."""
    return Node(node_id, kind, node_id, **more)  # type: ignore[arg-type]  # passed through to Node as they are


def sample() -> tuple[list[Node], list[Edge]]:
    """A small graph with everything: parallel kinds, both directions, self-loops, an isolated node, props, entries."""
    nodes = [
        Node("a", "person", "Ada", "entry 1", {"born": 1815}),
        Node("b", "person", "Bob", "entry 1"),
        Node("c", "place", "Ada", None, {"x": 1.0, "y": [True, None]}),
        Node("d", "place", "d"),
        Node("island", "person", "Nobody", "entry 2"),
    ]
    edges = [
        Edge("a", "b", "knows", 2.0, {"since": 1830}),
        Edge("a", "b", "likes", 0.5),
        Edge("b", "a", "knows", 1.0),
        Edge("a", "a", "knows", 0.25),
        Edge("b", "c", "visits", 3.0),
        Edge("c", "d", "near", 0.0),
        Edge("d", "c", "near", 0.1),
        Edge("d", "d", "near", 1.5),
    ]
    return nodes, edges


def random_graph(n: int, m: int, seed: int = 7) -> tuple[list[Node], list[Edge]]:
    """``n`` nodes and ``m`` different edges of three kinds; some self-loops, some parallel."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    ids = [f"n{number:05d}" for number in range(n)]
    keys: dict[tuple[str, str, str], float] = {}
    while len(keys) < m:
        keys[(chance.choice(ids), chance.choice(ids), chance.choice(("calls", "cites", "uses")))] = chance.random()
    nodes = [Node(node_id, chance.choice(("file", "symbol")), f"name of {node_id}") for node_id in ids]
    return nodes, [Edge(*key, weight) for key, weight in keys.items()]


def incident(
    edges: Iterable[Edge], node_id: str, direction: Direction = Direction.BOTH, kinds: Iterable[str] | None = None
) -> list[Edge]:
    """Every edge of the node, by looking at all edges."""
    out, into = direction is not Direction.IN, direction is not Direction.OUT
    wanted = None if kinds is None else set(kinds)
    found = [
        edge
        for edge in edges
        if ((out and edge.source == node_id) or (into and edge.target == node_id))
        and (wanted is None or edge.kind in wanted)
    ]
    return sorted(found, key=lambda edge: edge.key)


def walk(
    nodes: Iterable[Node],
    edges: Iterable[Edge],
    seeds: Iterable[str],
    *,
    depth: int,
    max_nodes: int,
    direction: Direction = Direction.BOTH,
    kinds: Iterable[str] | None = None,
) -> tuple[dict[str, int], list[Edge], bool]:
    """Depths in order found, the edges between what was found, and whether ``max_nodes`` cut something off."""
    edges, wanted = list(edges), None if kinds is None else set(kinds)
    level = sorted({node.id for node in nodes} & set(seeds))
    depths: dict[str, int] = {}
    for step in range(depth + 1):
        taken = level[: max_nodes - len(depths)]
        cut = len(taken) < len(level)
        depths.update(dict.fromkeys(taken, step))
        if cut or step == depth:
            break
        ahead: set[str] = set()
        for node_id in taken:
            for edge in incident(edges, node_id, direction, wanted):
                ahead |= {edge.target} if edge.source == node_id and direction is not Direction.IN else set()
                ahead |= {edge.source} if edge.target == node_id and direction is not Direction.OUT else set()
        level = sorted(ahead - depths.keys())
    else:
        cut = False
    inside = [e for e in edges if e.source in depths and e.target in depths and (wanted is None or e.kind in wanted)]
    return depths, sorted(inside, key=lambda edge: edge.key), cut
