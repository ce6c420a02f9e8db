"""A matrix of a graph's arcs from that of an earlier graph: rows of touched nodes are put in, the rest is copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.rank.arrays import Index, Mask
from graphport.snapshot import GraphSnapshot, RowChanges
from graphport.snapshot.bisect_many import bisect_many

WORTH_SPLICING = 0.1
"""Part of a graph's edges above which it is not worth to replace those at touched nodes."""

Rows = NDArray[np.int64]


class Csr(NamedTuple):
    """A matrix in rows, the columns of each in order; the entries of a column are told apart by their order.

    ``values``: any number of columns of values, each as long as ``indices``.
    """

    indptr: Index
    indices: Index
    values: Mapping[str, NDArray[Any]]


class TouchedEdges(NamedTuple):
    """All edges at touched nodes: ``edges`` are their rows in the graph, ascending.

    ``rows`` (l,) are the nodes that they join, and the touched ones, ascending; ends are places in these.
    ``touched`` (l,): which of these are touched.
    """

    edges: Rows
    rows: Index
    touched: Mask
    source_index: NDArray[np.int32]
    target_index: NDArray[np.int32]

    @property
    def n_nodes(self) -> int:
        return len(self.rows)


def touched_edges(graph: GraphSnapshot, changes: RowChanges, earlier: Csr | None = None) -> TouchedEdges | None:
    """None if they are too many to be worth it.

    With an ``earlier`` matrix they are found without reading all edges. It must have, in the row of each
    node, at least the sources of the edges to it that matter; others from untouched nodes are left out.
    """
    edges = _edges_among_all(graph, changes) if earlier is None else _edges_at(graph, earlier, changes)
    if len(edges) > WORTH_SPLICING * graph.n_edges:
        return None
    ends = np.concatenate([graph.source_index[edges], graph.target_index[edges], changes.touched])
    rows, places = np.unique(ends, return_inverse=True)
    source, target = places[: 2 * len(edges)].astype(np.int32).reshape(2, -1)
    return TouchedEdges(edges, rows, np.isin(rows, changes.touched), source, target)


def spliced(earlier: Csr, changes: RowChanges, part: TouchedEdges, between: Csr) -> Csr:
    """The matrix after ``changes``, whose rows and columns of touched nodes are those of ``between``.

    ``between`` is the matrix (l, l) of ``part``. Entries between untouched nodes are those of ``earlier``, and
    so are the places of entries in rows that are untouched.
    """
    nodes, touched = changes
    lengths = nodes.array(np.diff(earlier.indptr), [0] * len(nodes.new_rows))
    lengths[touched] = np.diff(between.indptr)[part.touched]
    indptr = np.zeros(len(lengths) + 1, dtype=earlier.indptr.dtype)
    np.cumsum(lengths, out=indptr[1:])
    # Rows from one start to the next are a touched one, or were neighbors in the earlier matrix too.
    starts = np.unique(np.concatenate([[0], touched, touched + 1, nodes.seams]))
    kept = np.setdiff1d(starts[starts < len(lengths)], touched)
    stops = np.append(starts, len(lengths))[np.searchsorted(starts, kept, side="right")]
    runs = np.stack([indptr[kept], indptr[stops], earlier.indptr[nodes.origin(kept)]], axis=1).tolist()
    indices = _copied(earlier.indices, int(indptr[-1]), runs)
    if nodes:
        nodes.renumber(indices)
    place = _places(Csr(indptr, indices, {}), part, between)
    indices[place] = part.rows[between.indices]
    values = {name: _copied(column, int(indptr[-1]), runs) for name, column in earlier.values.items()}
    for name, column in values.items():
        column[place] = between.values[name]
    return Csr(indptr, indices, values)


def _copied(column: NDArray[Any], size: int, runs: list[list[int]]) -> NDArray[Any]:
    copy = np.zeros(size, dtype=column.dtype)
    for first, last, before in runs:
        copy[first:last] = column[before : before + last - first]
    return copy


def _places(whole: Csr, part: TouchedEdges, between: Csr) -> Rows:
    """Where the entries of ``between`` are: whole rows of touched nodes, single ones in the others."""
    local = np.repeat(np.arange(part.n_nodes), np.diff(between.indptr))
    row, column = part.rows[local], part.rows[between.indices]
    place = np.arange(len(local)) + (whole.indptr[row] - between.indptr[local])
    single = np.flatnonzero(~part.touched[local])
    row, column = row[single], column[single]
    first = bisect_many(whole.indices, column, whole.indptr[row], whole.indptr[row + 1])
    place[single] = first + _repetition(row, column)
    return place


def _repetition(row: Index, column: Index) -> Index:
    """For each of a run of equal pairs, how many came before: parallel edges."""
    at = np.arange(len(row))
    again = np.zeros(len(row), dtype=np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (column[1:] == column[:-1])
    return at - np.maximum.accumulate(np.where(again, 0, at))


def _edges_among_all(graph: GraphSnapshot, changes: RowChanges) -> Rows:
    is_touched = np.zeros(graph.n_nodes, dtype=np.bool_)
    is_touched[changes.touched] = True
    return np.flatnonzero(is_touched[graph.source_index] | is_touched[graph.target_index])


def _edges_at(graph: GraphSnapshot, earlier: Csr, changes: RowChanges) -> Rows:
    nodes, touched = changes
    leaving = _ranges(*_leaving(graph, touched))
    # Edges from untouched nodes were there before, so their sources stand in the old rows of the touched ones.
    known = np.setdiff1d(touched, nodes.new_rows)
    origin = nodes.origin(known)
    first, last = earlier.indptr[origin].astype(np.int64), earlier.indptr[origin + 1].astype(np.int64)
    near, end = earlier.indices[_ranges(first, last)], np.repeat(known, last - first)
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
