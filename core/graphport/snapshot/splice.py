"""Rows cut out of columns, and new ones put between those that stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphport.snapshot.packed import Packed, packed

T = TypeVar("T")
Rows = NDArray[np.int64]

MANY_PIECES = 1024
"""Above this, one pass with a mask copies faster than piece by piece."""


class Splice:
    """Rows cut out of a column of ``n``, and places (before which row of what is left) to put new ones.

    Rows that stay keep their order, so nothing is sorted, and a column that does not change is shared.
    """

    def __init__(self, n: int, cut: Iterable[int], places: Iterable[int]) -> None:
        """``cut`` and ``places`` are rows of the old column; ``places`` ascend."""
        self._n = n
        self._cut: Rows = np.array(sorted(cut), dtype=np.int64)
        old: Rows = np.array(list(places), dtype=np.int64)
        self._places: Rows = old - np.searchsorted(self._cut, old)

    def __bool__(self) -> bool:
        return bool(len(self._cut) or len(self._places))

    @property
    def cut(self) -> Rows:
        """The rows that go, ascending."""
        return self._cut

    @property
    def new_rows(self) -> list[int]:
        """Where the new ones end up."""
        rows: list[int] = (self._places + np.arange(len(self._places))).tolist()
        return rows

    def moved(self, rows: NDArray[Any]) -> Rows:
        """Where old rows end up; what was cut out gets a row that means nothing."""
        left = rows - np.searchsorted(self._cut, rows)
        return left + np.searchsorted(self._places, left, side="right")

    def array(self, column: NDArray[Any], values: Sequence[Any]) -> NDArray[Any]:
        """The column after it, with ``values`` as the new ones."""
        if not self:
            return column
        if len(self._cut) + len(self._places) > MANY_PIECES:
            left = np.delete(column, self._cut)
            return np.insert(left, self._places, values)
        new = np.asarray(values, dtype=column.dtype)
        return np.concatenate([*self._pieces(column, new)])

    def texts(self, column: Sequence[T], values: Sequence[T]) -> Sequence[T]:
        """As `array`, for texts."""
        if not self:
            return column
        if isinstance(column, Packed):
            return self._packed(column, values)
        parts = list[T]()
        for piece in self._pieces(column, values):
            parts.extend(piece)
        return tuple(parts)

    def _packed(self, column: Packed[T], values: Sequence[T]) -> Packed[T]:
        new = packed(values)
        lengths = self.array(np.diff(column.start), np.diff(new.start).tolist())
        start = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=start[1:])
        pieces = [piece.raw() for piece in self._pieces(column, new)]
        return Packed(np.concatenate([np.zeros(0, np.uint8), *pieces]), start)

    def _pieces(self, column: Any, values: Any) -> list[Any]:
        """Slices of the column and of ``values`` that are the new column, one after the other."""
        # The row of the old column before which each new one comes: places count what is left of it.
        left_before = self._cut - np.arange(len(self._cut))
        old = self._places + np.searchsorted(left_before, self._places, side="right")
        events = sorted([*((row, 0, 0) for row in old.tolist()), *((row, 1, 1) for row in self._cut.tolist())])
        pieces, start, used = list[Any](), 0, 0
        for row, is_cut, step in events:
            if row > start:
                pieces.append(column[start:row])
            if not is_cut:
                pieces.append(values[used : used + 1])
                used += 1
            start = max(start, row + step)
        pieces.append(column[start : self._n])
        return pieces
