"""graph_mode leg: the walk of HippoRAG 2 as a ranking of its own, on snapshots and, bounded, on storages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of

from graphport import Edge, GraphSnapshot, Node, personalized_pagerank
from graphport.errors import InvalidSeedsError
from graphport.retrieval.bounded import bounded_pagerank
from graphport.retrieval.leg import bounded_leg, graph_leg
from graphport.retrieval.linking import LinkedEntity
from graphport_memory.storage import MemoryStorage

PATH = graph_of(
    [
        ("entry:a", "mentions", "phrase:x", 2.0),
        ("entry:b", "mentions", "phrase:x"),
        ("entry:b", "mentions", "phrase:y"),
        ("entry:c", "mentions", "phrase:y"),
    ]
)


def stored(graph: GraphSnapshot) -> MemoryStorage:
    storage = MemoryStorage()
    storage.upsert_nodes(
        Node(node, "node", name, entry) for node, name, entry in zip(graph.ids, graph.names, graph.entries, strict=True)
    )
    storage.upsert_edges(Edge(*graph.edge_key(row), weight=float(graph.weight[row])) for row in range(graph.n_edges))
    return storage


def by_networkx(edges: Iterable[tuple[str, str, float]], seeds: dict[str, float], damping: float) -> dict[str, float]:
    graph: Any = nx.Graph()
    for source, target, weight in edges:
        before = graph.get_edge_data(source, target, {"weight": 0.0})["weight"]
        graph.add_edge(source, target, weight=before + weight)
    scores: dict[str, float] = nx.pagerank(
        graph, alpha=damping, personalization=seeds, dangling=seeds, tol=1e-13, max_iter=1000
    )
    return scores


def edges_of(graph: GraphSnapshot) -> list[tuple[str, str, float]]:
    return [(*graph.edge_key(row)[:2], float(graph.weight[row])) for row in range(graph.n_edges)]


def entity(node: str) -> LinkedEntity:
    return LinkedEntity(node, 0, 1)


def test_entries_are_ranked_by_the_undirected_walk_from_what_the_query_names() -> None:
    expected = by_networkx(edges_of(PATH), {"phrase:x": 1.0}, 0.5)
    result = graph_leg(PATH, [entity("phrase:x")])
    top = max(expected[f"entry:{entry}"] for entry in "abc")
    assert [entry for entry, _ in result.ranked] == ["a", "b", "c"]
    assert {entry: pytest.approx(expected[f"entry:{entry}"] / top, abs=1e-5) for entry in "abc"} == dict(result.ranked)


def test_an_entity_in_many_entries_is_a_weaker_seed() -> None:
    graph = graph_of([("entry:a", "mentions", "phrase:x"), ("entry:b", "mentions", "phrase:y"),
                      ("entry:c", "mentions", "phrase:y"), ("entry:d", "mentions", "phrase:y")])  # fmt: skip
    expected = by_networkx(edges_of(graph), {"phrase:x": 1.0, "phrase:y": 1 / 3}, 0.5)
    result = graph_leg(graph, [entity("phrase:x"), entity("phrase:y")])
    assert dict(result.ranked)["b"] == pytest.approx(expected["entry:b"] / expected["entry:a"], abs=1e-5)


def test_passages_are_seeds_where_they_are_asked_for() -> None:
    expected = by_networkx(edges_of(PATH), {"phrase:x": 0.5, "entry:c": 0.05}, 0.5)
    result = graph_leg(PATH, [entity("phrase:x")], passages={"c": 0.05, "absent": 1.0})
    assert dict(result.ranked)["c"] == pytest.approx(expected["entry:c"] / expected["entry:a"], abs=1e-5)


def test_nothing_named_is_an_empty_ranking_with_a_note() -> None:
    for result in (graph_leg(PATH, []), graph_leg(PATH, [entity("phrase:absent")]), bounded_leg(stored(PATH), [])):
        assert list(result.ranked) == []
        assert "names nothing" in result.note


def test_the_bounded_leg_is_the_whole_one_where_the_bound_is_wide_enough() -> None:
    whole = graph_leg(PATH, [entity("phrase:x"), entity("phrase:y")])
    bounded = bounded_leg(stored(PATH), [entity("phrase:x"), entity("phrase:y")])
    assert bounded.unexplored < 1e-5
    assert [entry for entry, _ in bounded.ranked] == [entry for entry, _ in whole.ranked]
    assert dict(bounded.ranked) == {entry: pytest.approx(score, abs=1e-5) for entry, score in whole.ranked}


def test_the_bounded_leg_weighs_seeds_by_specificity_too() -> None:
    graph = graph_of([("entry:a", "mentions", "phrase:x"), ("entry:b", "mentions", "phrase:y"),
                      ("entry:c", "mentions", "phrase:y"), ("entry:d", "mentions", "phrase:y")])  # fmt: skip
    entities = [entity("phrase:x"), entity("phrase:y")]
    assert dict(bounded_leg(stored(graph), entities).ranked) == pytest.approx(
        dict(graph_leg(graph, entities).ranked), abs=1e-5
    )


def test_an_edge_to_itself_counts_twice_as_in_igraph() -> None:
    graph = graph_of([("entry:a", "mentions", "phrase:x"), ("phrase:x", "like", "phrase:x")])
    found = bounded_pagerank(stored(graph), {"phrase:x": 1.0})
    exact = personalized_pagerank(graph, {"phrase:x": 1.0}, engine="igraph")
    assert found.scores == pytest.approx(dict(exact), abs=1e-5)


class CountingStorage(MemoryStorage):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    def incident_edges(self, ids: Iterable[str], /, **options: Any) -> dict[str, list[Edge]]:
        batch = list(ids)
        self.asked.append(batch)
        return super().incident_edges(batch, **options)


def long_path(length: int) -> CountingStorage:
    storage = CountingStorage()
    storage.upsert_nodes(Node(f"n{at:04}", "node", "n") for at in range(length))
    storage.upsert_edges(Edge(f"n{at:04}", f"n{at + 1:04}", "next") for at in range(length - 1))
    return storage


def test_no_more_nodes_are_read_than_the_bound_and_the_rest_is_said() -> None:
    storage = long_path(100)
    found = bounded_pagerank(storage, {"n0000": 1.0}, max_visited=5)
    asked = [node for batch in storage.asked for node in batch]
    assert asked == [f"n{at:04}" for at in range(5)]
    assert found.visited == 5
    exact = by_networkx([(f"n{at:04}", f"n{at + 1:04}", 1.0) for at in range(99)], {"n0000": 1.0}, 0.5)
    missing = sum(exact.values()) - sum(found.scores.values())
    assert missing == pytest.approx(found.unexplored, abs=1e-5)
    assert 0 < found.unexplored < 0.1


def test_the_nodes_with_most_mass_are_read_first_many_at_a_time() -> None:
    storage = CountingStorage()
    storage.upsert_nodes(Node(node, "node", "n") for node in ["seed", *(f"n{at:02}" for at in range(40))])
    storage.upsert_edges(Edge("seed", f"n{at:02}", "x", weight=1.0 + at) for at in range(40))
    bounded_pagerank(storage, {"seed": 1.0}, max_visited=11)
    assert storage.asked == [["seed"], [f"n{at:02}" for at in range(39, 29, -1)]]


def test_a_seed_that_is_absent_or_without_edges_keeps_its_mass() -> None:
    storage = MemoryStorage()
    storage.upsert_nodes([Node("alone", "node", "alone")])
    found = bounded_pagerank(storage, {"alone": 1.0, "absent": 3.0})
    assert found.scores == {"absent": pytest.approx(0.75, abs=1e-5), "alone": pytest.approx(0.25, abs=1e-5)}


def test_seeds_that_are_no_distribution_are_refused() -> None:
    for seeds in ({}, {"a": 0.0}, {"a": -1.0}, {"a": float("nan")}):
        with pytest.raises(InvalidSeedsError):
            bounded_pagerank(MemoryStorage(), seeds)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.0, 0.5, 1.0, 3.0])), min_size=1, max_size=20
    ),
    st.sampled_from([0.0, 0.5, 0.85]),
    st.integers(1, 8),
)
def test_bounds_are_bounds_whatever_the_graph(
    rows: list[tuple[int, int, float]], damping: float, max_visited: int
) -> None:
    storage = MemoryStorage()
    storage.upsert_nodes(Node(f"n{at}", "node", "n") for at in range(8))
    edges = [Edge(f"n{source}", f"n{target}", f"k{at}", weight) for at, (source, target, weight) in enumerate(rows)]
    storage.upsert_edges(edges)
    seeds = {"n0": 1.0, "n1": 2.0}
    found = bounded_pagerank(storage, seeds, damping=damping, max_visited=max_visited, max_iter=400)
    doubled = [
        (edge.source, edge.target, edge.weight * (2 if edge.source == edge.target else 1))
        for edge in edges
        if edge.weight
    ]
    exact = by_networkx([*doubled, *((f"n{at}", f"n{at}", 0.0) for at in range(8))], seeds, damping)
    assert all(score <= exact[node] + 1e-6 for node, score in found.scores.items())
    gap = sum(exact[node] - found.scores.get(node, 0.0) for node in exact)
    assert gap == pytest.approx(found.unexplored, abs=1e-4)
