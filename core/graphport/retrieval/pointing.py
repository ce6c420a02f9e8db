"""The graph as a query walks it: arcs in the direction in which texts point, and a few of them back.

Edges say ``entry -mentions-> name`` and ``entry -titled-> name``. A symmetric walk spends most of its
mass on the way back, from a name to everything that mentions it. Here the walk goes from an entry to what
it mentions, and from a name to the entry that carries it; a tenth of the weight leads the other way.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.matrix import symmetric_matrix
from graphport.snapshot import GraphSnapshot
from graphport.snapshot.canonical import canonical_kinds, edge_order

NAMING = "titled"
"""Kind of the edges from an entry to its own names: they point from the name to the entry."""
AGAINST = 0.1
"""Weight of an arc against the pointing direction, relative to the one along it."""
STRUCTURE = frozenset({"contains", "next"})
"""Kinds of edges that say where a text stands and not what it is about."""
STRUCTURE_WEIGHT = 0.1
"""Their weight in the walk: a chapter's other passages are near, but what a passage names is nearer."""
ALONG, BACK = ">", "<"
"""Endings of an arc's kind: it leads from its edge's source to the target, or back."""


def pointing_graph(graph: GraphSnapshot) -> GraphSnapshot:
    """The directed graph that `walk` ranks by: the same nodes, two arcs for each edge; kept with ``graph``.

    An arc to a node that stands for no entry and names none counts by the node's `specificity`: what many
    entries mention says little about each. To one with a single neighbor there is no arc, for it leads
    nowhere. The kind of an arc is its edge's with `ALONG` or `BACK` behind.
    """
    return graph.derived("retrieval:pointing", _pointing)


def both_ways(graph: GraphSnapshot) -> GraphSnapshot:
    """The undirected walk as a directed graph: two arcs of the same weight for each edge; kept with ``graph``."""
    return graph.derived("retrieval:both-ways", lambda one: _two_way(one, one.weight, one.weight))


def specificity(graph: GraphSnapshot) -> NDArray[np.float64]:
    """(n,): 1 / (number of a node's neighbors), 0 for a node without; kept with ``graph``.

    For an entity the neighbors are the entries it is in, so this is the seed weight of HippoRAG.
    """
    return graph.derived("retrieval:specificity", _specificity)


def carried_names(graph: GraphSnapshot) -> NDArray[np.bool_]:
    """(n,): whether a node is a name that some entry carries; kept with ``graph``."""
    return graph.derived("retrieval:carried", _carried)


def _carried(graph: GraphSnapshot) -> NDArray[np.bool_]:
    carried = np.zeros(graph.n_nodes, dtype=np.bool_)
    carried[graph.target_index[_is_naming(graph)]] = True
    return carried


def _is_naming(graph: GraphSnapshot) -> NDArray[np.bool_]:
    """(m,): which edges are of the kind `NAMING`."""
    code = graph.edge_kinds.index(NAMING) if NAMING in graph.edge_kinds else -1
    is_naming: NDArray[np.bool_] = graph.edge_kind == code
    return is_naming


def _specificity(graph: GraphSnapshot) -> NDArray[np.float64]:
    degree = np.diff(symmetric_matrix(graph, graph.weight).indptr)
    return np.divide(1.0, degree, out=np.zeros(graph.n_nodes), where=degree > 0)


def _pointing(graph: GraphSnapshot) -> GraphSnapshot:
    naming = _is_naming(graph)
    rare = specificity(graph)
    worth = np.where(rare < 1, rare, 0.0)
    worth[graph.entry_mask()] = 1.0
    worth[carried_names(graph)] = 1.0
    is_structure = np.array([kind in STRUCTURE for kind in graph.edge_kinds], dtype=bool)[graph.edge_kind]
    weight = graph.weight * np.where(is_structure, STRUCTURE_WEIGHT, 1.0)
    along = weight * worth[graph.target_index] * np.where(naming, AGAINST, 1.0)
    back = weight * worth[graph.source_index] * np.where(naming, 1.0, AGAINST)
    return _two_way(graph, along, back)


def _two_way(graph: GraphSnapshot, along: NDArray[np.float64], back: NDArray[np.float64]) -> GraphSnapshot:
    kinds = len(graph.edge_kinds)
    turned = _by_target(graph)
    table, kind = canonical_kinds(
        [kind + way for way in (ALONG, BACK) for kind in graph.edge_kinds],
        np.concatenate([graph.edge_kind, graph.edge_kind[turned] + np.int32(kinds)]),
        "arc kind",
    )
    source = np.concatenate([graph.source_index, graph.target_index[turned]])
    target = np.concatenate([graph.target_index, graph.source_index[turned]])
    weight = np.concatenate([along, back[turned]])
    order = edge_order(source, target, kind, graph.n_nodes, len(table))
    if order is not None:
        source, target, kind, weight = source[order], target[order], kind[order], weight[order]
    return GraphSnapshot(  # the nodes are a snapshot's, and so canonical
        ids=graph.ids, names=graph.names, entries=graph.entries, node_kinds=graph.node_kinds,
        node_kind=graph.node_kind, source_index=source, target_index=target, edge_kinds=table, edge_kind=kind,
        weight=weight,
    )  # fmt: skip


def _by_target(graph: GraphSnapshot) -> NDArray[np.int64]:
    """The edges in order of (target, source, kind): with the others two runs, which are merged fast."""
    starts = np.searchsorted(graph.source_index, np.arange(graph.n_nodes + 1))
    edges = csr_array((np.arange(graph.n_edges), graph.target_index, starts), shape=(graph.n_nodes, graph.n_nodes))
    order: NDArray[np.int64] = edges.tocsc().data
    return order
