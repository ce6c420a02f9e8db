"""Personalized PageRank over a graph: scores for every node, from one of three engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from graphport.errors import InvalidInputError
from graphport.rank.arrays import Index, Vector
from graphport.rank.push import push_scores
from graphport.rank.seeds import Seeds, reset_of
from graphport.rank.solve import solve
from graphport.rank.walk import walk_of
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage

Engine = Literal["igraph", "chebyshev", "push"]
MIN_TOLERANCE = 1e-13
_TOLERANCE = {"chebyshev": 1e-10, "push": 1e-6}


class PageRank(Mapping[str, float]):
    """Scores of all nodes by id; they are >= 0 and sum to 1.

    ``scores`` (n,) float64 are in the order of ``ids``, which is code point order. ``error_bound`` is an
    upper bound of the L1 distance to the exact distribution; ``engine`` says what computed it.
    """

    __slots__ = ("_graph", "engine", "error_bound", "scores")

    def __init__(self, graph: GraphSnapshot, scores: Vector, *, error_bound: float, engine: str) -> None:
        self._graph = graph
        self.scores = scores
        self.error_bound = error_bound
        self.engine = engine

    @property
    def ids(self) -> Sequence[str]:
        return self._graph.ids

    def __getitem__(self, node_id: str) -> float:
        row = self._graph.index_of(node_id)
        if row is None:
            raise KeyError(node_id)
        return float(self.scores[row])

    def __iter__(self) -> Iterator[str]:
        return iter(self._graph.ids)

    def __len__(self) -> int:
        return len(self._graph.ids)

    def __repr__(self) -> str:
        return f"PageRank(nodes={len(self)}, engine={self.engine!r}, error_bound={self.error_bound:.1e})"

    def top(self, k: int) -> list[tuple[str, float]]:
        """The ``k`` best nodes (all, if there are fewer) with their scores, by score descending, then id."""
        rows: list[int] = best_rows(self.scores, k).tolist()
        return [(self._graph.ids[row], float(self.scores[row])) for row in rows]


def best_rows(scores: Vector, k: int) -> Index:
    """Rows of the ``k`` highest scores, by score descending, then row; O(n) for small ``k``."""
    if k < 0:
        raise InvalidInputError(f"k is {k}; it must be >= 0")
    n = len(scores)
    rows = np.arange(n) if k >= n or k == 0 else np.flatnonzero(scores >= np.partition(scores, n - k)[n - k])
    return rows[np.argsort(-scores[rows], kind="stable")][:k]


def personalized_pagerank(
    graph: GraphStorage | GraphSnapshot,
    seeds: Seeds,
    *,
    damping: float = 0.5,
    directed: bool = False,
    weighted: bool = True,
    engine: Engine = "igraph",
    tol: float | None = None,
    max_iter: int = 1000,
) -> PageRank:
    """Where a walk is that restarts at the seeds with probability ``1 - damping`` at each step.

    ``seeds`` are node ids (uniform over the distinct ones) or a mapping of ids to weights. ``damping`` is
    in [0, 1), 0.5 as in HippoRAG 2. The walk picks edges in proportion to their weight (``weighted``),
    along and against their direction unless ``directed``; where it cannot go on it restarts at the seeds.
    Parallel edges add up, edges of weight 0 are left out, undirected self-loops count twice: all as igraph
    has it, whose ``personalized_pagerank(damping=, directed=False, weights=, reset=)`` is the default
    engine and the reference.

    ``engine="chebyshev"`` iterates on a matrix that is built once per snapshot, two to four times faster
    than igraph, until the L1 error is at most ``tol`` (1e-10). ``engine="push"`` moves mass around the
    seeds alone as far as that is cheaper, and is meant for a coarse ``tol`` (1e-6). A directed walk has no
    such structure: both are plain power iteration there, and `PageRank.engine` says so.

    Raises `InvalidSeedsError` (none, or weights that are no distribution), `MissingNodeError` (a seed is
    not in the graph), `InvalidInputError`, and `ConvergenceError` if ``max_iter`` iterations do not reach
    ``tol``.
    """
    check_damping(damping)
    snapshot = snapshot_of(graph)
    reset = reset_of(snapshot, seeds)
    if engine == "igraph":
        from graphport.rank.igraph_engine import ERROR_BOUND, igraph_pagerank

        scores = igraph_pagerank(snapshot, reset, damping=damping, directed=directed, weighted=weighted)
        return PageRank(snapshot, scores, error_bound=ERROR_BOUND, engine=engine)
    if engine not in _TOLERANCE:
        raise InvalidInputError(f"no engine {engine!r}; use igraph, chebyshev or push")
    tol = _TOLERANCE[engine] if tol is None else tol
    if not tol >= MIN_TOLERANCE:
        raise InvalidInputError(f"tol is {tol}; it must be at least {MIN_TOLERANCE}, float64 gives no more")
    walk = walk_of(snapshot, directed=directed, weighted=weighted)
    found = (push_scores if engine == "push" and walk.reversible else solve)(
        walk, reset, damping=damping, tol=tol, max_iter=max_iter
    )
    return PageRank(
        snapshot, found.scores, error_bound=found.error_bound, engine=engine if walk.reversible else "power"
    )


def check_damping(damping: float) -> None:
    """Raises `InvalidInputError` unless ``0 <= damping < 1`` (at 1 the walk never restarts)."""
    if not 0 <= damping < 1:
        raise InvalidInputError(f"damping is {damping}; it must be in [0, 1)")
