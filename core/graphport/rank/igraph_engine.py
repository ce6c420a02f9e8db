"""What igraph computes for us: the reference PageRank (PRPACK) and Leiden communities."""

from __future__ import annotations

import random
import threading
from functools import cache
from typing import Any, NamedTuple, cast

import igraph as untyped_igraph  # type: ignore[import-untyped]  # igraph ships no types  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]

from graphport.errors import ConvergenceError
from graphport.rank.arrays import Vector
from graphport.rank.matrix import edge_weights, spans_widely
from graphport.rank.seeds import Reset
from graphport.rank.walk import walk_of
from graphport.snapshot import GraphSnapshot

igraph = cast("Any", untyped_igraph)

ERROR_BOUND = 1e-9
"""L1. PRPACK stops when 1e-10 of the mass is missing; the largest error measured is 1.6e-11."""

_random_lock = threading.Lock()


class BuiltGraph(NamedTuple):
    """A directed igraph graph and the weights of its edges; ``arcs``: an undirected edge is there both ways."""

    graph: Any
    weights: list[float]
    arcs: bool


def igraph_pagerank(graph: GraphSnapshot, reset: Reset, *, damping: float, directed: bool, weighted: bool) -> Vector:
    """(n,) scores, mass 1, as ``igraph.Graph.personalized_pagerank`` gives them."""
    built = _built(graph, directed=directed, weighted=weighted)
    restart = np.zeros(graph.n_nodes)
    restart[reset.rows] = reset.mass
    # With two OpenMP threads PRPACK's sums are not the same bit for bit from run to run (L1 2e-13).
    with _thread_pools().limit(limits=1, user_api="openmp"):
        scores: list[float] = built.graph.personalized_pagerank(
            damping=damping,
            directed=directed or built.arcs,
            weights=built.weights if weighted else None,
            reset=restart.tolist(),
        )
    mass = np.array(scores)
    if not np.isfinite(mass).all():
        raise ConvergenceError("igraph's personalized_pagerank returned NaN; use engine='chebyshev'")
    return mass


def leiden_membership(matrix: csr_array, *, resolution: float, seed: int) -> list[int]:
    """Community of each row of a symmetric matrix by igraph's Leiden, for modularity, two iterations."""
    matrix.setdiag(matrix.diagonal() / 2)  # as an edge of an undirected graph a self-loop is there once
    edges = triu(matrix).tocoo()
    built = igraph.Graph(n=matrix.shape[0])
    built.add_edges(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    with _random_lock:  # igraph has one generator for all threads: lend it ours, then give Python's back
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 - no secret hangs on it
        try:
            found = built.community_leiden(
                objective_function="modularity", weights=edges.data.tolist(), resolution=resolution, n_iterations=2
            )
        finally:
            igraph.set_random_number_generator(random)
    return cast("list[int]", found.membership)


@cache
def _thread_pools() -> Any:
    return ThreadpoolController()


def _built(graph: GraphSnapshot, *, directed: bool, weighted: bool) -> BuiltGraph:
    if weighted and graph.derived("weights:wide", spans_widely):
        # PRPACK divides by sums of weights, which over- or underflow here: give it probabilities instead.
        way = "directed" if directed else "undirected"
        return graph.derived(f"igraph:{way}:probabilities", lambda g: _build_arcs(g, directed=directed))
    return graph.derived("igraph", _build)


def _build(graph: GraphSnapshot) -> BuiltGraph:
    return _graph_of(graph.n_nodes, graph.source_index, graph.target_index, edge_weights(graph), arcs=False)


def _build_arcs(graph: GraphSnapshot, *, directed: bool) -> BuiltGraph:
    arcs = walk_of(graph, directed=directed).step.tocoo()
    return _graph_of(graph.n_nodes, arcs.col, arcs.row, arcs.data, arcs=True)


def _graph_of(n: int, source: NDArray[Any], target: NDArray[Any], weight: Vector, *, arcs: bool) -> BuiltGraph:
    built = igraph.Graph(n=n, directed=True)
    # Lists: igraph reads an array item by item, at 1.2 to 3.7 times the price.
    built.add_edges(zip(source.tolist(), target.tolist(), strict=True))
    return BuiltGraph(built, weight.tolist(), arcs)
