"""An immutable mapping of which a changed copy costs what changed, however large it is.

As in a log-structured merge tree there is a large layer, shared by all copies, and a small one of what differs
from it. Once the small one outgrows the root of the large one's size both are merged: then a change costs about
as much for its part of the next merge as for copying the small layer, and both little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")

_MERGE_FACTOR = 16
"""Merges come ``sqrt`` of this times rarer than is best for the sum of both costs: a merge is a pause."""


class Layered(Mapping[K, V], Generic[K, V]):
    """``frozen``, but for the keys in ``changes``: those have other values, or (None) are not there.

    Whoever keeps something that is costly to make from ``frozen`` makes it again when `changed` gives a copy
    with another one. Values are never None.
    """

    __slots__ = ("_size", "changes", "frozen")

    def __init__(self, frozen: Mapping[K, V], changes: Mapping[K, V | None] | None = None) -> None:
        self.frozen = frozen
        self.changes: Mapping[K, V | None] = changes or {}
        self._size = len(frozen) + sum((value is not None) - (key in frozen) for key, value in self.changes.items())

    def changed(self, changes: Mapping[K, V | None]) -> Layered[K, V]:
        """With other values for some keys; None for a key that is to go."""
        merged = {**self.changes, **changes}
        if len(merged) ** 2 <= _MERGE_FACTOR * len(self.frozen):
            return Layered(self.frozen, merged)
        whole = {key: value for key, value in self.frozen.items() if key not in merged}
        return Layered(whole | {key: value for key, value in merged.items() if value is not None})

    def __getitem__(self, key: K) -> V:
        found = self.changes[key] if key in self.changes else self.frozen[key]
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return self.changes[cast("K", key)] is not None if key in self.changes else key in self.frozen

    def __iter__(self) -> Iterator[K]:
        yield from (key for key in self.frozen if key not in self.changes)
        yield from (key for key, value in self.changes.items() if value is not None)

    def __len__(self) -> int:
        return self._size
