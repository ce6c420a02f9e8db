"""A snapshot's edges as sparse matrices: what adjacency, modularity and the random walk are made of."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from graphport.errors import InvalidWeightError
from graphport.rank.arrays import Vector
from graphport.snapshot import GraphSnapshot


def edge_weights(graph: GraphSnapshot, *, weighted: bool = True) -> Vector:
    """(m,) float64: what each edge counts. Unweighted, every edge counts 1, whatever its stored weight.

    Very large or small weights are multiplied by one power of two, which is exact and changes no ranking,
    so that their sums stay finite; weights below 1e-590 of the largest may become 0 by that. Raises
    `InvalidWeightError` for weights that no checked snapshot has.
    """
    if not weighted or not graph.n_edges:
        return np.ones(graph.n_edges)
    top = float(graph.weight.max())
    if not (top < np.inf and graph.weight.min() >= 0):
        raise InvalidWeightError("the snapshot holds a NaN, infinite or negative weight; build it with from_arrays")
    exponent = int(np.frexp(top)[1])
    shift = min(0, 900 - exponent) if exponent > -500 else -exponent
    return np.ldexp(graph.weight, shift) if shift else graph.weight


def out_matrix(graph: GraphSnapshot, weight: Vector) -> csr_array:
    """(n, n) float64: weight from row to column, parallel edges summed, edges of weight 0 left out."""
    source, target = graph.source_index, graph.target_index
    if not weight.all():
        kept = weight > 0
        weight, source, target = weight[kept], source[kept], target[kept]
    n = graph.n_nodes
    # Edges are in order of (source, target) already, so the snapshot's columns are the CSR's own arrays.
    indptr = np.zeros(n + 1, dtype=source.dtype)
    np.cumsum(np.bincount(source, minlength=n), out=indptr[1:])
    matrix = csr_array((weight, target, indptr), shape=(n, n))
    if ((source[1:] == source[:-1]) & (target[1:] == target[:-1])).any():
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def symmetric_matrix(graph: GraphSnapshot, weight: Vector) -> csr_array:
    """(n, n) float64, columns in order: the weight between two nodes; a self-loop counts twice, as in igraph."""
    out = out_matrix(graph, weight)
    return csr_array(out + out.T.tocsr())


def row_sums(matrix: csr_array) -> Vector:
    """(n,) float64: the weighted degrees, for a symmetric matrix."""
    sums: Vector = matrix @ np.ones(matrix.shape[1])
    return sums
