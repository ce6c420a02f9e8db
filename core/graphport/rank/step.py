"""The matrix of a walk as arrays: made from a snapshot, or from those of an earlier one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.arrays import Index, Mask, Vector
from graphport.rank.matrix import Edges, edge_weights, out_matrix, spans_widely, symmetric_matrix, weight_shift
from graphport.snapshot import GraphSnapshot, RowChanges
from graphport.snapshot.bisect_many import bisect_many

Rows = NDArray[np.int64]
Arrays = Mapping[str, NDArray[Any]]
"""``data``, ``indices`` and ``indptr`` of the matrix, ``degree`` (n,) of the nodes, and ``facts``, a `Facts`."""

WORTH_PATCHING = 0.1
"""Part of a graph's edges above which it is not worth to replace those at touched nodes."""

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


class Csr(NamedTuple):
    """The arrays of a matrix in rows."""

    data: Vector
    indices: Index
    indptr: Index


def step_arrays(graph: GraphSnapshot, kind: WalkKind) -> Arrays:
    """The walk of a snapshot, from nothing but its edges."""
    facts = _facts(graph, kind)
    step = _matrix(graph, edge_weights(graph, weighted=kind.weighted), kind)
    if facts.wide:
        _scale_columns(step)
    degree = _column_sums(step)
    _divide_columns(step, degree)
    unit = _unit(float(degree.sum()), step.nnz)
    matrix = Csr(step.data, step.indices, step.indptr)
    return _arrays(matrix, np.ldexp(degree, unit), facts._replace(unit=unit))


def patched_step(graph: GraphSnapshot, kind: WalkKind, earlier: Arrays, changes: RowChanges) -> Arrays | None:
    """The same, to the last bit, from the arrays of an earlier snapshot; None where that would not be worth it.

    Rows of touched nodes are made from their edges, and what other rows hold in their columns is divided by
    the new degrees; all else is copied. Sums are taken over the same weights in the same order as in
    `step_arrays`, by the same code, hence the bits.
    """
    old = Facts.of(earlier)
    now = _facts(graph, kind)
    if old.wide or now.wide or old.shift != now.shift:
        return None
    matrix = Csr(earlier["data"], earlier["indices"], earlier["indptr"])
    part = _part(graph, matrix, changes, kind, now.shift)
    if part is None:
        return None
    sums = _column_sums(part.matrix)
    degree = changes.nodes.array(earlier["degree"], [0.0] * len(changes.nodes.new_rows)).copy()
    degree[changes.touched] = np.ldexp(sums[part.touched], old.unit)
    _divide_columns(part.matrix, np.ldexp(degree[part.rows], -old.unit))
    step = _spliced(matrix, changes, part)
    unit = _unit(math.ldexp(float(degree.sum()), -old.unit), len(step.data))
    if unit != old.unit:
        degree = np.ldexp(degree, unit - old.unit)
    return _arrays(step, degree, now._replace(unit=unit))


def _arrays(step: Csr, degree: Vector, facts: Facts) -> Arrays:
    return {**step._asdict(), "degree": degree, "facts": np.array(facts, dtype=np.int64)}


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


