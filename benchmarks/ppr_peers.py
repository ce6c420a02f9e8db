"""Personalized PageRank as other libraries do it: each builds its own graph once and answers reset vectors."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from graphport import GraphSnapshot
from graphport.rank.matrix import symmetric_matrix

Vector = NDArray[np.float64]
Query = Callable[[Vector], Vector]


class Peer(NamedTuple):
    """``build(graph, damping)`` gives a query from a reset vector (n,), sum 1, to scores (n,)."""

    build: Callable[[GraphSnapshot, float], Query]
    package: str
    max_nodes: int
    """Beyond this it takes minutes a query or more memory than it is worth."""


def igraph(graph: GraphSnapshot, damping: float) -> Query:
    """As HippoRAG calls it, with one OpenMP thread."""
    import igraph as ig

    g = ig.Graph(n=graph.n_nodes)
    g.add_edges(zip(graph.source_index.tolist(), graph.target_index.tolist(), strict=True))
    g.es["weight"] = graph.weight.tolist()

    def query(reset: Vector) -> Vector:
        with threadpool_limits(1, user_api="openmp"):
            return np.array(
                g.personalized_pagerank(
                    vertices=range(graph.n_nodes),
                    damping=damping,
                    directed=False,
                    weights="weight",
                    reset=reset.tolist(),
                    implementation="prpack",
                )
            )

    return query


def networkx(graph: GraphSnapshot, damping: float) -> Query:
    import networkx as nx

    matrix = symmetric_matrix(graph, graph.weight).tocoo()  # both directions: networkx counts self-loops once
    g: Any = nx.DiGraph()
    g.add_nodes_from(range(graph.n_nodes))
    g.add_weighted_edges_from(zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True))

    def query(reset: Vector) -> Vector:
        seeds = {int(row): float(reset[row]) for row in np.flatnonzero(reset)}
        found = nx.pagerank(g, alpha=damping, personalization=seeds, dangling=seeds, tol=1e-12, max_iter=1000)
        return np.array([found[row] for row in range(graph.n_nodes)])

    return query


def scikit_network(graph: GraphSnapshot, damping: float) -> Query:
    from scipy.sparse import csr_matrix
    from sknetwork.ranking import PageRank

    matrix = csr_matrix(symmetric_matrix(graph, graph.weight))
    ranker = PageRank(damping_factor=damping, solver="piteration", n_iter=1000, tol=1e-10)
    return lambda reset: ranker.fit_predict(matrix, weights=reset)


def fast_pagerank(graph: GraphSnapshot, damping: float) -> Query:
    from fast_pagerank import pagerank_power
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(symmetric_matrix(graph, graph.weight))
    return lambda reset: pagerank_power(matrix, p=damping, personalize=reset, tol=1e-10)


def rustworkx(graph: GraphSnapshot, damping: float) -> Query:
    import rustworkx as rx

    matrix = symmetric_matrix(graph, graph.weight).tocoo()
    g = rx.PyDiGraph()
    g.add_nodes_from(range(graph.n_nodes))
    g.add_edges_from(list(zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True)))

    def query(reset: Vector) -> Vector:
        seeds = {int(row): float(reset[row]) for row in np.flatnonzero(reset)}
        found = rx.pagerank(
            g, alpha=damping, weight_fn=float, personalization=seeds, dangling=seeds, tol=1e-10, max_iter=1000
        )
        return np.array([found[row] for row in range(graph.n_nodes)])

    return query


PEERS = {
    "igraph": Peer(igraph, "igraph", 2_000_000),
    "networkx": Peer(networkx, "networkx", 100_000),
    "scikit-network": Peer(scikit_network, "sknetwork", 2_000_000),
    "fast-pagerank": Peer(fast_pagerank, "fast_pagerank", 2_000_000),
    "rustworkx": Peer(rustworkx, "rustworkx", 100_000),
}


def installed(peer: Peer) -> bool:
    return importlib.util.find_spec(peer.package) is not None
