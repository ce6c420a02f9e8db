"""Putting rankings together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import cast

from graphport.errors import InvalidIdError, InvalidInputError, InvalidQueryError

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion" (SIGIR 2009)."""


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]], /, *, rrf_k: float = RRF_K, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Fuse rankings of ids, best first, into ``(id, score)``, best first; ties by id.

    An id's score is the sum over rankings of ``weight / (rrf_k + rank)``, rank from 1; where one ranking
    names an id twice its better rank counts. ``rrf_k`` > -1; ``weights`` (one a ranking, >= 0) are 1 by
    default. Raises `InvalidQueryError`, `InvalidInputError` for a ranking without an order (a set, a
    mapping) and `InvalidIdError` for an id that is no str: 7 and "7" would count as two.
    """
    lists = list(rankings)
    factors = [1.0] * len(lists) if weights is None else list(weights)
    if len(factors) != len(lists) or any(not factor >= 0 for factor in factors):
        raise InvalidQueryError(f"weights are {weights!r}; give {len(lists)} numbers >= 0, one a ranking")
    if not rrf_k > -1:
        raise InvalidQueryError(f"rrf_k is {rrf_k!r}; it must be > -1 (60 is usual)")
    scores: dict[str, float] = {}
    for factor, ranking in zip(factors, lists, strict=True):
        for rank, item in enumerate(_ids(ranking), 1):
            scores[item] = scores.get(item, 0.0) + factor / (rrf_k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def _ids(ranking: Iterable[str]) -> dict[str, None]:
    if isinstance(ranking, str | Set | Mapping):
        kind = type(cast("object", ranking)).__name__
        raise InvalidInputError(f"a ranking is the {kind} {ranking!r:.80}; give a list of ids, best first")
    ids = list(ranking)
    for item in ids:
        if not isinstance(item, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # users without a type checker
            raise InvalidIdError(
                f"a ranking holds {type(item).__name__} {item!r:.80}; it must hold ids as str, such as str(id) "
                "or hit.entry"
            )
    return dict.fromkeys(ids)


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
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)  # Real: numpy's, too
    if not 0 <= number <= 1:
        raise InvalidQueryError(f"graph_weight is {value!r}; it must be a finite number in 0..=1")
    return number
