"""A snapshot's edges as sparse matrices: what adjacency, modularity and the random walk are made of."""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from graphport.errors import InvalidWeightError
from graphport.rank.arrays import Vector
from graphport.snapshot import GraphSnapshot, IndexArray

MAX_SPAN = 1e150
"""Largest ratio of two weights for which masses divided by degrees keep their full precision."""

_BLOCK_ARCS = 8_000_000


class Edges(Protocol):
    """Edges in order of (source, target), by row of their ends: a snapshot's, or some of them."""

    @property
    def n_nodes(self) -> int: ...
    @property
    def source_index(self) -> IndexArray: ...
    @property
    def target_index(self) -> IndexArray: ...


def weight_shift(graph: GraphSnapshot) -> int:
    """The power of two by which weights are multiplied so that their sums stay finite; 0 for all usual weights.

    Raises `InvalidWeightError` for weights that no checked snapshot has.
    """
    if not graph.n_edges:
        return 0
    top = float(graph.weight.max())
    if not (top < np.inf and graph.weight.min() >= 0):
        raise InvalidWeightError("the snapshot holds a NaN, infinite or negative weight; build it with from_arrays")
    exponent = int(np.frexp(top)[1])
    return min(0, 900 - exponent) if exponent > -500 else -exponent


def spans_widely(graph: GraphSnapshot) -> bool:
    """Whether two weights, neither of them 0, are more than `MAX_SPAN` apart."""
    top, low = graph.weight.max(initial=0.0), graph.weight.min(initial=np.inf)
    if low == 0:
        low = graph.weight.min(where=graph.weight > 0, initial=np.inf)
    return bool(top / MAX_SPAN > low)


def edge_weights(graph: GraphSnapshot, *, weighted: bool = True) -> Vector:
    """(m,) float64: what each edge counts. Unweighted, every edge counts 1, whatever its stored weight.

    Very large or small weights are multiplied by one power of two, `weight_shift`, which is exact and changes
    no ranking; weights below 1e-590 of the largest may become 0 by that.
    """
    if not weighted:
        return np.ones(graph.n_edges)
    shift = weight_shift(graph)
    return np.ldexp(graph.weight, shift) if shift else graph.weight


def out_matrix(graph: Edges, weight: Vector) -> csr_array:
    """(n, n) float64: weight from row to column. Parallel edges stay entries of their own, weights of 0 go."""
    source, target = graph.source_index, graph.target_index
    if not weight.all():
        kept = weight > 0
        weight, source, target = weight[kept], source[kept], target[kept]
    n = graph.n_nodes
    # Edges are in order of (source, target) already, so the snapshot's columns are the CSR's own arrays.
    indptr = np.zeros(n + 1, dtype=source.dtype)
    np.cumsum(np.bincount(source, minlength=n), out=indptr[1:])
    return csr_array((weight, target, indptr), shape=(n, n))


def symmetric_matrix(graph: Edges, weight: Vector) -> csr_array:
    """(n, n) float64, columns in order: the weight between two nodes, parallel edges summed.

    A self-loop counts twice, as in igraph.
    """
    out = out_matrix(graph, weight)
    n = graph.n_nodes
    arcs = 2 * out.nnz
    indptr = np.zeros(n + 1, dtype=np.int32 if max(arcs, n) < 2**31 else np.int64)
    indices, data = np.empty(arcs, dtype=indptr.dtype), np.empty(arcs)
    # In blocks of rows: the sum of the whole matrix and its transpose takes twice the memory of the result.
    edges = np.linspace(0, n, 2 + arcs // _BLOCK_ARCS, dtype=np.int64).tolist()
    for start, stop in pairwise(edges):
        block = _both_ways(out, start, stop)
        at = int(indptr[start])
        indptr[start + 1 : stop + 1] = block.indptr[1:] + at
        indices[at : at + block.nnz] = block.indices
        data[at : at + block.nnz] = block.data
    filled = int(indptr[-1])
    return csr_array((data[:filled], indices[:filled], indptr), shape=(n, n))


def _both_ways(out: csr_array, start: int, stop: int) -> csr_array:
    """Rows ``start`` to ``stop`` of ``out + out.T``."""
    there, back = out[start:stop], out[:, start:stop].T.tocsr()
    there.sum_duplicates()
    back.sum_duplicates()
    return csr_array(there + back)


def row_sums(matrix: csr_array) -> Vector:
    """(n,) float64: the weighted degrees, for a symmetric matrix."""
    sums: Vector = matrix @ np.ones(matrix.shape[1])
    return sums
