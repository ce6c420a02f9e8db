"""Putting rankings together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphport.errors import InvalidQueryError

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion" (SIGIR 2009)."""


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]], /, *, rrf_k: float = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Fuse rankings of ids, best first, into ``(id, score)``, best first; ties by id.

    An id's score is the sum over rankings of ``weight / (rrf_k + rank)``, rank from 1; where one ranking
    names an id twice its better rank counts. ``rrf_k`` > -1; ``weights`` (one a ranking, >= 0) are 1 by
    default. Raises `InvalidQueryError`.
    """
    lists = list(rankings)
    factors = [1.0] * len(lists) if weights is None else list(weights)
    if len(factors) != len(lists) or any(not factor >= 0 for factor in factors):
        raise InvalidQueryError(f"weights are {weights!r}; give {len(lists)} numbers >= 0, one a ranking")
    if not rrf_k > -1:
        raise InvalidQueryError(f"rrf_k is {rrf_k!r}; it must be > -1 (60 is usual)")
    scores: dict[str, float] = {}
    for factor, ranking in zip(factors, lists, strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), 1):
            scores[item] = scores.get(item, 0.0) + factor / (rrf_k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def normalized_fusion(rankings: Sequence[Sequence[str]], *, rrf_k: float = RRF_K) -> list[tuple[str, float]]:
    """`reciprocal_rank_fusion` scaled to [0, 1]: rank 1 in every ranking is 1.0.

    RRF scores are tiny (at most 2/61 for two legs), so that a blend with anything in [0, 1] would
    ignore them.
    """
    if not rankings:
        return []
    best = len(rankings) / (rrf_k + 1)
    return [(item, score / best) for item, score in reciprocal_rank_fusion(rankings, rrf_k=rrf_k)]


def check_graph_weight(value: object) -> float:
    """``value`` as a float if it is finite and in [0, 1]; else `InvalidQueryError`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidQueryError(f"graph_weight is {value!r}; it must be a finite number in 0..=1")
    return float(value)
