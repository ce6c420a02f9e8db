"""One matcher over curated names and those that titles bring, in which a title takes nothing from an entity.

The longest name wins a span. Names of two origins may overlap in part: in "the Council of Trent" an entry
called "The council" begins first and would leave "Trent". The curated name is meant there.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Mapping
from heapq import merge

from graphport.matching import Match, Matcher


class CuratedFirst(Matcher):
    """Finds all forms; a form that names no ``curated`` id gives way to a curated one it overlaps in part."""

    __slots__ = ("_curated",)

    def __init__(self, forms: Mapping[str, Iterable[str]], curated: Container[str]) -> None:
        by_form = {form: list(ids) for form, ids in forms.items()}
        super().__init__(by_form)
        chosen = {form: ids for form, ids in by_form.items() if ids and ids[0] in curated}
        self._curated = Matcher(chosen) if 0 < len(chosen) < len(by_form) else None

    def find(self, text: str) -> list[Match]:
        """The matches in order; none overlap."""
        found = super().find(text)
        if self._curated is None or not found:
            return found
        curated = self._curated.find(text)
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
