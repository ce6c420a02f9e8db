"""What the graph makes of a query, whichever way it is used."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from graphport.rank.local import LocalPageRank
from graphport.retrieval.entry_rows import entry_rows, patched_entry_rows
from graphport.snapshot import GraphSnapshot

Scored = Sequence[tuple[str, float]]
"""Entries with scores, best first."""

_TABLE_PAYS = 0.1
"""Part of the entries that must have been looked for before a table of them is worth making: not after each write."""


@dataclass(frozen=True, slots=True)
class GraphRanking:
    """Entries with scores, best first, ties by id.

    ``shares`` is each ranked entry's part of the walk, the largest being 1. ``starts`` are the nodes the
    query names, from which `graphport.retrieval.explain.best_paths` explains a hit on ``arcs`` (None where
    the graph was not read as a whole). Where no walk was made, ``note`` says why. ``unexplored`` is the
    mass that a bounded walk could not follow.
    """

    ranked: Scored
    shares: Mapping[str, float]
    starts: Sequence[str] = ()
    arcs: GraphSnapshot | None = None
    note: str = ""
    unexplored: float = 0.0


class EntryPlaces:
    """The entries that nodes stand for, in code point order, and where each stands.

    ``entries`` (e) sorted; ``first_row`` (e,) the first of the nodes that stand for each; ``of_row`` (n,) for
    each node the place of its entry, -1 for none.
    """

    __slots__ = ("_asked", "_table", "entries", "first_row", "of_row")

    def __init__(self, entries: Sequence[str], first_row: NDArray[np.int64], of_row: NDArray[np.int64]) -> None:
        self.entries = entries
        self.first_row = first_row
        self.of_row = of_row
        self._asked = 0
        self._table: dict[str, int] | None = None

    def places(self, wanted: Iterable[str]) -> dict[str, int]:
        """Places of those of some entries that a node stands for."""
        names = list(wanted)
        self._asked += len(names)
        if self._table is None and self._asked > _TABLE_PAYS * len(self.entries):
            self._table = {entry: place for place, entry in enumerate(self.entries)}
        if self._table is not None:
            table = self._table
            return {entry: place for entry in names if (place := table.get(entry)) is not None}
        found = ((entry, bisect_left(self.entries, entry)) for entry in names)
        return {entry: place for entry, place in found if place < len(self.entries) and self.entries[place] == entry}


def entry_places(graph: GraphSnapshot) -> EntryPlaces:
    """`EntryPlaces` of a graph; kept with it."""
    return graph.derived("retrieval:places", _entry_places)


def entry_shares(graph: GraphSnapshot, scores: NDArray[np.float64]) -> tuple[Sequence[str], NDArray[np.float64]]:
    """The entries of a graph, sorted, and the score of each, the largest being 1; of several nodes the best counts."""
    known = entry_places(graph)
    rows = np.flatnonzero(known.of_row >= 0)
    shares = np.zeros(len(known.entries))
    np.maximum.at(shares, known.of_row[rows], scores[rows])
    top = shares.max(initial=0.0)
    return known.entries, shares / top if top > 0 else shares


def local_entry_shares(graph: GraphSnapshot, found: LocalPageRank) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places of the entries that a local walk reached, ascending, and their shares as above."""
    reached = entry_places(graph).of_row[found.rows]
    stands = reached >= 0
    places, shares = reached[stands], found.scores[stands]
    if not (places[1:] > places[:-1]).all():  # several nodes stand for an entry, or their order is another
        places, slot = np.unique(places, return_inverse=True)
        shares, every = np.zeros(len(places)), shares
        np.maximum.at(shares, slot, every)
    top = shares.max(initial=0.0)
    return places, shares / top if top > 0 else shares


def _entry_places(graph: GraphSnapshot) -> EntryPlaces:
    arrays = graph.derived_arrays("retrieval:entries", entry_rows, patched_entry_rows)
    entries = cast("list[str]", list(map(graph.entries.__getitem__, arrays["first"].tolist())))
    return EntryPlaces(entries, arrays["first"], arrays["place"])