# -- the changed part --------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """The matrix (l, l) of the edges at touched nodes, between ``rows`` (l,) of the graph, ascending.

    What it holds in rows and columns of ``touched`` (l,) nodes is complete; it holds nothing else.
    """

    matrix: csr_array
    rows: Index
    touched: Mask


class _Some(NamedTuple):
    n_nodes: int
    source_index: NDArray[np.int32]
    target_index: NDArray[np.int32]


def _part(graph: GraphSnapshot, old: Csr, changes: RowChanges, kind: WalkKind, shift: int) -> _Part | None:
    """None if they are too many."""
    edges = _edges_at(graph, old, changes)
    if len(edges) > WORTH_PATCHING * graph.n_edges:
        return None
    ends = np.concatenate([graph.source_index[edges], graph.target_index[edges], changes.touched])
    rows, places = np.unique(ends, return_inverse=True)
    source, target = places[: 2 * len(edges)].astype(np.int32).reshape(2, -1)
    weight = np.ldexp(graph.weight[edges], shift) if kind.weighted else np.ones(len(edges))
    matrix = _matrix(_Some(len(rows), source, target), weight, kind)
    return _Part(matrix, rows, np.isin(rows, changes.touched))


def _edges_at(graph: GraphSnapshot, old: Csr, changes: RowChanges) -> Index:
    """Rows of the edges, of a weight that counts, that leave or reach touched nodes; found without reading them all."""
    nodes, touched = changes
    leaving = _ranges(*_leaving(graph, touched))
    # Edges from untouched nodes were there before, so their sources stand in the old rows of the touched ones.
    known = np.setdiff1d(touched, nodes.new_rows)
    origin = nodes.origin(known)
    first, last = old.indptr[origin].astype(np.int64), old.indptr[origin + 1].astype(np.int64)
    near, end = old.indices[_ranges(first, last)], np.repeat(known, last - first)
    stays = ~np.isin(near, nodes.cut)
    near, end = nodes.moved(near[stays]), end[stays]
    first, last = _leaving(graph, near)
    first = bisect_many(graph.target_index, end, first, last)
    last = bisect_many(graph.target_index, end + 1, first, last)
    return np.union1d(leaving, _ranges(first, last))


def _leaving(graph: GraphSnapshot, nodes: Index) -> tuple[Rows, Rows]:
    """Where the edges from each node begin and end."""
    nodes = nodes.astype(graph.source_index.dtype)  # of another type, the whole column would be converted
    return np.searchsorted(graph.source_index, nodes), np.searchsorted(graph.source_index, nodes, side="right")


def _ranges(first: Rows, last: Rows) -> Rows:
    """The numbers from each ``first`` to before its ``last``, one range after the other."""
    lengths = last - first
    return np.repeat(last - np.cumsum(lengths), lengths) + np.arange(int(lengths.sum()))


def _spliced(old: Csr, changes: RowChanges, part: _Part) -> Csr:
    """The old matrix with the rows of touched nodes replaced, and the entries in their columns."""
    nodes, touched = changes
    n = len(old.indptr) - 1 - len(nodes.cut) + len(nodes.new_rows)
    lengths = nodes.array(np.diff(old.indptr), [0] * len(nodes.new_rows))
    lengths[touched] = np.diff(part.matrix.indptr)[part.touched]
    indptr = np.zeros(n + 1, dtype=old.indptr.dtype)
    np.cumsum(lengths, out=indptr[1:])
    data, indices = np.empty(indptr[-1]), np.zeros(indptr[-1], dtype=old.indices.dtype)
    # Rows from one start to the next are a touched one, or were neighbors in the old matrix too.
    starts = np.unique(np.concatenate([[0], touched, touched + 1, nodes.seams]))
    kept = np.setdiff1d(starts[starts < n], touched)
    stops = np.append(starts, n)[np.searchsorted(starts, kept, side="right")]
    begin, end, origin = indptr[kept].tolist(), indptr[stops].tolist(), old.indptr[nodes.origin(kept)].tolist()
    for first, last, before in zip(begin, end, origin, strict=True):
        data[first:last] = old.data[before : before + last - first]
        indices[first:last] = old.indices[before : before + last - first]
    if nodes:
        nodes.renumber(indices)
    step = Csr(data, indices, indptr)
    _fill(step, part)
    return step


def _fill(step: Csr, part: _Part) -> None:
    """Puts the entries of the part in their places: whole rows of touched nodes, single ones in others."""
    matrix = part.matrix
    local = np.repeat(np.arange(len(part.rows)), np.diff(matrix.indptr))
    row, column = part.rows[local], part.rows[matrix.indices]
    place = np.arange(matrix.nnz) + (step.indptr[row] - matrix.indptr[local])
    single = np.flatnonzero(~part.touched[local])
    row, column_of = row[single], column[single]
    first = bisect_many(step.indices, column_of, step.indptr[row], step.indptr[row + 1])
    place[single] = first + _repetition(row, column_of)
    step.indices[place] = column
    step.data[place] = matrix.data


def _repetition(row: Index, column: Index) -> Index:
    """For each of a run of equal pairs, how many came before: parallel edges of a directed walk."""
    at = np.arange(len(row))
    again = np.zeros(len(row), dtype=np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (column[1:] == column[:-1])
    return at - np.maximum.accumulate(np.where(again, 0, at))
