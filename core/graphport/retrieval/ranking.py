"""What the graph makes of a query, whichever way it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def entry_shares(graph: GraphSnapshot, scores: NDArray[np.float64]) -> tuple[Sequence[str], NDArray[np.float64]]:
    """The entries of a graph, sorted, and the score of each, the largest being 1; of several nodes the best counts."""
    entries, rows, codes = graph.derived("retrieval:entries", _entries)
    shares = np.zeros(len(entries))
    np.maximum.at(shares, codes, scores[rows])
    top = shares.max(initial=0.0)
    return entries, shares / top if top > 0 else shares


def local_entry_shares(graph: GraphSnapshot, found: LocalPageRank) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places, in the sorted list of entries, of those a local walk reached, ascending, and their shares as above."""
    _, place = graph.derived("retrieval:entry-of-row", _entry_of_row)
    codes = place[found.rows]
    scores = found.scores[codes >= 0]
    places, slot = np.unique(codes[codes >= 0], return_inverse=True)
    shares = np.zeros(len(places))
    np.maximum.at(shares, slot, scores)
    top = shares.max(initial=0.0)
    return places, shares / top if top > 0 else shares


def entry_list(graph: GraphSnapshot) -> Sequence[str]:
    """The entries that nodes stand for, sorted."""
    return graph.derived("retrieval:entries", _entries)[0]


def _entry_of_row(graph: GraphSnapshot) -> tuple[list[str], NDArray[np.int64]]:
    """Entries, and for each node the place of the entry it stands for, -1 for none."""
    entries, rows, codes = graph.derived("retrieval:entries", _entries)
    place = np.full(graph.n_nodes, -1, dtype=np.int64)
    place[rows] = codes
    return entries, place


def _entries(graph: GraphSnapshot) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Entries, and for each node that stands for one its row and the entry's place."""
    rows = graph.entry_rows()
    entries = sorted(rows)
    pairs = [(row, place) for place, entry in enumerate(entries) for row in rows[entry]]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return entries, table[:, 0], table[:, 1]
