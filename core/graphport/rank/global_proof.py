"""The order as iteration over the whole graph proves it, going on from where push stands."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphport.rank.arrays import Vector
from graphport.rank.ordering import ROUNDING, Bounded, Ordered
from graphport.rank.question import Question
from graphport.rank.solve import iterate

MAX_TURNS = 20_000
BETWEEN_TESTS = 8.0
"""Factor by which the residual falls between two tests; a test costs about half a turn."""
NEGLIGIBLE = {True: 1e-18, False: 1e-290}
"""Residual (of mass 1) that need not fall any further, by whether the walk is reversible.

Chebyshev iteration rounds at 1e-16 of all mass; power iteration adds positive terms only, and has small
scores as exact as large ones.
"""
UNIT = 2.0**-53


class Errors(NamedTuple):
    """No score is off by more than ``mass``, nor by more than ``per_degree`` times the node's degree."""

    mass: float
    per_degree: float

    def of(self, degree: Vector) -> Vector:
        return np.minimum(self.mass, self.per_degree * degree)


def prove_globally(question: Question, estimate: Vector, residual: Vector) -> tuple[Ordered, int]:
    """Iterates until the order is proven or float64 has no more to give; the order and the number of turns.

    ``estimate`` and ``residual`` are as in `graphport.rank.solve.iterate`, and are overwritten.
    """
    start = _errors(question, residual)
    iteration = iterate(question.walk, estimate, residual, question.damping)
    next_test, turns = np.inf, 0
    while True:
        next(iteration)
        turns += 1
        left = float(np.abs(residual).sum())
        last = left <= NEGLIGIBLE[question.walk.reversible] or turns == MAX_TURNS
        if not (left <= next_test or last):
            continue
        errors = _errors(question, residual)
        # What iteration adds is rounded in proportion to all that there was to add, not to the single score.
        errors = Errors(errors.mass + 16 * UNIT * start.mass, errors.per_degree + 16 * UNIT * start.per_degree)
        if not question.floor:
            question.floor = max(0.0, _last_of_best(question, estimate) - errors.mass)
        if errors.mass < question.floor / 2 or question.reachable is not None or last:
            next_test = left / BETWEEN_TESTS
            ordered = question.order(_candidates(question, estimate, errors))
            if ordered.settled or last:
                return ordered, turns


def _errors(question: Question, residual: Vector) -> Errors:
    """How far ``inverse(1 - damping * step) @ residual`` can be from 0."""
    walk = question.walk
    most = 1 / (1 - question.damping)
    largest = np.abs(residual)
    mass = float(largest.sum()) * most * walk.visits(question.damping)
    if not walk.reversible:
        return Errors(mass, np.inf)
    np.divide(largest, walk.degree, out=largest, where=walk.degree > 0)
    return Errors(mass, float(largest.max()) * most)


def _last_of_best(question: Question, estimate: Vector) -> float:
    mask = question.field.mask
    scores = np.concatenate([estimate if mask is None else estimate[mask], question.alone.low])
    return float(np.partition(scores, len(scores) - question.k)[len(scores) - question.k])


def _candidates(question: Question, estimate: Vector, errors: Errors) -> Bounded:
    """The nodes with edges that can be among the best k."""
    rows, floor = question.reachable, 0.0
    if rows is None:
        floor = (1 - 4 * ROUNDING) * question.floor
        rows = question.field.only(np.flatnonzero(estimate >= floor - errors.mass))
        rows = rows[question.walk.arcs(rows) > 0]
    error = errors.of(question.walk.degree[rows])
    low = np.maximum(estimate[rows] - error, 0) if question.walk.reversible else estimate[rows]
    nodes = Bounded(rows, low, estimate[rows] + error)
    return nodes.take(nodes.high >= floor)
