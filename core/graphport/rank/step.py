"""The matrix of a walk as arrays: made from a snapshot, or from those of an earlier one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.arrays import Vector
from graphport.rank.matrix import Edges, edge_weights, out_matrix, spans_widely, symmetric_matrix, weight_shift
from graphport.rank.row_splice import Csr, spliced, touched_edges
from graphport.snapshot import GraphSnapshot, RowChanges

Arrays = Mapping[str, NDArray[Any]]
"""``data``, ``indices`` and ``indptr`` of the matrix, ``degree`` (n,) of the nodes, and ``facts``, a `Facts`."""

MOST_ARCS = 2**31
"""From here on arcs are counted in 64 bits, and matrices on both sides of it have different types."""

_BLOCK = 1 << 20


class WalkKind(NamedTuple):
    """Which walk: along the edges alone or also against them, and whether weights count."""

    directed: bool
    weighted: bool

    def __str__(self) -> str:
        return f"{'directed' if self.directed else 'undirected'}:{'weighted' if self.weighted else 'unweighted'}"


class Facts(NamedTuple):
    """What else there is to know of a walk.

    ``wide``: its weights span more than `graphport.rank.matrix.MAX_SPAN`. ``loops``: some node has an edge
    to itself. ``shift`` and ``unit`` are the powers of two by which weights and then degrees were multiplied.
    """

    wide: int
    loops: int
    shift: int
    unit: int

    @classmethod
    def of(cls, arrays: Arrays) -> Facts:
        return cls(*arrays["facts"].tolist())


def step_arrays(graph: GraphSnapshot, kind: WalkKind) -> Arrays:
    """The walk of a snapshot, from nothing but its edges."""
    facts = _facts(graph, kind)
    step = _matrix(graph, edge_weights(graph, weighted=kind.weighted), kind)
    if facts.wide:
        _scale_columns(step)
    degree = _column_sums(step)
    _divide_columns(step, degree)
    unit = _unit(float(degree.sum()), step.nnz)
    matrix = Csr(step.indptr, step.indices, {"data": step.data})
    return _arrays(matrix, np.ldexp(degree, unit), facts._replace(unit=unit))


def patched_step(graph: GraphSnapshot, kind: WalkKind, earlier: Arrays, changes: RowChanges) -> Arrays | None:
    """The same, to the last bit, from the arrays of an earlier snapshot; None where that would not be worth it.

    Rows of touched nodes are made from their edges, and what other rows hold in their columns is divided by
    the new degrees; all else is copied. Sums are taken over the same weights in the same order as in
    `step_arrays`, by the same code, hence the bits.
    """
    old = Facts.of(earlier)
    now = _facts(graph, kind)
    if old.wide or now.wide or old.shift != now.shift or 2 * graph.n_edges >= MOST_ARCS:
        return None
    whole = Csr(earlier["indptr"], earlier["indices"], {"data": earlier["data"]})
    part = touched_edges(graph, changes, whole)
    if part is None:
        return None
    weight = np.ldexp(graph.weight[part.edges], now.shift) if kind.weighted else np.ones(len(part.edges))
    between = _matrix(part, weight, kind)
    sums = _column_sums(between)
    degree = changes.nodes.array(earlier["degree"], [0.0] * len(changes.nodes.new_rows)).copy()
    degree[changes.touched] = np.ldexp(sums[part.touched], old.unit)
    _divide_columns(between, np.ldexp(degree[part.rows], -old.unit))
    step = spliced(whole, changes, part, Csr(between.indptr, between.indices, {"data": between.data}))
    unit = _unit(math.ldexp(float(degree.sum()), -old.unit), len(step.indices))
    if unit != old.unit:
        degree = np.ldexp(degree, unit - old.unit)
    return _arrays(step, degree, now._replace(unit=unit))


def _arrays(step: Csr, degree: Vector, facts: Facts) -> Arrays:
    return {
        "indptr": step.indptr,
        "indices": step.indices,
        **step.values,
        "degree": degree,
        "facts": np.array(facts, dtype=np.int64),
    }


def _facts(graph: GraphSnapshot, kind: WalkKind) -> Facts:
    """All but the unit."""
    return Facts(
        wide=kind.weighted and spans_widely(graph),
        loops=bool((graph.source_index == graph.target_index).any()),
        shift=weight_shift(graph) if kind.weighted else 0,
        unit=0,
    )


def _matrix(edges: Edges, weight: Vector, kind: WalkKind) -> csr_array:
    """(n, n): the weight of the steps to each row from each column."""
    return out_matrix(edges, weight).T.tocsr() if kind.directed else symmetric_matrix(edges, weight)


def _column_sums(step: csr_array) -> Vector:
    sums: Vector = step.T @ np.ones(step.shape[0])
    return sums


def _divide_columns(step: csr_array, by: Vector) -> None:
    for start in range(0, step.nnz, _BLOCK):  # in blocks: one gather of 50M degrees would take 400 MB
        block = slice(start, start + _BLOCK)
        step.data[block] /= by[step.indices[block]]


def _scale_columns(step: csr_array) -> None:
    """Each by a power of two of its own, so that no sum over- or underflows."""
    largest = np.zeros(step.shape[0])
    np.maximum.at(largest, step.indices, step.data)
    step.data = np.ldexp(step.data, -np.frexp(largest)[1][step.indices])


def _unit(total: float, arcs: int) -> int:
    """The power of two that brings the mean weight of an arc next to 1.

    Being a power of two, it is taken back exactly when the sum changes.
    """
    return -round(math.log2(total / arcs)) if arcs else 0
