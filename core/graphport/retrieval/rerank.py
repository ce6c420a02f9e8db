"""Re-ranking hits by Personalized PageRank over the graph that backs them."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from graphport.errors import InvalidIdError, InvalidQueryError, InvalidRowError
from graphport.rank.pagerank import Engine, personalized_pagerank
from graphport.retrieval.fusion import check_graph_weight
from graphport.retrieval.hits import Explanation, Hit
from graphport.snapshot import GraphSnapshot, snapshot_of
from graphport.storage import GraphStorage

log = logging.getLogger("graphport")

DAMPING = 0.5
"""HippoRAG 2's: the walk follows an edge with this probability, and restarts otherwise."""

LARGEST_SCORE = 1.001
"""A cosine computed in float32 may be a little above 1."""


def graph_rerank(
    hits: Iterable[Hit],
    graph: GraphStorage | GraphSnapshot,
    graph_weight: float = 0.5,
    *,
    damping: float = DAMPING,
    engine: Engine = "igraph",
) -> list[Hit]:
    """Re-order hits by ``(1 - w) * score + w * ppr(node) / max_ppr``; ties keep the earlier position.

    The walk starts, uniformly, from the distinct nodes that back the hits (``Node.entry`` is the hit's
    entry), edges taken as undirected and weighted; ``max_ppr`` is the largest share in the whole graph.
    A hit without a node has a PPR term of 0, one with several takes its largest. Scores are better the
    higher they are, and should be in [0, 1], or the blend is not what ``graph_weight`` says; scores that
    look like distances or leave [-1, 1] are logged as a warning.

    The hits come back as they were, ``explanation`` included, when ``graph_weight`` is 0, the graph has
    no edges, or no hit has a node; it is logged as a warning if the hits are nodes that lack an ``entry``.
    Raises `InvalidQueryError` for a weight outside [0, 1] or a score that is no finite number,
    `InvalidRowError` for what is no `Hit`, and `InvalidIdError` for a hit whose id is no str.
    """
    weight = check_graph_weight(graph_weight)
    found = [_checked(hit) for hit in hits]
    if weight == 0 or not found:
        return found
    snapshot = snapshot_of(graph)
    if snapshot.n_edges == 0:
        return found
    _doubt_scores(found)
    rows = snapshot.entry_rows()
    backing = {hit.entry: rows[hit.entry] for hit in found if hit.entry in rows}
    if not backing:
        _doubt_entries(found, snapshot)
        return found
    seeds = sorted({snapshot.ids[row] for entry_rows in backing.values() for row in entry_rows})
    ppr = personalized_pagerank(snapshot, seeds, damping=damping, engine=engine).scores
    top = float(ppr.max())
    blended: list[Hit] = []
    for hit in found:
        share = max((float(ppr[row]) for row in backing.get(hit.entry, ())), default=0.0) / top
        told = replace(hit.explanation or Explanation(base=hit.score), ppr=share)
        blended.append(replace(hit, score=(1 - weight) * hit.score + weight * share, explanation=told))
    return sorted(blended, key=lambda hit: -hit.score)


def _checked(hit: object) -> Hit:
    """The hit with its score as a float, whatever number a database made of it."""
    if not isinstance(hit, Hit):
        raise InvalidRowError(f"expected a Hit, got {type(hit).__name__} {hit!r:.80}; make it one: Hit(id, score)")
    if not isinstance(hit.entry, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # users without a type checker
        raise InvalidIdError(
            f"id of a hit is {type(hit.entry).__name__} {hit.entry!r:.80}; it must be the str that its node has "
            "as entry, such as str(id)"
        )
    if type(hit.score) is float and math.isfinite(hit.score):
        return hit
    return replace(hit, score=_finite(hit.score, hit.entry))


def _finite(score: object, entry: str) -> float:
    try:
        number = math.nan if isinstance(score, str) else float(score)  # type: ignore[arg-type]  # whatever has __float__ is welcome
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InvalidQueryError(f"score of hit {entry!r:.80} is {score!r:.80}; it must be a finite number")
    return number


def _doubt_scores(hits: Sequence[Hit]) -> None:
    scores = [hit.score for hit in hits]
    if len(scores) > 2 and scores[0] < scores[-1] and all(a <= b for a, b in pairwise(scores)):
        log.warning(
            "scores of the hits rise from %g to %g, as distances do; graph_rerank takes the highest as the best: "
            "give it 1 - distance for a cosine distance",
            scores[0],
            scores[-1],
        )
    largest = max(scores, key=abs)
    if abs(largest) > LARGEST_SCORE:
        log.warning("a hit has the score %g; scale scores to [0, 1], or graph_weight is not what it says", largest)


def _doubt_entries(hits: Sequence[Hit], graph: GraphSnapshot) -> None:
    bare = next((hit.entry for hit in hits if graph.index_of(hit.entry) is not None), None)
    if bare is not None:
        log.warning(
            "no hit has a node, so the graph changes nothing; node %r has the id of a hit: "
            "give nodes the id of their hit as Node(..., entry=...) to link the two",
            bare,
        )
