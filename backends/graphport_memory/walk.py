"""A neighbourhood on columns: a level at a time, as arrays of rows, whose order is that of the ids."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphport.model import Direction, Subgraph
from graphport_memory.base import Base, Rows


def neighborhood(
    base: Base, seeds: list[str], depth: int, max_nodes: int, direction: Direction, kinds: frozenset[str] | None
) -> Subgraph:
    """What `graphport.traverse.neighborhood` gives, from a base alone."""
    graph = base.graph
    wanted = None if kinds is None else np.array([kind in kinds for kind in graph.edge_kinds], dtype=bool)
    ahead = np.unique(np.array([row for key in seeds if (row := graph.index_of(key)) is not None], dtype=np.int64))
    level = ahead[:max_nodes]
    truncated = len(level) < len(ahead)
    found, inside = [level], level  # inside: all found so far, ascending
    for _ in range(depth):
        if not len(level):
            break
        ahead = np.setdiff1d(_far_ends(base, level, direction, wanted), inside, assume_unique=True)
        level = ahead[: max_nodes - len(inside)]
        truncated = truncated or len(level) < len(ahead)
        found.append(level)
        inside = np.union1d(inside, level)
    rows: list[int] = np.concatenate(found).tolist()
    steps: list[int] = np.repeat(np.arange(len(found)), [len(level) for level in found]).tolist()
    edges = _out_rows(base, inside, wanted)
    edges = edges[np.isin(graph.target_index[edges], inside)]
    return Subgraph(
        nodes=tuple(base.nodes_at(rows)),
        edges=tuple(base.edges_at(edges)),
        depths=dict(zip([graph.ids[row] for row in rows], steps, strict=True)),
        truncated=truncated,
    )


def _far_ends(base: Base, level: Rows, direction: Direction, wanted: NDArray[np.bool_] | None) -> Rows:
    """Rows of the nodes at the other ends, each once, ascending."""
    graph = base.graph
    ends: list[NDArray[Any]] = []
    if direction is not Direction.IN:
        ends.append(graph.target_index[_out_rows(base, level, wanted)])
    if direction is not Direction.OUT:
        start, by_target = base.incoming
        rows = by_target[_ranges(start, level)]
        ends.append(graph.source_index[rows if wanted is None else rows[wanted[graph.edge_kind[rows]]]])
    return np.unique(np.concatenate(ends))


def _out_rows(base: Base, nodes: Rows, wanted: NDArray[np.bool_] | None) -> Rows:
    rows = _ranges(base.out_start, nodes)
    return rows if wanted is None else rows[wanted[base.graph.edge_kind[rows]]]


def _ranges(start: Rows, rows: Rows) -> Rows:
    """All of start[row] ... start[row + 1] - 1, for each row in turn."""
    first, length = start[rows], start[rows + 1] - start[rows]
    before = np.concatenate(([0], np.cumsum(length)[:-1]))
    return np.repeat(first - before, length) + np.arange(int(length.sum()))
