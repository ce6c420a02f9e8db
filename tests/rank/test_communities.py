"""Modularity, Louvain and Leiden, held against networkx, igraph and graphs whose answer is plain."""

from __future__ import annotations

import math
import random
from itertools import combinations

import igraph  # type: ignore[import-untyped]  # igraph ships no types
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.errors import InvalidInputError, MissingNodeError
from graphport.rank.communities import leiden_communities, louvain_communities, modularity
from graphport.snapshot import GraphSnapshot


def snapshot_of_pairs(n: int, pairs: list[tuple[int, int]], weights: list[float] | None = None) -> GraphSnapshot:
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return GraphSnapshot.from_arrays([f"n{i:03d}" for i in range(n)], source, target, weights)


TWO_CLIQUES = snapshot_of_pairs(10, [*combinations(range(5), 2), *combinations(range(5, 10), 2), (4, 5)])


@pytest.mark.parametrize("find", [louvain_communities, leiden_communities])
def test_two_cliques_joined_by_an_edge_are_two_communities(find: object) -> None:
    assert callable(find)
    assert list(find(TWO_CLIQUES).values()) == [0] * 5 + [1] * 5


@pytest.mark.parametrize("find", [louvain_communities, leiden_communities])
def test_nodes_without_edges_are_alone(find: object) -> None:
    assert callable(find)
    assert find(snapshot_of_pairs(3, [])) == {"n000": 0, "n001": 1, "n002": 2}
    assert find(snapshot_of_pairs(0, [])) == {}


def test_modularity_of_two_cliques_is_the_hand_worked_number() -> None:
    # m = 21, each clique has 10 edges inside and degree 21: 2 * (10/21 - (21/42)**2)
    assert modularity(TWO_CLIQUES, louvain_communities(TWO_CLIQUES)) == pytest.approx(20 / 21 - 0.5)


def test_modularity_without_edges_is_zero() -> None:
    assert modularity(snapshot_of_pairs(1, []), {"n000": 0}) == 0.0


def test_one_community_for_all_has_modularity_zero() -> None:
    assert modularity(TWO_CLIQUES, dict.fromkeys(TWO_CLIQUES.ids, 3)) == pytest.approx(0, abs=1e-12)


def test_modularity_needs_a_community_for_each_node() -> None:
    with pytest.raises(MissingNodeError, match="n001"):
        modularity(snapshot_of_pairs(2, [(0, 1)]), {"n000": 0})


@pytest.mark.parametrize("resolution", [0.0, -1.0, math.nan, math.inf])
def test_resolution_must_be_positive(resolution: float) -> None:
    with pytest.raises(InvalidInputError, match="resolution"):
        louvain_communities(TWO_CLIQUES, resolution)


def test_higher_resolution_gives_no_fewer_communities() -> None:
    graph = karate()
    counts = [len(set(louvain_communities(graph, r).values())) for r in (0.1, 1.0, 8.0)]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


@st.composite
def weighted_graphs(draw: st.DrawFn) -> tuple[GraphSnapshot, dict[str, int]]:
    n = draw(st.integers(1, 10))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.integers(1, 5)), min_size=1, max_size=30))
    graph = snapshot_of_pairs(n, [(a, b) for a, b, _ in edges], [float(w) for _, _, w in edges])
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return graph, dict(zip(graph.ids, labels, strict=True))


@settings(deadline=None, max_examples=60)
@given(weighted_graphs(), st.sampled_from([0.5, 1.0, 2.0]))
def test_modularity_is_what_networkx_and_igraph_say(
    drawn: tuple[GraphSnapshot, dict[str, int]], resolution: float
) -> None:
    graph, communities = drawn
    ours = modularity(graph, communities, resolution)
    pairs = list(zip(graph.source_index.tolist(), graph.target_index.tolist(), strict=True))
    theirs = igraph.Graph(n=graph.n_nodes, edges=pairs)
    membership = [communities[node_id] for node_id in graph.ids]
    assert ours == pytest.approx(
        theirs.modularity(membership, weights=graph.weight.tolist(), resolution=resolution), abs=1e-9
    )
    multi: nx.MultiGraph[int] = nx.MultiGraph()
    multi.add_nodes_from(range(graph.n_nodes))
    multi.add_weighted_edges_from((a, b, w) for (a, b), w in zip(pairs, graph.weight.tolist(), strict=True))
    parts = [{i for i, label in enumerate(membership) if label == each} for each in sorted(set(membership))]
    assert ours == pytest.approx(nx.community.modularity(multi, parts, resolution=resolution), abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(weighted_graphs(), st.sampled_from([0.5, 1.0, 2.0]))
def test_no_single_move_improves_louvain(drawn: tuple[GraphSnapshot, dict[str, int]], resolution: float) -> None:
    graph, _ = drawn
    found = louvain_communities(graph, resolution)
    best = modularity(graph, found, resolution)
    for node_id in graph.ids:
        for community in sorted(set(found.values())):
            assert modularity(graph, {**found, node_id: community}, resolution) <= best + 1e-9


@settings(deadline=None, max_examples=30)
@given(weighted_graphs())
def test_community_ids_count_up_in_the_order_first_seen(drawn: tuple[GraphSnapshot, dict[str, int]]) -> None:
    graph, _ = drawn
    for found in (louvain_communities(graph), leiden_communities(graph)):
        assert list(found) == list(graph.ids)
        assert list(dict.fromkeys(found.values())) == list(range(len(set(found.values()))))


def karate() -> GraphSnapshot:
    graph = nx.karate_club_graph()
    return snapshot_of_pairs(
        34, [(a, b) for a, b in graph.edges], [float(data["weight"]) for _, _, data in graph.edges(data=True)]
    )


def test_quality_on_the_karate_club_is_near_the_best_known() -> None:
    # The best known partition of Zachary's weighted karate club has modularity 0.4449 (networkx and igraph find it).
    graph = karate()
    assert modularity(graph, leiden_communities(graph)) == pytest.approx(0.4449, abs=0.002)
    assert modularity(graph, louvain_communities(graph)) > 0.35


def test_leiden_is_repeatable_and_leaves_python_random_alone() -> None:
    graph = karate()
    random.seed(5)
    before = random.getstate()
    assert leiden_communities(graph, seed=3) == leiden_communities(graph, seed=3)
    assert random.getstate() == before


def test_louvain_is_repeatable() -> None:
    assert louvain_communities(karate()) == louvain_communities(karate())
