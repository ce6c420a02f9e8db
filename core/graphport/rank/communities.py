"""Communities of a graph and how good they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphport.errors import InvalidInputError, MissingNodeError
from graphport.rank import igraph_engine
from graphport.rank.matrix import edge_weights, row_sums, symmetric_matrix
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage

_MIN_GAIN = 1e-12
"""Gains of modularity below this are rounding; without it two nodes could swap for ever."""


def modularity(graph: GraphStorage | GraphSnapshot, communities: Mapping[str, int], resolution: float = 1.0) -> float:
    """Newman's modularity of a partition of the undirected, weighted graph, in [-0.5, 1] at resolution 1.

    ``sum over communities of (weight inside / m - resolution * (degrees / 2m)**2)``, ``m`` the weight of
    all edges (Newman 2006; resolution as Reichardt and Bornholdt 2006). 0.0 for a graph without edges.
    ``communities`` must cover every node; `MissingNodeError` names those it does not.
    """
    _check_resolution(resolution)
    snapshot = snapshot_of(graph)
    missing = tuple(node_id for node_id in snapshot.ids if node_id not in communities)
    if missing:
        raise MissingNodeError(f"{len(missing)} nodes have no community, the first is {missing[0]!r:.80}", missing)
    matrix = symmetric_matrix(snapshot, edge_weights(snapshot))
    twice_m = float(matrix.sum())
    if not twice_m:
        return 0.0
    numbers = _renumbered([communities[node_id] for node_id in snapshot.ids])
    label = np.array(numbers)
    degree = np.bincount(label, weights=row_sums(matrix))
    row = np.repeat(label, np.diff(matrix.indptr))
    inside = float(matrix.data[row == label[matrix.indices]].sum())
    return inside / twice_m - resolution * float(((degree / twice_m) ** 2).sum())


def louvain_communities(graph: GraphStorage | GraphSnapshot, resolution: float = 1.0) -> dict[str, int]:
    """Greedy Louvain, first phase: each node moves to the community of best gain until no single move gains.

    Deterministic: nodes are visited in code point order, the lowest community wins a tie, and a node
    stays unless it gains. Ids count from 0 in the order in which communities are first seen.
    """
    _check_resolution(resolution)
    snapshot = snapshot_of(graph)
    matrix = symmetric_matrix(snapshot, edge_weights(snapshot))
    ends, targets, weights = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    degree: list[float] = row_sums(matrix).tolist()
    total = sum(degree)
    community: list[int] = list(range(len(degree)))
    volume = degree.copy()
    moved = total > 0
    while moved:
        moved = False
        for node, k in enumerate(degree):
            here = community[node]
            volume[here] -= k
            links = {here: 0.0}  # weight towards each neighboring community
            for at in range(ends[node], ends[node + 1]):
                if targets[at] != node:
                    there = community[targets[at]]
                    links[there] = links.get(there, 0.0) + weights[at]
            factor = resolution * k / total
            gain, best = max((link - factor * volume[other], -other) for other, link in links.items())
            stay = links[here] - factor * volume[here]
            if max(gain, 0.0) <= stay + _MIN_GAIN * total:
                volume[here] += k
                continue
            community[node], moved = -best, True
            if gain < 0:  # alone is better than in any of them
                community[node] = len(volume)
                volume.append(0.0)
            volume[community[node]] += k
    return dict(zip(snapshot.ids, _renumbered(community), strict=True))


def leiden_communities(
    graph: GraphStorage | GraphSnapshot, resolution: float = 1.0, *, seed: int = 0
) -> dict[str, int]:
    """Leiden communities (Traag, Waltman and van Eck 2019) by modularity, from igraph, two iterations.

    The same ``seed`` gives the same communities; Python's own random numbers are neither used nor
    disturbed. Ids count from 0 in the order in which communities are first seen.
    """
    _check_resolution(resolution)
    snapshot = snapshot_of(graph)
    matrix = symmetric_matrix(snapshot, edge_weights(snapshot))
    membership = igraph_engine.leiden_membership(matrix, resolution=resolution, seed=seed)
    return dict(zip(snapshot.ids, _renumbered(membership), strict=True))


def _renumbered(labels: list[int]) -> list[int]:
    """Labels as 0, 1, 2, ... in the order in which they first occur."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _check_resolution(resolution: float) -> None:
    if not 0 < resolution < float("inf"):
        raise InvalidInputError(f"resolution is {resolution}; it must be a finite number > 0")
