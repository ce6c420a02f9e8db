"""graphport's own ways to rank, and what all ways are asked: seed sets with and without hubs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from ppr_peers import Query, Vector

from graphport import GraphSnapshot, personalized_pagerank, top_personalized_pagerank
from graphport.rank.arrays import Mask
from graphport.rank.pagerank import Engine, best_rows
from graphport.rank.walk import walk_of

K = 20
Rank = Callable[[list[int]], list[str]]
"""From rows of seeds to the ids of the best K, best first."""


def seed_sets(graph: GraphSnapshot, seed: int = 5, *, of_each: int = 10) -> tuple[list[list[int]], list[list[int]]]:
    """Ordinary sets of rows, and as many with a hub, the ten largest in turns."""
    rng = np.random.default_rng(seed)
    walk = walk_of(graph)
    hubs = np.argsort(-walk.degree, kind="stable")[:10].tolist()
    hub_degree = walk.degree[hubs].min()

    def entity() -> int:
        while True:
            row = int(walk.step.indices[rng.integers(walk.n_arcs)])
            if graph.node_kind[row] == 0 and walk.degree[row] < hub_degree / 10:
                return row

    ordinary = [[entity() for _ in range(rng.integers(1, 6))] for _ in range(of_each)]
    return ordinary, [[hubs[i % len(hubs)], entity(), entity()] for i in range(of_each)]


def by_scores(graph: GraphSnapshot, query: Query, mask: Mask | None) -> Rank:
    """Ranks by a full score vector, entries alone if there is a mask."""

    def rank(rows: list[int]) -> list[str]:
        reset = np.zeros(graph.n_nodes)
        reset[rows] = 1 / len(rows)
        scores = query(reset)
        return [graph.ids[row] for row in best_rows(scores if mask is None else np.where(mask, scores, -1), K)]

    return rank


def ours(graph: GraphSnapshot, damping: float, mask: Mask | None) -> Rank:
    def rank(rows: list[int]) -> list[str]:
        seeds = [graph.ids[row] for row in rows]
        found = top_personalized_pagerank(graph, seeds, K, among=mask, damping=damping)
        if not found.certified:
            raise SystemExit(f"not certified: {seeds}")
        return list(found.ids)

    return rank


def engine(graph: GraphSnapshot, name: Engine, damping: float) -> Query:
    def query(reset: Vector) -> Vector:
        seeds = {graph.ids[row]: float(reset[row]) for row in np.flatnonzero(reset)}
        return personalized_pagerank(graph, seeds, damping=damping, engine=name).scores

    return query
