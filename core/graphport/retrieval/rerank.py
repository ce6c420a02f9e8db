"""Re-ranking hits by Personalized PageRank over the graph that backs them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from graphport.errors import InvalidQueryError
from graphport.rank.pagerank import Engine, personalized_pagerank
from graphport.retrieval.fusion import check_graph_weight
from graphport.retrieval.hits import Explanation, Hit
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage

DAMPING = 0.5
"""HippoRAG 2's: the walk follows an edge with this probability, and restarts otherwise."""


def graph_rerank(
    hits: Sequence[Hit],
    graph: GraphStorage | GraphSnapshot,
    graph_weight: float = 0.5,
    *,
    damping: float = DAMPING,
    engine: Engine = "igraph",
) -> list[Hit]:
    """Re-order hits by ``(1 - w) * score + w * ppr(node) / max_ppr``; ties keep the earlier position.

    The walk starts, uniformly, from the distinct nodes that back the hits (``Node.entry`` is the hit's
    entry), edges taken as undirected and weighted; ``max_ppr`` is the largest share in the whole graph.
    A hit without a node has a PPR term of 0, one with several takes its largest. Scores should be in
    [0, 1], or the blend is not what ``graph_weight`` says.

    The hits come back as they were when ``graph_weight`` is 0, the graph has no edges, or no hit has a
    node. Raises `InvalidQueryError` for a weight outside [0, 1] or a score that is not finite.
    """
    weight = check_graph_weight(graph_weight)
    for hit in hits:
        if not math.isfinite(hit.score):
            raise InvalidQueryError(f"score of hit {hit.entry!r:.80} is {hit.score}; it must be finite")
    if weight == 0 or not hits:
        return list(hits)
    snapshot = snapshot_of(graph)
    if snapshot.n_edges == 0:
        return list(hits)
    rows = snapshot.entry_rows()
    backing = {hit.entry: rows[hit.entry] for hit in hits if hit.entry in rows}
    if not backing:
        return list(hits)
    seeds = sorted({snapshot.ids[row] for entry_rows in backing.values() for row in entry_rows})
    ppr = personalized_pagerank(snapshot, seeds, damping=damping, engine=engine).scores
    top = float(ppr.max())
    blended: list[Hit] = []
    for hit in hits:
        share = max((float(ppr[row]) for row in backing.get(hit.entry, ())), default=0.0) / top
        told = replace(hit.explanation or Explanation(base=hit.score), ppr=share)
        blended.append(replace(hit, score=(1 - weight) * hit.score + weight * share, explanation=told))
    return sorted(blended, key=lambda hit: -hit.score)
