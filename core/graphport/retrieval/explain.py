"""Why the graph led to a hit: the likeliest path of the walk from what the query names."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator

import numpy as np

from graphport.retrieval.hits import Hop
from graphport.retrieval.pointing import BACK
from graphport.snapshot import GraphSnapshot

MAX_SETTLED = 20_000
"""Nodes that are looked at; a path beyond is too unlikely to explain anything."""


def best_paths(arcs: GraphSnapshot, starts: Iterable[str], entries: Iterable[str]) -> dict[str, tuple[Hop, ...]]:
    """For each entry the path from one of ``starts`` whose steps have the highest product of probabilities.

    ``arcs`` is the directed graph of the walk, `pointing_graph` or `both_ways`; hops name its edges as they
    are stored. An entry that is a start itself has the empty path; one that is not reached is not in
    the dict. Of equal paths the one over the lower ids.
    """
    rows = arcs.entry_rows()
    goals = {row: entry for entry in entries for row in rows.get(entry, ())}
    best: dict[str, tuple[Hop, ...]] = {}
    came: dict[int, tuple[int, int, float]] = {}
    queue = [(0.0, row, -1, -1, 1.0) for row in sorted(_rows_of(arcs, starts))]
    settled: set[int] = set()
    while queue and len(settled) < MAX_SETTLED and len(best) < len(set(goals.values())):
        cost, row, tail, arc, probability = heapq.heappop(queue)
        if row in settled:
            continue
        settled.add(row)
        if arc >= 0:
            came[row] = (tail, arc, probability)
        if row in goals:
            best.setdefault(goals[row], tuple(_hops(arcs, came, row)))
        for head, next_arc, step in _steps(arcs, row):
            if head not in settled:
                heapq.heappush(queue, (cost - math.log(step), head, row, next_arc, step))
    return best


def _rows_of(arcs: GraphSnapshot, nodes: Iterable[str]) -> set[int]:
    return {row for node in nodes if (row := arcs.index_of(node)) is not None}


def _steps(arcs: GraphSnapshot, row: int) -> Iterator[tuple[int, int, float]]:
    """Heads of the arcs of a node, with the heaviest arc to each and the probability of going there."""
    first, last = np.searchsorted(arcs.source_index, [row, row + 1]).tolist()
    total = float(arcs.weight[first:last].sum())
    heads: dict[int, tuple[int, float, float]] = {}
    for arc in range(first, last):
        weight = float(arcs.weight[arc])
        heaviest, most, together = heads.get(int(arcs.target_index[arc]), (arc, 0.0, 0.0))
        heads[int(arcs.target_index[arc])] = (arc if weight > most else heaviest, max(weight, most), together + weight)
    for head, (arc, _, together) in heads.items():
        if together > 0:
            yield head, arc, together / total


def _hops(arcs: GraphSnapshot, came: dict[int, tuple[int, int, float]], row: int) -> list[Hop]:
    hops: list[Hop] = []
    while row in came:
        tail, arc, probability = came[row]
        kind = arcs.edge_kinds[int(arcs.edge_kind[arc])]
        forward = not kind.endswith(BACK)
        source, target = (tail, row) if forward else (row, tail)
        hops.append(Hop(arcs.ids[source], kind[: -len(BACK)], arcs.ids[target], forward, probability))
        row = tail
    return hops[::-1]
