"""What the graph makes of a query, whichever way it is used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphport.rank.local import LocalPageRank
from graphport.snapshot import GraphSnapshot

Scored = Sequence[tuple[str, float]]
"""Entries with scores, best first."""


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


@dataclass(frozen=True, slots=True)
class EntryPlaces:
    """The entries that nodes stand for, in code point order, and where each stands.

    ``entries`` (e) sorted; ``place_of`` is the place of each in them; ``first_row`` (e,) the first of the
    nodes that stand for it; ``of_row`` (n,) for each node the place of its entry, -1 for none.
    """

    entries: Sequence[str]
    place_of: Mapping[str, int]
    first_row: NDArray[np.int64]
    of_row: NDArray[np.int64]

    def places(self, wanted: Iterable[str]) -> dict[str, int]:
        """Places of those of some entries that a node stands for."""
        return {entry: place for entry in wanted if (place := self.place_of.get(entry)) is not None}


def entry_places(graph: GraphSnapshot) -> EntryPlaces:
    """`EntryPlaces` of a graph; kept with it."""
    return graph.derived("retrieval:entries", _entry_places)


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
    rows = np.flatnonzero(graph.entry_mask())
    names = [entry for row in rows.tolist() if (entry := graph.entries[row]) is not None]
    entries = sorted(names)
    place_of = dict(zip(entries, range(len(entries)), strict=True))
    of_row = np.full(graph.n_nodes, -1, dtype=np.int64)
    if len(place_of) < len(entries):  # several nodes stand for an entry
        entries = list(place_of)
        place_of = dict(zip(entries, range(len(entries)), strict=True))
    of_row[rows] = np.arange(len(names)) if entries == names else [place_of[name] for name in names]
    first_row = np.empty(len(entries), dtype=np.int64)
    first_row[of_row[rows[::-1]]] = rows[::-1]  # of several rows the last one written stays
    return EntryPlaces(entries, place_of, first_row, of_row)
