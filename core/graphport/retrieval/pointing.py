"""The graph as a query walks it: arcs in the direction in which texts point, and a few of them back.

Edges say ``entry -mentions-> name`` and ``entry -titled-> name``. A symmetric walk spends most of its
mass on the way back, from a name to everything that mentions it. Here the walk goes from an entry to what
it mentions, and from a name to the entry that carries it; a tenth of the weight leads the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.matrix import symmetric_matrix
from graphport.rank.row_splice import Csr, spliced, touched_edges
from graphport.snapshot import GraphSnapshot, RowChanges
from graphport.snapshot.canonical import edge_order

Arrays = Mapping[str, NDArray[Any]]

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
    return graph.derived("retrieval:pointing", lambda one: _kept_arcs(one, "pointing", _pointing))


def both_ways(graph: GraphSnapshot) -> GraphSnapshot:
    """The undirected walk as a directed graph: two arcs of the same weight for each edge; kept with ``graph``."""
    return graph.derived("retrieval:both-ways", lambda one: _kept_arcs(one, "bothways", _both_ways))


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
    is_naming: NDArray[np.bool_] = graph.edge_kind == _naming(graph.edge_kinds)
    return is_naming


def _naming(kinds: Sequence[str]) -> int:
    return kinds.index(NAMING) if NAMING in kinds else -1


def _specificity(graph: GraphSnapshot) -> NDArray[np.float64]:
    degree = graph.derived_arrays("neighbors", _neighbors, _patched_neighbors)["count"]
    return np.divide(1.0, degree, out=np.zeros(graph.n_nodes), where=degree > 0)


def _neighbors(graph: GraphSnapshot) -> Arrays:
    return {"count": np.diff(symmetric_matrix(graph, graph.weight).indptr).astype(np.int32)}


def _patched_neighbors(graph: GraphSnapshot, earlier: Arrays, changes: RowChanges) -> Arrays | None:
    part = touched_edges(graph, changes)
    if part is None:
        return None
    count = changes.nodes.array(earlier["count"], [0] * len(changes.nodes.new_rows)).copy()
    near = np.diff(symmetric_matrix(part, graph.weight[part.edges]).indptr)
    count[changes.touched] = near[part.touched]
    return {"count": count}


# -- arcs -------------------------------------------------------------------------------------------------


class _Edges(NamedTuple):
    """Edges in order of (source, target, kind), of a graph or of a part of one."""

    n_nodes: int
    kinds: Sequence[str]
    source: NDArray[Any]
    target: NDArray[Any]
    kind: NDArray[np.int32]
    weight: NDArray[np.float64]


Weighing = Callable[[GraphSnapshot, _Edges, Any], Csr]
"""The arcs of edges that join those nodes of a graph that are picked by a slice or an array of rows."""


def _kept_arcs(graph: GraphSnapshot, key: str, weigh: Weighing) -> GraphSnapshot:
    """The graph of all arcs. The weight of one depends on its edge and on the edges of the two that it joins."""

    def made(one: GraphSnapshot) -> Arrays:
        edges = _Edges(one.n_nodes, one.edge_kinds, one.source_index, one.target_index, one.edge_kind, one.weight)
        return _arrays(one, weigh(one, edges, slice(None)))

    def patched(one: GraphSnapshot, earlier: Arrays, changes: RowChanges) -> Arrays | None:
        if earlier["kinds"].tobytes() != _text(one.edge_kinds).tobytes():
            return None
        whole = Csr(earlier["indptr"], earlier["target"], {name: earlier[name] for name in ("kind", "weight")})
        part = touched_edges(one, changes, whole)
        if part is None:
            return None
        at = part.edges
        edges = _Edges(
            part.n_nodes, one.edge_kinds, part.source_index, part.target_index, one.edge_kind[at], one.weight[at]
        )
        return _arrays(one, spliced(whole, changes, part, weigh(one, edges, part.rows)))

    return _arc_graph(graph, graph.derived_arrays(key, made, patched))


def _both_ways(_graph: GraphSnapshot, edges: _Edges, _nodes: Any) -> Csr:
    return _two_way(edges, edges.weight, edges.weight)


def _pointing(graph: GraphSnapshot, edges: _Edges, nodes: Any) -> Csr:
    worth = _worth(graph)[nodes]
    naming = edges.kind == _naming(edges.kinds)
    is_structure = np.array([kind in STRUCTURE for kind in edges.kinds], dtype=bool)[edges.kind]
    weight = edges.weight * np.where(is_structure, STRUCTURE_WEIGHT, 1.0)
    along = weight * worth[edges.target] * np.where(naming, AGAINST, 1.0)
    back = weight * worth[edges.source] * np.where(naming, 1.0, AGAINST)
    return _two_way(edges, along, back)


def _worth(graph: GraphSnapshot) -> NDArray[np.float64]:
    """(n,): by what the weight of arcs to each node is multiplied."""
    rare = specificity(graph)
    worth = np.where(rare < 1, rare, 0.0)
    worth[graph.entry_mask()] = 1.0
    worth[carried_names(graph)] = 1.0
    return worth


def _two_way(edges: _Edges, along: NDArray[np.float64], back: NDArray[np.float64]) -> Csr:
    """(n, n): two arcs an edge."""
    turned = _by_target(edges)
    code = {kind: row for row, kind in enumerate(_arc_kinds(edges.kinds))}
    there, here = (np.array([code[kind + way] for kind in edges.kinds], dtype=np.int32) for way in (ALONG, BACK))
    kind = np.concatenate([there[edges.kind], here[edges.kind[turned]]])
    source = np.concatenate([edges.source, edges.target[turned]])
    target = np.concatenate([edges.target, edges.source[turned]])
    weight = np.concatenate([along, back[turned]])
    order = edge_order(source, target, kind, edges.n_nodes, len(code))
    if order is not None:
        source, target, kind, weight = source[order], target[order], kind[order], weight[order]
    indptr = np.zeros(edges.n_nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(source, minlength=edges.n_nodes), out=indptr[1:])
    return Csr(indptr, target, {"kind": kind, "weight": weight})


def _arc_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(kind + way for kind in kinds for way in (ALONG, BACK)))


def _by_target(edges: _Edges) -> NDArray[np.int64]:
    """The edges in order of (target, source, kind): with the others two runs, which are merged fast."""
    n, m = edges.n_nodes, len(edges.source)
    starts = np.searchsorted(edges.source, np.arange(n + 1, dtype=edges.source.dtype))
    order: NDArray[np.int64] = csr_array((np.arange(m), edges.target, starts), shape=(n, n)).tocsc().data
    return order


def _arrays(graph: GraphSnapshot, arcs: Csr) -> Arrays:
    """As arrays that can be kept beside the graph; ``kinds`` are those of its edges."""
    return {"indptr": arcs.indptr, "target": arcs.indices, **arcs.values, "kinds": _text(graph.edge_kinds)}


def _text(kinds: Sequence[str]) -> NDArray[np.uint8]:
    return np.array(bytearray("\0".join(kinds).encode()), dtype=np.uint8)


def _arc_graph(graph: GraphSnapshot, arcs: Arrays) -> GraphSnapshot:
    source = np.repeat(np.arange(graph.n_nodes, dtype=arcs["target"].dtype), np.diff(arcs["indptr"]))
    return GraphSnapshot(  # the nodes are a snapshot's, and so canonical
        ids=graph.ids, names=graph.names, entries=graph.entries, node_kinds=graph.node_kinds,
        node_kind=graph.node_kind, source_index=source, target_index=arcs["target"],
        edge_kinds=_arc_kinds(graph.edge_kinds), edge_kind=arcs["kind"], weight=arcs["weight"],
    )  # fmt: skip
