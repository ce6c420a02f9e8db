"""Which nodes a walk can come to: looked for around its start first, for most starts are told apart there."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphport.rank.among import Field
from graphport.rank.arrays import Index
from graphport.rank.kernels import gather_rows
from graphport.rank.walk import Walk
from graphport.snapshot import GraphSnapshot

LOOK = 200_000
"""Arcs to follow before the components of the whole graph are worked out, which costs as many microseconds or more."""


def reachable(graph: GraphSnapshot, walk: Walk, starts: Index, field: Field, most: int) -> Index | None:
    """The rows of ``field`` that an undirected walk can reach from ``starts``, ascending; None if above ``most``.

    ``starts`` are nodes with edges, each once.
    """
    seen = np.zeros(walk.n_nodes, dtype=np.bool_)
    seen[starts] = True
    front, ranked, work = starts, len(field.only(starts)), 0
    while len(front) and ranked <= most:
        work += int(walk.arcs(front).sum())
        if work > LOOK:
            labels = graph.derived("components", lambda _: _components(walk))
            seen = np.isin(labels, labels[starts])
            break
        near = gather_rows(walk.step, front).columns
        front = np.unique(near[~seen[near]])
        seen[front] = True
        ranked += len(field.only(front))
    rows = np.flatnonzero(seen if field.mask is None else seen & field.mask)
    return rows if len(rows) <= most else None


def _components(walk: Walk) -> Index:
    labels: Index = connected_components(walk.step, directed=False)[1]
    return labels
