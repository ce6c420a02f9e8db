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
FEW_STEPS = 4
"""Up to this many rows in and out, one after the other is faster than all at once: to renumber, or to move texts."""
_BLOCK = 1 << 16


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
    def seams(self) -> Rows:
        """Where, among the new rows, old ones are missing: before each of these."""
        return self.moved(self._cut)

    @property
    def new_rows(self) -> list[int]:
        """Where the new ones end up."""
        rows: list[int] = (self._places + np.arange(len(self._places))).tolist()
        return rows

    def moved(self, rows: NDArray[Any]) -> Rows:
        """Where old rows end up; what was cut out gets a row that means nothing."""
        left = rows - np.searchsorted(self._cut, rows)
        return left + np.searchsorted(self._places, left, side="right")

    def origin(self, rows: NDArray[Any]) -> Rows:
        """Which old rows these new ones were; what was put in gets a row that means nothing."""
        return self._old(rows - np.searchsorted(self.new_rows, rows))

    def renumber(self, rows: NDArray[Any]) -> None:
        """As `moved`, in place, for very many rows."""
        steps = len(self._cut) + len(self._places)
        table = self.moved(np.arange(self._n)).astype(rows.dtype) if steps > FEW_STEPS else None
        ins: list[int] = self._old(self._places).tolist()
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            if table is not None:
                block[:] = table.take(block, mode="clip")
                continue
            before = block.copy()
            for row in ins:
                block += before >= row
            for row in self._cut.tolist():
                block -= before > row

    def then(self, later: Splice) -> Splice:
        """A later one, on what this one gives, together with this one."""
        mine = np.array(self.new_rows, dtype=np.int64)
        cut = np.concatenate([self._cut, self.origin(np.setdiff1d(later.cut, mine))])
        new = np.sort(np.concatenate([later.moved(np.setdiff1d(mine, later.cut)), later.new_rows]))
        both = Splice(self._n, cut.tolist(), ())
        return Splice(self._n, cut.tolist(), both._old((new - np.arange(len(new))).astype(np.int64)).tolist())

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
        if len(self._cut) + len(self._places) <= FEW_STEPS:
            texts = list(column)
            for row in self._cut[::-1].tolist():
                del texts[row]
            for row, text in zip(self.new_rows, values, strict=True):
                texts.insert(row, text)
            return tuple(texts)
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
        old = self._old(self._places)  # the row before which each new one comes
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

    def _old(self, left: Rows) -> Rows:
        """The rows of the old column that come as the ``left``-th of those that stay."""
        left_before = self._cut - np.arange(len(self._cut))
        return left + np.searchsorted(left_before, left, side="right")
