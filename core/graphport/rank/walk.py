"""The random walk that ranking follows, as one sparse matrix per snapshot."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.arrays import Index, Vector
from graphport.rank.matrix import edge_weights, out_matrix, symmetric_matrix
from graphport.rank.scratch import Scratch
from graphport.snapshot import GraphSnapshot

MAX_SPAN = 1e150
"""Largest ratio of two weights for which masses divided by degrees keep their full precision."""

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over n nodes; built once per snapshot and read by all threads.

    ``step`` (n, n): ``step @ mass`` moves mass by one step; each column sums to 1, to 0 where the walk
    ends (a node without edges, directed: without out-edges). ``degree`` (n,) is the weight leaving each
    node, in units of the mean weight of an arc; ``arcs`` (n,) is the number of entries in each row.

    ``reversible``: ``step`` is ``A D^-1`` with a symmetric ``A``, so its spectrum is real and what one
    node gives another is bounded by their degrees. True for undirected walks, unless the weights span
    more than `MAX_SPAN`. ``loops``: some node has an edge to itself.
    """

    step: csr_array
    degree: Vector
    arcs: Index
    reversible: bool
    loops: bool
    _spare: list[Scratch] = field(default_factory=list[Scratch], repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def n_nodes(self) -> int:
        return len(self.degree)

    @property
    def n_arcs(self) -> int:
        return int(self.step.nnz)

    def visits(self, damping: float) -> float:
        """Sum of ``damping ** step`` over the steps at which mass is at one node, times ``1 - damping``, at most.

        Mass leaves a node in every step, so it can be there every other step, or, with loops, in all.
        """
        return 1.0 if self.loops else 1 / (1 + damping)

    @contextmanager
    def scratch(self) -> Generator[Scratch]:
        """Arrays for one query, clean; kept for the next one, so that a query costs what it touches."""
        with self._lock:
            scratch = self._spare.pop() if self._spare else Scratch(self.n_nodes)
        yield scratch
        scratch.clean()  # not after an error: what a failed query leaves is thrown away
        with self._lock:
            self._spare.append(scratch)


def walk_of(graph: GraphSnapshot, *, directed: bool = False, weighted: bool = True) -> Walk:
    """The walk along (``directed``) or along and against the edges of a snapshot, kept with it."""
    key = f"walk:{'directed' if directed else 'undirected'}:{'weighted' if weighted else 'unweighted'}"

    def made(snapshot: GraphSnapshot) -> Walk:
        arrays = snapshot.derived_arrays(key, lambda it: _arrays(it, directed=directed, weighted=weighted))
        return _walk(arrays, directed=directed)

    return graph.derived(key, made)


def _arrays(graph: GraphSnapshot, *, directed: bool, weighted: bool) -> Mapping[str, NDArray[Any]]:
    weight = edge_weights(graph, weighted=weighted)
    step = out_matrix(graph, weight).T.tocsr() if directed else symmetric_matrix(graph, weight)
    wide = step.nnz > 0 and float(step.data.max()) / MAX_SPAN > float(step.data.min())
    degree = _normalize_wide(step) if wide else _normalize(step)
    if step.nnz:
        degree *= step.nnz / degree.sum()
    loops = bool((graph.source_index == graph.target_index).any())
    return {
        "data": step.data,
        "indices": step.indices,
        "indptr": step.indptr,
        "degree": degree,
        "wide_loops": np.array([wide, loops], dtype=np.uint8),
    }


def _walk(arrays: Mapping[str, NDArray[Any]], *, directed: bool) -> Walk:
    degree, (wide, loops) = arrays["degree"], arrays["wide_loops"].tolist()
    n = len(degree)
    step = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, n))
    arcs = np.diff(step.indptr)
    for column in (step.data, step.indices, step.indptr, degree, arcs):
        column.flags.writeable = False
    return Walk(step, degree, arcs, reversible=not (directed or wide), loops=bool(loops))


def _normalize(step: csr_array) -> Vector:
    """Divides each column by its sum, in place; returns the sums."""
    degree = step.T @ np.ones(step.shape[0])
    for start in range(0, step.nnz, _BLOCK):  # in blocks: one gather of 50M degrees would take 400 MB
        block = slice(start, start + _BLOCK)
        step.data[block] /= degree[step.indices[block]]
    return degree


def _normalize_wide(step: csr_array) -> Vector:
    """As `_normalize`, each column scaled by its own power of two first: no sum over- or underflows."""
    largest = np.zeros(step.shape[0])
    np.maximum.at(largest, step.indices, step.data)
    step.data = np.ldexp(step.data, -np.frexp(largest)[1][step.indices])
    return _normalize(step)
