"""One matcher over curated names and those that titles bring, in which a title takes nothing from an entity.

The longest name wins a span. Names of two origins may overlap in part: in "the Council of Trent" an entry
called "The council" begins first and would leave "Trent". The curated name is meant there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import merge
from typing import Self

from graphport.matching import Match, Matcher


class CuratedFirst(Matcher):
    """Finds all forms; one that does not lead to a curated id gives way to a curated one it overlaps in part.

    ``is_curated`` tells by an id; all ids of a form are curated, or none is.
    """

    __slots__ = ("_curated", "_is_curated")

    def __init__(self, forms: Mapping[str, Iterable[str]], is_curated: Callable[[str], bool]) -> None:
        by_form = {form: list(ids) for form, ids in forms.items()}
        super().__init__(by_form)
        self._is_curated = is_curated
        self._curated = Matcher({form: ids for form, ids in by_form.items() if any(map(is_curated, ids))})

    def changed(self, names: Mapping[str, Collection[str]]) -> Self:
        """As `Matcher.changed`."""
        other = super().changed(names)
        curated = {name: ids if any(map(self._is_curated, ids)) else () for name, ids in names.items()}
        touched = {name: ids for name, ids in curated.items() if ids or name in self._curated}
        if touched:
            other._curated = self._curated.changed(touched)
        return other

    def find_in(self, parts: Sequence[str]) -> list[Match]:
        """The matches in order; none overlap."""
        found = super().find_in(parts)
        if not found or len(self._curated) == len(self):
            return found
        curated = self._curated.find_in(parts)
        spans = {(match.start, match.end) for match in curated}
        others = [match for match in found if (match.start, match.end) not in spans]
        kept = [match for match in others if all(_holds(match, other) for other in _overlapping(curated, match))]
        free = [match for match in curated if not _overlapping(kept, match)]
        return list(merge(kept, free, key=lambda match: match.start))


def _overlapping(matches: list[Match], match: Match) -> list[Match]:
    """Those of ``matches``, which are in order and apart, that overlap ``match``."""
    first = bisect_right(matches, match.start, key=lambda other: other.end)
    last = bisect_left(matches, match.end, key=lambda other: other.start)
    return matches[first:last]


def _holds(match: Match, other: Match) -> bool:
    return match.start <= other.start and other.end <= match.end
