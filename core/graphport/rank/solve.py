"""Exact scores of all nodes, by iterations whose remaining error is known at every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from graphport.errors import ConvergenceError
from graphport.rank.arrays import Vector
from graphport.rank.kernels import add_product
from graphport.rank.seeds import Reset
from graphport.rank.walk import Walk


class Solution(NamedTuple):
    """``scores`` (n,) sum to 1 and are off by at most ``error_bound`` in L1."""

    scores: Vector
    error_bound: float


def solve(walk: Walk, reset: Reset, *, damping: float, tol: float, max_iter: int) -> Solution:
    """Scores whose L1 error is at most ``tol``; raises `ConvergenceError` after ``max_iter`` iterations."""
    residual = np.zeros(walk.n_nodes)
    residual[reset.rows] = (1 - damping) * reset.mass
    return finish(walk, np.zeros(walk.n_nodes), residual, damping=damping, tol=tol, max_iter=max_iter)


def finish(walk: Walk, estimate: Vector, residual: Vector, *, damping: float, tol: float, max_iter: int) -> Solution:
    """As `solve`, going on from an estimate and its residual; both are overwritten."""
    iteration = iterate(walk, estimate, residual, damping)
    for _ in range(max_iter + 1):
        found = float(estimate.sum())
        # Scaling to mass 1 (a walk can end somewhere) can double the error relative to the mass that is found.
        bound = 2 * float(np.abs(residual).sum()) / (1 - damping) / found if found > 0 else np.inf
        if bound <= tol:
            np.maximum(estimate, 0, out=estimate)
            estimate /= estimate.sum()
            return Solution(estimate, bound)
        next(iteration)
    raise ConvergenceError(
        f"no answer within {tol} after {max_iter} iterations at damping {damping}; raise max_iter or tol"
    )


def iterate(walk: Walk, estimate: Vector, residual: Vector, damping: float) -> Iterator[None]:
    """Moves ``estimate`` towards the solution x of ``x = (1 - damping) reset + damping * step @ x``, in place.

    After each turn ``x == estimate + inverse(1 - damping * step) @ residual`` up to rounding, so that
    ``sum(abs(residual)) / (1 - damping)`` bounds the L1 error. Chebyshev iteration (Saad, Iterative Methods,
    algorithm 12.1) needs a real spectrum, which a reversible walk has; any other walk takes power iteration.
    """
    method = _chebyshev if walk.reversible and damping else _power
    return method(walk, estimate, residual, damping)


def _chebyshev(walk: Walk, estimate: Vector, residual: Vector, damping: float) -> Iterator[None]:
    # The eigenvalues of 1 - damping * step lie in [1 - damping, 1 + damping].
    direction = residual.copy()
    scaled = np.empty_like(direction)
    ratio = damping
    while True:
        estimate += direction
        np.multiply(direction, damping, out=scaled)
        residual -= direction
        add_product(walk.step, scaled, residual)
        yield
        next_ratio = 1 / (2 / damping - ratio)
        direction *= next_ratio * ratio
        np.multiply(residual, 2 * next_ratio / damping, out=scaled)
        direction += scaled
        ratio = next_ratio


def _power(walk: Walk, estimate: Vector, residual: Vector, damping: float) -> Iterator[None]:
    scaled = np.empty_like(residual)
    while True:
        estimate += residual
        np.multiply(residual, damping, out=scaled)
        residual[:] = 0
        add_product(walk.step, scaled, residual)
        yield
