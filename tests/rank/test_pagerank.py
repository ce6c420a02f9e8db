"""Personalized PageRank: the numbers, the contract for input, agreement with networkx."""

from __future__ import annotations

import math
import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.errors import GraphportError, InvalidInputError, InvalidSeedsError, MissingNodeError
from graphport.rank.pagerank import personalized_pagerank
from graphport.snapshot import GraphSnapshot

Edges = list[tuple[str, str, float]]


def graph_of(nodes: str, edges: Edges) -> GraphSnapshot:
    """A graph with one-letter node ids."""
    ids = list(nodes)
    row = {node_id: i for i, node_id in enumerate(ids)}
    return GraphSnapshot.from_arrays(
        ids, [row[a] for a, _, _ in edges], [row[b] for _, b, _ in edges], [w for _, _, w in edges]
    )


PATH = graph_of("abcde", [("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 1.0), ("d", "e", 1.0)])


def test_path_of_two_nodes_matches_the_hand_worked_answer() -> None:
    # x_a = 1/2 + x_b/2, x_b = x_a/2  =>  x_a = 2/3, x_b = 1/3
    ranks = personalized_pagerank(graph_of("ab", [("a", "b", 7.0)]), ["a"])
    assert ranks["a"] == pytest.approx(2 / 3, abs=1e-12)
    assert ranks["b"] == pytest.approx(1 / 3, abs=1e-12)


def test_personalization_moves_mass_to_the_seed() -> None:
    from_a, from_e = personalized_pagerank(PATH, ["a"]), personalized_pagerank(PATH, ["e"])
    assert from_a["a"] > from_e["a"]
    assert from_e["e"] > from_a["e"]


def test_seed_outranks_the_far_end() -> None:
    ranks = personalized_pagerank(PATH, ["a"])
    assert ranks["a"] > ranks["c"] > ranks["e"] > 0


def test_mass_is_one() -> None:
    assert math.fsum(personalized_pagerank(PATH, {"a": 3, "d": 1}, damping=0.85).values()) == pytest.approx(1)


def test_same_call_gives_the_same_bits() -> None:
    first, second = (personalized_pagerank(PATH, ["b", "d"], damping=0.85).scores for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_a_singleton_without_edges_keeps_all_mass() -> None:
    assert dict(personalized_pagerank(graph_of("a", []), ["a"])) == {"a": 1.0}


def test_damping_zero_is_the_seed_distribution() -> None:
    ranks = personalized_pagerank(PATH, {"a": 3.0, "b": 1.0}, damping=0)
    assert dict(ranks) == pytest.approx({"a": 0.75, "b": 0.25, "c": 0, "d": 0, "e": 0})


def test_seeds_given_twice_count_once() -> None:
    assert personalized_pagerank(PATH, ["a", "a", "b"]) == personalized_pagerank(PATH, ["b", "a"])


def test_seed_weights_count_in_proportion_even_when_huge() -> None:
    small, huge = (personalized_pagerank(PATH, {"a": w, "b": w, "c": 0}) for w in (5e-324, 1.7e308))
    assert small.scores == pytest.approx(huge.scores)


def test_isolated_seed_gives_the_mass_that_cannot_move_back_to_the_seeds() -> None:
    # Unnormalised: e keeps 1/4 of the restart (1/2 of its share), the others 1/2: 1/3 to 2/3.
    ranks = personalized_pagerank(graph_of("abe", [("a", "b", 1.0)]), ["a", "e"])
    assert ranks["e"] == pytest.approx(1 / 3, abs=1e-9)


def test_dangling_mass_goes_to_the_seeds_in_a_directed_walk() -> None:
    # a -> b, b ends: x_b = x_a/2, x_a = (1 + x_b)/2  as for the undirected edge.
    ranks = personalized_pagerank(graph_of("ab", [("a", "b", 1.0)]), ["a"], directed=True)
    assert ranks["a"] == pytest.approx(2 / 3, abs=1e-9)


def test_direction_counts_only_when_asked_for() -> None:
    graph = graph_of("ab", [("b", "a", 1.0)])
    assert personalized_pagerank(graph, ["a"], directed=True)["b"] == 0
    assert personalized_pagerank(graph, ["a"])["b"] > 0


def test_edge_of_weight_zero_is_ignored_unless_unweighted() -> None:
    graph = graph_of("abc", [("a", "b", 1.0), ("a", "c", 0.0)])
    assert personalized_pagerank(graph, ["a"])["c"] == 0
    assert personalized_pagerank(graph, ["a"], weighted=False)["c"] == pytest.approx(1 / 6)


def test_parallel_edges_add_up() -> None:
    twice = personalized_pagerank(graph_of("abc", [("a", "b", 1), ("a", "b", 2), ("b", "a", 1), ("a", "c", 1)]), ["a"])
    once = personalized_pagerank(graph_of("abc", [("a", "b", 4), ("a", "c", 1)]), ["a"])
    assert twice.scores == pytest.approx(once.scores, abs=1e-12)


def test_self_loop_counts_twice_undirected_and_once_directed() -> None:
    graph = graph_of("ab", [("a", "a", 1.0), ("a", "b", 1.0), ("b", "a", 1.0)])
    # Undirected: a stays with 2/4. x_a = 1/2 + x_a/4 + x_b/2, x_a + x_b = 1  =>  x_a = 4/5
    assert personalized_pagerank(graph, ["a"])["a"] == pytest.approx(4 / 5, abs=1e-9)
    # Directed: a stays with 1/2, so the same here; with the edge back gone b is dangling and the answer is the same.
    assert personalized_pagerank(graph, ["a"], directed=True)["a"] == pytest.approx(4 / 5, abs=1e-9)


def test_top_orders_by_score_then_id() -> None:
    star = graph_of("zabc", [("z", "a", 1.0), ("z", "b", 1.0), ("z", "c", 1.0)])
    top = personalized_pagerank(star, ["z"]).top(3)
    assert [node_id for node_id, _ in top] == ["z", "a", "b"]
    assert personalized_pagerank(star, ["z"]).top(99)[3][0] == "c"


@pytest.mark.parametrize("k", [0, 1, 2, 5, 6])
def test_top_is_the_head_of_the_sorted_scores(k: int) -> None:
    ranks = personalized_pagerank(PATH, ["b", "d"])
    assert ranks.top(k) == sorted(ranks.items(), key=lambda item: (-item[1], item[0]))[:k]


@pytest.mark.parametrize("seeds", [[], {}, {"a": 0.0}, {"a": math.nan}, {"a": -1.0, "b": 2.0}, {"a": math.inf}])
def test_seeds_that_are_no_distribution_are_refused(seeds: object) -> None:
    with pytest.raises(InvalidSeedsError):
        personalized_pagerank(PATH, seeds)  # type: ignore[arg-type]  # some are wrong on purpose


def test_unknown_seeds_are_named() -> None:
    with pytest.raises(MissingNodeError, match=r"2 of 3 seeds.*'x', 'y'") as caught:
        personalized_pagerank(PATH, ["x", "a", "y"])
    assert caught.value.ids == ("x", "y")


@pytest.mark.parametrize("damping", [-0.1, 1.0, 1.5, math.nan])
def test_damping_outside_its_range_is_refused(damping: float) -> None:
    with pytest.raises(InvalidInputError, match="damping"):
        personalized_pagerank(PATH, ["a"], damping=damping)


@pytest.mark.parametrize("weight", [math.nan, math.inf, -1.0])
def test_weights_that_are_no_weights_are_refused(weight: float) -> None:
    with pytest.raises(GraphportError, match="weight"):
        graph_of("ab", [("a", "b", weight)])


def test_a_string_is_no_collection_of_seeds() -> None:
    with pytest.raises(InvalidInputError):
        personalized_pagerank(PATH, "a")


def test_empty_graph_has_no_node_to_seed() -> None:
    empty = graph_of("", [])
    with pytest.raises(MissingNodeError):
        personalized_pagerank(empty, ["a"])


def test_absent_node_has_no_score() -> None:
    with pytest.raises(KeyError):
        personalized_pagerank(PATH, ["a"])["nobody"]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[GraphSnapshot, dict[str, float]]:
    n = draw(st.integers(1, 12))
    ends = st.integers(0, n - 1)
    weight = st.one_of(st.integers(0, 4).map(float), st.floats(1e-3, 1e3))
    edges = draw(st.lists(st.tuples(ends, ends, weight), max_size=40))
    seeds = draw(st.dictionaries(ends.map(str_id), st.integers(1, 5).map(float), min_size=1, max_size=n))
    source, target, weights = ([edge[i] for edge in edges] for i in range(3))
    return GraphSnapshot.from_arrays([str_id(i) for i in range(n)], source, target, weights), seeds


def str_id(i: int) -> str:
    return f"n{i:02d}"


@settings(deadline=None, max_examples=60)
@given(graphs(), st.sampled_from([0.0, 0.5, 0.85]), st.booleans())
def test_mass_is_one_and_nothing_is_negative(
    drawn: tuple[GraphSnapshot, dict[str, float]], damping: float, directed: bool
) -> None:
    graph, seeds = drawn
    scores = personalized_pagerank(graph, seeds, damping=damping, directed=directed).scores
    assert scores.sum() == pytest.approx(1, abs=1e-9)
    assert (scores >= 0).all()


@settings(deadline=None, max_examples=60)
@given(graphs(), st.sampled_from([0.5, 0.85]), st.booleans())
def test_igraph_engine_agrees_with_networkx(
    drawn: tuple[GraphSnapshot, dict[str, float]], damping: float, directed: bool
) -> None:
    graph, seeds = drawn
    ours = personalized_pagerank(graph, seeds, damping=damping, directed=directed)
    theirs = nx.pagerank(
        networkx_of(graph, directed), alpha=damping, personalization=seeds, dangling=seeds, tol=1e-12, max_iter=1000
    )
    assert max(abs(ours[node_id] - theirs[node_id]) for node_id in graph.ids) < 1e-6


def networkx_of(graph: GraphSnapshot, directed: bool) -> nx.DiGraph[str]:
    """The walk as a directed networkx graph: networkx counts an undirected self-loop once, igraph twice."""
    out: nx.DiGraph[str] = nx.DiGraph()
    out.add_nodes_from(graph.ids)
    for row in range(graph.n_edges):
        a, b, _ = graph.edge_key(row)
        for source, target in [(a, b)] if directed else [(a, b), (b, a)]:
            before = out.edges[source, target]["weight"] if out.has_edge(source, target) else 0.0
            out.add_edge(source, target, weight=before + float(graph.weight[row]))
    return out


@settings(deadline=None, max_examples=40)
@given(graphs(), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_names(drawn: tuple[GraphSnapshot, dict[str, float]], shuffler: random.Random) -> None:
    graph, seeds = drawn
    names = [f"m{i:02d}" for i in range(graph.n_nodes)]
    shuffler.shuffle(names)
    renamed = GraphSnapshot.from_arrays(names, graph.source_index, graph.target_index, graph.weight)
    new_name = dict(zip(graph.ids, names, strict=True))
    before = personalized_pagerank(graph, seeds)
    after = personalized_pagerank(renamed, {new_name[node_id]: weight for node_id, weight in seeds.items()})
    assert max(abs(before[old] - after[new]) for old, new in new_name.items()) < 1e-9


@settings(deadline=None, max_examples=40)
@given(graphs())
def test_undirected_rank_is_symmetric_up_to_degree(drawn: tuple[GraphSnapshot, dict[str, float]]) -> None:
    # degree(s) * ppr from s at t == degree(t) * ppr from t at s (the walk is reversible).
    graph, _ = drawn
    degree = np.zeros(graph.n_nodes)
    np.add.at(degree, graph.source_index, graph.weight)
    np.add.at(degree, graph.target_index, graph.weight)
    s, t = graph.ids[0], graph.ids[-1]
    if degree[0] and degree[-1]:
        assert degree[0] * personalized_pagerank(graph, [s])[t] == pytest.approx(
            degree[-1] * personalized_pagerank(graph, [t])[s], abs=1e-6
        )
