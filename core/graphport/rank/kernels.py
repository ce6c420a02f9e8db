"""Three sparse steps on a CSR matrix that cost what they touch, not what the graph holds.

scipy has them as compiled functions that it does not export. Where those are missing or have changed,
numpy does the same at about twice the price; `available` decides by trying them.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphport.rank.arrays import Index, Vector


class Rows(NamedTuple):
    """Some rows of a matrix, one after the other: ``columns`` and ``values`` cut at ``ends`` (rows + 1)."""

    ends: Index
    columns: Index
    values: Vector

    def sums(self, values: Vector) -> Vector:
        """Sum per row of ``values``, which is aligned with ``columns``."""
        running = np.zeros(len(values) + 1)
        np.cumsum(values, out=running[1:])
        return running[self.ends[1:]] - running[self.ends[:-1]]


def row_lengths(matrix: csr_array, rows: Index) -> Index:
    """The number of entries in each of ``rows``."""
    lengths: Index = matrix.indptr.take(rows + 1) - matrix.indptr.take(rows)
    return lengths


def gather_rows(matrix: csr_array, rows: Index, *, compiled: bool | None = None) -> Rows:
    """The entries of ``rows``."""
    lengths = row_lengths(matrix, rows)
    ends = np.zeros(len(rows) + 1, dtype=matrix.indptr.dtype)
    np.cumsum(lengths, out=ends[1:])
    total = int(ends[-1])
    if available() if compiled is None else compiled:
        columns, values = np.empty(total, dtype=matrix.indices.dtype), np.empty(total)
        rows = rows.astype(matrix.indptr.dtype, copy=False)
        _tools().csr_row_index(len(rows), rows, matrix.indptr, matrix.indices, matrix.data, columns, values)
        return Rows(ends, columns, values)
    at = np.repeat(matrix.indptr[rows] - ends[:-1], lengths) + np.arange(total)
    return Rows(ends, matrix.indices[at], matrix.data[at])


def scatter_add(rows: Rows, factors: Vector, out: Vector, *, compiled: bool | None = None) -> None:
    """``out[column] += factor * value`` for every entry of every row, in place."""
    if available() if compiled is None else compiled:
        _tools().csc_matvec(len(out), len(factors), rows.ends, rows.columns, rows.values, factors, out)
    else:
        np.add.at(out, rows.columns, np.repeat(factors, np.diff(rows.ends)) * rows.values)


def add_product(matrix: csr_array, vector: Vector, out: Vector, *, compiled: bool | None = None) -> None:
    """``out += matrix @ vector``, in place."""
    if available() if compiled is None else compiled:
        n_rows, n_columns = matrix.shape
        _tools().csr_matvec(n_rows, n_columns, matrix.indptr, matrix.indices, matrix.data, vector, out)
    else:
        out += matrix @ vector


@cache
def available() -> bool:
    """Whether scipy's compiled functions are there and give what numpy gives."""
    matrix = csr_array(np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]]))
    picked, vector = np.array([2, 0]), np.array([1.0, 10.0, 100.0])
    try:
        ours = _steps(matrix, picked, vector, compiled=True)
    except (ImportError, AttributeError, TypeError, ValueError):
        return False
    plain = _steps(matrix, picked, vector, compiled=False)
    return all(np.array_equal(a, b) for a, b in zip(ours, plain, strict=True))


def _steps(matrix: csr_array, picked: Index, vector: Vector, *, compiled: bool) -> list[NDArray[Any]]:
    rows = gather_rows(matrix, picked, compiled=compiled)
    scattered, product = np.ones(3), np.ones(3)
    scatter_add(rows, np.array([2.0, 0.5]), scattered, compiled=compiled)
    add_product(matrix, vector, product, compiled=compiled)
    return [*rows, scattered, product]


@cache
def _tools() -> Any:
    return importlib.import_module("scipy.sparse._sparsetools")
