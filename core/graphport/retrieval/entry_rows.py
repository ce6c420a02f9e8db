"""Which nodes stand for which entries, as arrays: made from a snapshot, or from those of an earlier one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.snapshot import GraphSnapshot, RowChanges

Arrays = Mapping[str, NDArray[Any]]
Rows = NDArray[np.int64]

WORTH_PATCHING = 0.1
"""Part of a graph's nodes above which it is not worth to place those that changed one by one."""


def entry_rows(graph: GraphSnapshot) -> Arrays:
    """``first`` (e,): the first node of each entry, in code point order of these; ``place`` (n,): which one, or -1."""
    rows = np.flatnonzero(graph.entry_mask())
    names = [entry for entry in graph.entries if entry is not None]
    place_of = {entry: place for place, entry in enumerate(dict.fromkeys(sorted(names)))}
    place = np.full(graph.n_nodes, -1, dtype=np.int64)
    place[rows] = [place_of[name] for name in names]
    first = np.empty(len(place_of), dtype=np.int64)
    first[place[rows[::-1]]] = rows[::-1]  # of several rows the last one written stays
    return {"first": first, "place": place}


def patched_entry_rows(graph: GraphSnapshot, earlier: Arrays, changes: RowChanges) -> Arrays | None:
    """The same from the arrays of an earlier snapshot; None where that would not be worth it.

    Entries with a node that changed or went are taken out and placed anew by their names; the others move up.
    """
    nodes, touched = changes
    if len(touched) > WORTH_PATCHING * graph.n_nodes:
        return None
    place: Rows = nodes.array(earlier["place"], [-1] * len(nodes.new_rows)).copy()
    left = np.concatenate([earlier["place"][nodes.cut], place[touched]])
    keeps = np.ones(len(earlier["first"]) + 1, dtype=np.bool_)  # the last one: what stands for no entry keeps that
    keeps[left[left >= 0]] = False
    place[touched] = -1
    loose = np.union1d(touched, np.flatnonzero(~keeps[place]))
    place[loose] = -1
    kept = keeps[:-1]
    first: Rows = nodes.moved(earlier["first"][kept])
    spots = _spots(graph, loose, first)
    new = [spot.before for spot in spots if not spot.is_there]
    moved = np.arange(len(first)) + np.searchsorted(np.array(new, dtype=np.int64), np.arange(len(first)), side="right")
    table = np.full(len(kept) + 1, -1, dtype=np.int64)
    table[:-1][kept] = moved
    place = table[place]
    first = np.insert(first, new, [spot.rows[0] for spot in spots if not spot.is_there])
    added = 0
    for spot in spots:
        at = spot.before + added
        added += not spot.is_there
        place[spot.rows] = at
        first[at] = min(first[at], spot.rows[0])
    return {"first": first, "place": place}


class _Spot(NamedTuple):
    """Where an entry with ``rows`` (ascending) belongs: before one of those that stay, or it ``is_there``."""

    before: int
    is_there: bool
    rows: list[int]


def _spots(graph: GraphSnapshot, loose: Rows, first: Rows) -> list[_Spot]:
    """The entries of ``loose`` rows in code point order, beside those whose first rows are ``first``."""
    rows_of: dict[str, list[int]] = {}
    rows: list[int] = loose.tolist()
    for row in rows:
        entry = graph.entries[row]
        if entry is not None:
            rows_of.setdefault(entry, []).append(row)
    return list(_placed(graph, sorted(rows_of.items()), first.tolist()))


def _placed(graph: GraphSnapshot, entries: Iterable[tuple[str, list[int]]], first: list[int]) -> Iterable[_Spot]:
    for entry, rows in entries:
        before = bisect_left(first, entry, key=lambda row: graph.entries[row] or "")
        yield _Spot(before, before < len(first) and graph.entries[first[before]] == entry, rows)
