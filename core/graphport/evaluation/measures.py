"""How good a ranking is, and whether one is better than another beyond chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from graphport.errors import BackendUnavailableError
from graphport.evaluation.questions import Question

MEASURES = {"recall@2": "R@2", "recall@5": "R@5", "recall@10": "R@10", "ndcg@10": "nDCG@10", "mrr": "RR"}
"""Names as printed, and as ir-measures has them. Recall is the part of a question's gold found, then the mean."""

RESAMPLES = 10_000
_SEED = 20_260


@dataclass(frozen=True, slots=True)
class Comparison:
    """One ranking against another, question by question, by one measure.

    ``delta`` is the mean difference, ``low`` and ``high`` its 95 percent interval by paired bootstrap
    (Efron and Tibshirani, "An Introduction to the Bootstrap", percentile method, 10,000 resamples, fixed seed).
    """

    wins: int
    losses: int
    delta: float
    low: float
    high: float


def measure(questions: Sequence[Question], ranked: Sequence[Sequence[str]]) -> dict[str, NDArray[np.float64]]:
    """(q,) values of each of `MEASURES` for the q questions and their rankings, best first.

    Raises `BackendUnavailableError` without ir-measures.
    """
    try:
        import ir_measures  # pyright: ignore[reportMissingTypeStubs]  # none are published
    except ImportError as error:
        raise BackendUnavailableError("measuring needs ir-measures; pip install 'graphport[eval]'") from error
    library = cast("Any", ir_measures)
    qrels = {str(place): dict.fromkeys(question.gold, 1) for place, question in enumerate(questions)}
    # Scores that fall with the rank: trec_eval would order equal ones by id.
    run = {
        str(place): {entry: float(-rank) for rank, entry in enumerate(entries)} for place, entries in enumerate(ranked)
    }
    values = {name: np.zeros(len(questions)) for name in MEASURES}
    for name, theirs in MEASURES.items():
        for found in library.iter_calc([library.parse_measure(theirs)], qrels, run):
            values[name][int(found.query_id)] = found.value
    return values


def compare(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Comparison:
    """(q,) values of one ranking against those of another."""
    delta = ours - theirs
    draws = np.random.default_rng(_SEED).integers(0, len(delta), size=(RESAMPLES, len(delta)))
    means = delta[draws].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return Comparison(int((delta > 0).sum()), int((delta < 0).sum()), float(delta.mean()), low, high)


def by_type(questions: Sequence[Question]) -> Mapping[str, NDArray[np.int64]]:
    """Places of the questions of each type, by type; {} where there are no types."""
    types = sorted({question.type for question in questions} - {""})
    return {
        kind: np.array([place for place, question in enumerate(questions) if question.type == kind]) for kind in types
    }
