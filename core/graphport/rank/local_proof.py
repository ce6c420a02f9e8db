"""The order as push can prove it, around the seeds."""

from __future__ import annotations

import numpy as np

from graphport.rank.arrays import Index
from graphport.rank.lookback import Lookback
from graphport.rank.ordering import ROUNDING, Bounded, Ordered
from graphport.rank.push import Push
from graphport.rank.question import Question

MAX_CANDIDATES = 2000
"""More candidates than this (or four times k) are not worth a look back: push on instead."""
STEPS = 4
"""Steps back at one threshold; more of them cost as much as to push on."""


def prove_locally(question: Question, push: Push, max_work: float) -> Ordered | None:
    """Pushes at finer and finer thresholds until the order is proven; None if ``max_work`` arcs are not enough."""
    while push.go_on(max_work):
        candidates = _candidates(question, push)
        if candidates is not None and len(candidates.rows) <= max(MAX_CANDIDATES, 4 * question.k):
            ordered = _order_with_steps(question, push, candidates)
            if ordered.settled:
                return ordered
    return None


def _candidates(question: Question, push: Push) -> Bounded | None:
    """The nodes with edges that can be among the best k; None while others can be as well."""
    field = question.field
    heavy = field.heavy[push.scratch.q[field.heavy] == 0]
    rows: Index = np.concatenate([field.only(push.scratch.scored_rows()), heavy])
    low = push.found(rows)
    high = low + push.beyond(question.walk.degree[rows])
    if push.levels > 1 and np.count_nonzero(low) < question.k and question.reachable is not None:
        rows = question.reachable
        low = push.found(rows)
        return Bounded(rows, low, low + push.beyond(question.walk.degree[rows]))
    scores = np.concatenate([low, question.alone.low])
    if len(scores) < question.k:
        return None
    best = float(np.partition(scores, len(scores) - question.k)[len(scores) - question.k])
    question.floor = max(question.floor, best)
    floor = (1 - 4 * ROUNDING) * best
    # All others are no heavier than field.light and wait, if they were reached at all, below the threshold.
    light = np.array([field.light])
    if (1 - question.damping) * field.light * push.threshold + float(push.beyond(light)[0]) >= floor:
        return None
    return Bounded(rows, low, high).take(high >= floor)


def _order_with_steps(question: Question, push: Push, candidates: Bounded) -> Ordered:
    """The order of the candidates; where bounds overlap, after some steps back from there."""
    ordered = question.order(candidates)
    lookback = Lookback(push, candidates)
    for _ in range(STEPS):
        if ordered.settled or not lookback.step(ordered.nodes.rows[ordered.open]):
            break
        ordered = question.order(lookback.bounds)
    return ordered
