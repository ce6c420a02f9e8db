"""Asking a knowledge base a set of questions, in each mode."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphport.errors import InvalidQueryError
from graphport.evaluation.measures import Comparison, by_type, compare, measure
from graphport.evaluation.questions import Question
from graphport.knowledge.base import KnowledgeBase

MODES: Mapping[str, Mapping[str, Any]] = {
    "lexical": {"mode": "lexical", "graph": False},
    "dense": {"mode": "dense", "graph": False},
    "hybrid": {"mode": "hybrid", "graph": False},
    "rerank": {"mode": "hybrid", "graph": True, "graph_mode": "rerank"},
    "leg": {"mode": "hybrid", "graph": True, "graph_mode": "leg"},
    "walk": {"mode": "hybrid", "graph": True, "graph_mode": "walk"},
}
"""Names of modes, and what `KnowledgeBase.search` is asked for in each."""

DEPTH = 10
BASELINE = "hybrid"
COMPARED_BY = "recall@5"


@dataclass(frozen=True, slots=True)
class ModeResult:
    """What one mode achieved: ``values`` (q,) by measure, and the seconds each question took (wall)."""

    questions: Sequence[Question]
    ranked: Sequence[Sequence[str]]
    values: Mapping[str, NDArray[np.float64]]
    seconds: NDArray[np.float64]

    def summary(self, baseline: ModeResult | None = None) -> dict[str, Any]:
        """Means as JSON values, recall@5 by type of question, and each compared with ``baseline``."""
        told: dict[str, Any] = {name: float(values.mean()) for name, values in self.values.items()}
        told["ms_per_query"] = float(np.median(self.seconds) * 1000)
        told["by_type"] = {kind: self._summary_of(places, baseline) for kind, places in by_type(self.questions).items()}
        if baseline is not None:
            told[f"against_{BASELINE}"] = _told(self.against(baseline))
        return told

    def _summary_of(self, places: NDArray[np.int64], baseline: ModeResult | None) -> dict[str, Any]:
        """Recall@5 of the questions at some places, and how that compares with ``baseline``."""
        ours = self.values[COMPARED_BY][places]
        told: dict[str, Any] = {"questions": len(places), COMPARED_BY: float(ours.mean())}
        if baseline is not None:
            told[f"against_{BASELINE}"] = _told(compare(ours, baseline.values[COMPARED_BY][places]))
        return told

    def against(self, other: ModeResult) -> Comparison:
        """Recall@5 question by question."""
        return compare(self.values[COMPARED_BY], other.values[COMPARED_BY])


def _told(against: Comparison) -> dict[str, Any]:
    return {
        "wins": against.wins,
        "losses": against.losses,
        "delta": against.delta,
        "interval": [against.low, against.high],
    }


def check_modes(modes: Sequence[str]) -> None:
    """Raises `InvalidQueryError` for a mode that does not exist."""
    for mode in modes:
        if mode not in MODES:
            raise InvalidQueryError(f"mode is {mode!r}; it must be one of {', '.join(MODES)}")


def evaluate(
    kb: KnowledgeBase,
    questions: Sequence[Question],
    modes: Sequence[str],
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, ModeResult]:
    """Each question asked in each mode for the best ten, all options but the mode's own as the config says."""
    check_modes(modes)
    results: dict[str, ModeResult] = {}
    for mode in modes:
        ranked: list[list[str]] = []
        seconds: list[float] = []
        kb.search(questions[0].text, top_k=DEPTH, **MODES[mode])  # what a first search reads is no query's time
        for number, question in enumerate(questions, 1):
            started = time.perf_counter()
            hits = kb.search(question.text, top_k=DEPTH, **MODES[mode])
            seconds.append(time.perf_counter() - started)
            ranked.append([hit.entry for hit in hits])
            if progress is not None:
                progress(mode, number, len(questions))
        results[mode] = ModeResult(questions, ranked, measure(questions, ranked), np.array(seconds))
    return results


def summaries(results: Mapping[str, ModeResult]) -> dict[str, dict[str, Any]]:
    """``{mode: {"recall@5": ...}}``; modes are compared with hybrid where it was run too."""
    baseline = results.get(BASELINE)
    return {mode: result.summary(None if mode == BASELINE else baseline) for mode, result in results.items()}
