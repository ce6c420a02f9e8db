"""The local directed walk against the exact one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport import GraphSnapshot, personalized_pagerank
from graphport.errors import InvalidInputError, InvalidSeedsError, MissingNodeError
from graphport.rank.local import local_pagerank


@st.composite
def graphs(draw: st.DrawFn) -> GraphSnapshot:
    n = draw(st.integers(1, 12))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 4)), max_size=40))
    return GraphSnapshot.from_arrays(
        [f"n{row:02}" for row in range(n)], [e[0] for e in edges], [e[1] for e in edges], [float(e[2]) for e in edges]
    )


@given(graphs(), st.data())
@settings(max_examples=150, deadline=None)
def test_scores_are_those_of_igraph_to_within_what_was_not_followed(graph: GraphSnapshot, data: st.DataObject) -> None:
    seeds = data.draw(st.dictionaries(st.sampled_from(list(graph.ids)), st.floats(0.1, 5), min_size=1))
    damping = data.draw(st.sampled_from([0.0, 0.5, 0.85]))
    exact = personalized_pagerank(graph, seeds, damping=damping, directed=True).scores
    found = local_pagerank(graph, seeds, damping=damping, tol=1e-7)
    scores = np.zeros(graph.n_nodes)
    scores[found.rows] = found.scores
    # Where the walk cannot go on it restarts: in proportion, and so equal once normalised.
    assert np.abs(scores / scores.sum() - exact).sum() < 1e-5


def test_it_looks_at_the_neighbourhood_alone() -> None:
    n = 10_000
    chain = GraphSnapshot.from_arrays([f"n{row:05}" for row in range(n)], range(n - 1), range(1, n))
    found = local_pagerank(chain, {"n00000"}, tol=1e-4)
    assert found.work < 50
    assert found.rest <= 1e-4
    assert [chain.ids[row] for row in found.rows[:3]] == ["n00000", "n00001", "n00002"]
    assert found.scores[:3] == pytest.approx([0.5, 0.25, 0.125])


def test_work_is_bounded_and_what_is_left_is_said() -> None:
    n = 2000
    full = GraphSnapshot.from_arrays(
        [f"n{row:04}" for row in range(n)], np.repeat(np.arange(n), 5), np.random.default_rng(1).integers(n, size=5 * n)
    )
    found = local_pagerank(full, {"n0000"}, damping=0.85, tol=1e-9, max_work=100)
    assert found.work < 600
    assert found.rest > 0.1


@pytest.mark.parametrize(
    "seeds, damping, error",
    [({"x": 1.0}, 0.5, MissingNodeError), ({}, 0.5, InvalidSeedsError), ({"n00": 1.0}, 1.0, InvalidInputError)],
)
def test_bad_input_is_refused(seeds: dict[str, float], damping: float, error: type[Exception]) -> None:
    graph = GraphSnapshot.from_arrays(["n00"], [], [])
    with pytest.raises(error):
        local_pagerank(graph, seeds, damping=damping)


def test_a_row_that_is_pushed_in_many_rounds_has_the_sum_of_all() -> None:
    back_and_forth = GraphSnapshot.from_arrays(["a", "b"], [0, 1], [1, 0])
    found = local_pagerank(back_and_forth, {"a"}, damping=0.5, tol=1e-12)
    assert found.scores == pytest.approx([2 / 3, 1 / 3], abs=1e-11)  # x = 1/2 + y/2, y = x/2


def test_nothing_of_a_walk_that_ended_early_is_left_for_the_next() -> None:
    back_and_forth = GraphSnapshot.from_arrays(["a", "b"], [0, 1], [1, 0])
    early = local_pagerank(back_and_forth, {"a"}, tol=0.5, max_work=1)
    assert early.rest > 0.1
    found = local_pagerank(back_and_forth, {"b"}, tol=1e-12)
    assert found.scores == pytest.approx([1 / 3, 2 / 3], abs=1e-11)
