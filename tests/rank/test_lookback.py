"""Steps back from candidates: bounds that hold and close in, at a cost that hubs do not raise."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
import pytest

from graphport.rank.lookback import Lookback
from graphport.rank.ordering import Bounded
from graphport.rank.pagerank import personalized_pagerank
from graphport.rank.push import Push
from graphport.rank.seeds import Reset
from graphport.rank.walk import walk_of
from graphport.snapshot import GraphSnapshot


@contextmanager
def pushed(graph: GraphSnapshot, row: int, damping: float, levels: int) -> Generator[Push]:
    walk = walk_of(graph)
    with walk.scratch() as scratch:
        push = Push(walk, scratch, Reset(np.array([row]), np.ones(1)), damping)
        for _ in range(levels):
            push.go_on(np.inf)
        yield push


def bounds_of_all(push: Push) -> Bounded:
    rows = np.flatnonzero(np.diff(push.walk.step.indptr))
    low = push.found(rows)
    return Bounded(rows, low, low + push.beyond(push.walk.degree[rows]))


def random_graph(seed: int) -> GraphSnapshot:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    source, target = rng.integers(0, n, (2, 3 * n))
    return GraphSnapshot.from_arrays([f"n{i:02d}" for i in range(n)], source, target, 10 ** rng.uniform(-2, 2, 3 * n))


@pytest.mark.parametrize("work", [20, 40_000, 10**30])
@pytest.mark.parametrize("damping", [0.3, 0.5, 0.85])
@pytest.mark.parametrize("seed", range(10))
def test_bounds_enclose_the_exact_scores_and_close_in_at_every_step(
    seed: int, damping: float, work: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphport.rank.push.START", 3e-2)
    monkeypatch.setattr("graphport.rank.lookback.MIN_WORK", work)
    graph = random_graph(seed)
    start = int(np.flatnonzero(np.diff(walk_of(graph).step.indptr))[0])
    exact = personalized_pagerank(graph, [graph.ids[start]], damping=damping).scores
    with pushed(graph, start, damping, levels=1) as push:
        candidates = bounds_of_all(push)
        some = candidates.rows[::2]
        lookback = Lookback(push, candidates)
        width = [candidates.high - candidates.low]
        while len(width) < 5 and lookback.step(some):
            low, high = lookback.bounds.low, lookback.bounds.high
            assert (low <= exact[candidates.rows] + 1e-12).all()
            assert (high >= exact[candidates.rows] - 1e-12).all()
            width.append(high - low)
            assert (width[-1] <= width[-2] + 1e-15).all()
            assert width[-1][1::2].tolist() == width[0][1::2].tolist(), "the others are not looked at"
        if work == 10**30:
            assert len(width) == 5, "nothing is too costly"
            assert (width[-1] <= damping**4 * width[0] + 1e-12)[::2].all(), "walks of five arcs and more are missing"


def test_who_was_left_out_of_a_step_keeps_the_bounds_there_were() -> None:
    graph = random_graph(3)
    with pushed(graph, 0, 0.5, levels=1) as push:
        candidates = bounds_of_all(push)
        lookback = Lookback(push, candidates)
        assert lookback.step(candidates.rows[:2])
        assert not lookback.step(candidates.rows[2:])
        assert lookback.bounds.high[2:].tolist() == candidates.high[2:].tolist()


def star_and_chain(leaves: int) -> GraphSnapshot:
    """A hub with leaves, and a chain a - b - c - d whose b hangs on the hub by a light edge."""
    ids = ["a", "b", "c", "d", "hub", *(f"leaf{i:06d}" for i in range(leaves))]
    source = [0, 1, 2, 1, *[4] * leaves]
    target = [1, 2, 3, 4, *range(5, 5 + leaves)]
    return GraphSnapshot.from_arrays(ids, source, target, [1, 1, 1, 0.01, *[1] * leaves])


def test_a_hub_is_not_followed_where_it_can_bring_little() -> None:
    graph = star_and_chain(200_000)
    with pushed(graph, 0, 0.5, levels=1) as push:
        before = push.work
        candidates = bounds_of_all(push).take(np.arange(3))
        lookback = Lookback(push, candidates)
        for _ in range(4):
            assert lookback.step(candidates.rows)
        assert push.work - before < 500
        exact = personalized_pagerank(graph, ["a"]).scores[:3]
        assert (lookback.bounds.low <= exact + 1e-12).all()
        assert (lookback.bounds.high >= exact - 1e-12).all()
        assert (lookback.bounds.high - lookback.bounds.low < 0.2 * (candidates.high - candidates.low)).all()


def test_what_can_come_from_a_hub_that_was_not_followed_stays_in_the_bound() -> None:
    # All mass waits on the leaves of hub "b"; candidate "a" has two fifths of its weight there, the rest on a chain.
    leaves, far = 100_000, 30
    ids = ["a", "b", *(f"far{i:02d}" for i in range(far)), *(f"leaf{i:06d}" for i in range(leaves))]
    source = [0, 0, *range(2, 1 + far), *[1] * leaves]
    target = [1, 2, *range(3, 2 + far), *range(2 + far, 2 + far + leaves)]
    weight = [2.0, 3.0, *[30.0] * (far - 1), *[1.0] * leaves]
    graph = GraphSnapshot.from_arrays(ids, source, target, weight)
    walk, rows = walk_of(graph), np.arange(2 + far, 2 + far + leaves)
    exact = float(personalized_pagerank(graph, [graph.ids[row] for row in rows.tolist()]).scores[0])
    with walk.scratch() as scratch:
        push = Push(walk, scratch, Reset(rows, np.full(leaves, 1 / leaves)), 0.5)
        push.threshold = float(scratch.rho.max())
        a = np.zeros(1, dtype=np.int64)
        lookback = Lookback(push, Bounded(a, push.found(a), push.found(a) + push.beyond(walk.degree[a])))
        steps = 0
        while steps < 4 and lookback.step(a):
            steps += 1
            assert lookback.bounds.low[0] <= exact <= lookback.bounds.high[0]
        assert steps >= 2
        assert push.work < leaves


def test_candidates_that_hang_on_a_hub_alone_are_left_to_push() -> None:
    graph = star_and_chain(200_000)
    with pushed(graph, 5, 0.5, levels=1) as push:
        candidates = bounds_of_all(push).take(np.arange(6, 8))
        lookback = Lookback(push, candidates)
        assert lookback.step(candidates.rows), "to the hub it is one arc each"
        before, bounds = push.work, lookback.bounds
        assert not lookback.step(candidates.rows)
        assert (push.work, lookback.bounds) == (before, bounds)


def test_nobody_to_look_at_is_no_step() -> None:
    with pushed(random_graph(1), 0, 0.5, levels=1) as push:
        assert not Lookback(push, bounds_of_all(push)).step(np.empty(0, dtype=np.int64))
