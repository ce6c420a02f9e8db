"""The undirected, weighted graph that ranking sees, by id."""

from __future__ import annotations

from graphport.rank.matrix import symmetric_matrix
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage


def undirected_weighted_adjacency(graph: GraphStorage | GraphSnapshot) -> dict[str, list[tuple[str, float]]]:
    """Neighbors of every node with the weight towards each, both in code point order.

    Directions are dropped, parallel edges summed and edges of weight 0 left out; a self-loop counts
    twice, as in igraph. A node without edges has ``[]``.
    """
    snapshot = snapshot_of(graph)
    ids = snapshot.ids
    matrix = symmetric_matrix(snapshot, snapshot.weight)
    neighbors = [ids[column] for column in matrix.indices.tolist()]
    pairs = list(zip(neighbors, matrix.data.tolist(), strict=True))
    ends = matrix.indptr.tolist()
    return {node_id: pairs[ends[row] : ends[row + 1]] for row, node_id in enumerate(ids)}
