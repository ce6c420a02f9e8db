"""The random walk that ranking follows, as one sparse matrix per snapshot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.matrix import edge_weights, out_matrix, symmetric_matrix
from graphport.snapshot import GraphSnapshot

MAX_SPAN = 1e150
"""Largest ratio of two weights for which masses divided by degrees keep their full precision."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over n nodes; built once per snapshot and read by all threads.

    ``step`` (n, n): ``step @ mass`` moves mass by one step; each column sums to 1, to 0 where the walk
    ends (a node without edges, directed: without out-edges). ``degree`` (n,) is the weight leaving each
    node, in units of no meaning.

    ``reversible``: ``step`` is ``A D^-1`` with a symmetric ``A``, so its spectrum is real and what one
    node gives another is bounded by their degrees. True for undirected walks, unless the weights span
    more than `MAX_SPAN`. ``loops``: some node has an edge to itself.
    """

    step: csr_array
    degree: NDArray[np.float64]
    reversible: bool
    loops: bool

    @property
    def n_nodes(self) -> int:
        return len(self.degree)

    @property
    def n_arcs(self) -> int:
        return int(self.step.nnz)


def walk_of(graph: GraphSnapshot, *, directed: bool = False, weighted: bool = True) -> Walk:
    """The walk along (``directed``) or along and against the edges of a snapshot, kept with it."""
    key = f"walk:{'directed' if directed else 'undirected'}:{'weighted' if weighted else 'unweighted'}"
    return graph.derived(key, lambda snapshot: _build(snapshot, directed=directed, weighted=weighted))


def _build(graph: GraphSnapshot, *, directed: bool, weighted: bool) -> Walk:
    weight = edge_weights(graph, weighted=weighted)
    step = out_matrix(graph, weight).T.tocsr() if directed else symmetric_matrix(graph, weight)
    wide = step.nnz > 0 and float(step.data.max()) > MAX_SPAN * float(step.data.min())
    degree = _normalize_wide(step) if wide else _normalize(step)
    for column in (step.data, step.indices, step.indptr, degree):
        column.flags.writeable = False
    loops = bool((graph.source_index == graph.target_index).any())
    return Walk(step, degree, reversible=not (directed or wide), loops=loops)


def _normalize(step: csr_array) -> NDArray[np.float64]:
    """Divides each column by its sum, in place; returns the sums."""
    degree = step.T @ np.ones(step.shape[0])
    for start in range(0, step.nnz, _BLOCK):  # in blocks: one gather of 50M degrees would take 400 MB
        block = slice(start, start + _BLOCK)
        step.data[block] /= degree[step.indices[block]]
    return degree


def _normalize_wide(step: csr_array) -> NDArray[np.float64]:
    """As `_normalize`, each column scaled by its own power of two first: no sum over- or underflows."""
    largest = np.zeros(step.shape[0])
    np.maximum.at(largest, step.indices, step.data)
    step.data = np.ldexp(step.data, -np.frexp(largest)[1][step.indices])
    return _normalize(step)
