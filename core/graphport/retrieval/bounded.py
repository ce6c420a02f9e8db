"""Personalized PageRank on a graph that is too large, or too far away, to be read as a whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from graphport.errors import InvalidSeedsError
from graphport.model import Edge
from graphport.rank.pagerank import check_damping
from graphport.storage import GraphStorage
from graphport.traverse import check_limit

MAX_VISITED = 256
EPSILON = 1e-6
MAX_ITER = 50


@dataclass(frozen=True, slots=True)
class BoundedPageRank:
    """Lower bounds of the scores of the nodes that were reached, by id.

    ``visited`` nodes were expanded. ``unexplored`` is the mass that stands where the walk was not
    followed any further: all scores together are too low by that much, so 0.0 is the exact ranking.
    """

    scores: Mapping[str, float]
    visited: int
    unexplored: float


def bounded_pagerank(
    storage: GraphStorage,
    seeds: Mapping[str, float],
    *,
    damping: float = 0.5,
    epsilon: float = EPSILON,
    max_iter: int = MAX_ITER,
    max_visited: int = MAX_VISITED,
) -> BoundedPageRank:
    """`graphport.personalized_pagerank` (undirected, weighted), as far as ``max_visited`` nodes tell.

    Forward push (Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors", FOCS 2006) in
    rounds: each of the ``max_iter`` rounds reads the edges of the nodes that hold most unmoved mass, in one
    `GraphStorage.incident_edges` call, and moves what stands on the nodes it knows. It ends when at most
    ``epsilon`` of mass can still be moved. A seed that is not in the graph has no edges.

    Raises `InvalidSeedsError` for no seeds or a weight that is not > 0, `InvalidInputError` for a damping
    outside [0, 1).
    """
    check_damping(damping)
    check_limit(max_visited, "max_visited", least=1)
    if not seeds or not all(0 < weight < float("inf") for weight in seeds.values()):
        raise InvalidSeedsError(f"seeds are {dict(seeds)!r:.80}; give at least one, each with a finite weight > 0")
    total = sum(seeds.values())
    reset = {node: seeds[node] / total for node in sorted(seeds)}
    waiting: dict[str, float] = dict(reset)
    scores: dict[str, float] = defaultdict(float)
    known: dict[str, dict[str, float]] = {}
    for _ in range(max_iter):
        _expand(storage, waiting, known, max_visited)
        moving = {node: mass for node, mass in waiting.items() if node in known}
        if sum(moving.values()) <= epsilon:
            break
        for node in moving:
            del waiting[node]
        for node, mass in moving.items():
            scores[node] += (1 - damping) * mass
            for neighbor, share in (known[node] or reset).items():
                waiting[neighbor] = waiting.get(neighbor, 0.0) + damping * mass * share
    for node, mass in waiting.items():
        scores[node] += (1 - damping) * mass
    unexplored = damping * sum(waiting.values())
    return BoundedPageRank(dict(sorted(scores.items())), len(known), unexplored)


def _expand(
    storage: GraphStorage, waiting: Mapping[str, float], known: dict[str, dict[str, float]], max_visited: int
) -> None:
    """Read the edges of the unknown nodes with most mass, as far as the limit allows."""
    unknown = sorted((-mass, node) for node, mass in waiting.items() if node not in known)
    batch = [node for _, node in unknown[: max_visited - len(known)]]
    if batch:
        incident = storage.incident_edges(batch)
        for node in batch:
            known[node] = _transitions(node, incident.get(node, []))


def _transitions(node: str, edges: list[Edge]) -> dict[str, float]:
    """Probability of each neighbor; a self-loop counts twice, as in igraph."""
    weights: dict[str, float] = {}
    for edge in edges:
        other = edge.target if edge.source == node else edge.source
        weights[other] = weights.get(other, 0.0) + edge.weight * (2 if edge.source == edge.target else 1)
    total = sum(weights.values())
    return {other: weight / total for other, weight in weights.items() if weight > 0}
