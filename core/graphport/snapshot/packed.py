"""Texts in one block of UTF-8, decoded when they are looked at: nothing to load, and processes can share it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

Text = TypeVar("Text", covariant=True)  # noqa: PLC0105 - a text, or a text or None: not two variables

CHUNK = 4096
"""Texts decoded at a time while iterating."""


class Packed(Sequence[Text]):
    """n texts, none of them empty; what takes no bytes is None.

    ``block`` (any,) uint8 and ``start`` (n + 1,) int64: text i is ``block[start[i]:start[i + 1]]``.
    """

    __slots__ = ("_view", "block", "start")

    def __init__(self, block: NDArray[np.uint8], start: NDArray[np.int64]) -> None:
        self.block = block
        self.start = start
        self._view = block.data

    def raw(self) -> NDArray[np.uint8]:
        """The bytes of these texts alone."""
        return self.block[self.start[0] : self.start[-1]]

    def present(self) -> NDArray[np.bool_]:
        """(n,) bool: which are not None."""
        found: NDArray[np.bool_] = self.start[1:] > self.start[:-1]
        return found

    def __len__(self) -> int:
        return len(self.start) - 1

    @overload
    def __getitem__(self, row: int) -> Text: ...
    @overload
    def __getitem__(self, row: slice) -> Packed[Text]: ...
    def __getitem__(self, row: int | slice) -> Text | Packed[Text]:
        if isinstance(row, slice):
            first, last, step = row.indices(len(self))
            if step != 1:
                return packed([self[at] for at in range(first, last, step)])
            return Packed(self.block, self.start[first : max(first, last) + 1])
        at = row if row >= 0 else row + len(self)
        if not 0 <= at < len(self):
            raise IndexError(row)
        text = str(self._view[self.start[at] : self.start[at + 1]], "utf-8")
        return cast("Text", text or None)

    def __iter__(self) -> Iterator[Text]:
        for first in range(0, len(self), CHUNK):
            bounds: list[int] = self.start[first : first + CHUNK + 1].tolist()
            raw = bytes(self._view[bounds[0] : bounds[-1]])
            texts: Any = raw.decode("ascii") if raw.isascii() else None
            for a, b in pairwise(bounds):
                piece = slice(a - bounds[0], b - bounds[0])
                yield cast("Text", (raw[piece].decode() if texts is None else texts[piece]) or None)

    def __repr__(self) -> str:
        return f"Packed({len(self)} texts, {len(self.raw())} bytes)"


def packed(texts: Sequence[Text]) -> Packed[Text]:
    """``texts``, each a non-empty str or None, packed; as they are if they were already."""
    if isinstance(texts, Packed):
        return texts
    given = cast("Sequence[str | None]", texts)
    joined = "".join(text for text in given if text is not None)
    block = joined.encode()
    if len(block) == len(joined):
        lengths = [0 if text is None else len(text) for text in given]
    else:
        lengths = [0 if text is None else len(text.encode()) for text in given]
    start = np.zeros(len(given) + 1, dtype=np.int64)
    np.cumsum(lengths, out=start[1:])
    return Packed(np.frombuffer(block, dtype=np.uint8), start)
