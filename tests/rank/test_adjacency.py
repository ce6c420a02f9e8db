"""The undirected adjacency that ranking sees."""

from __future__ import annotations

from graphport.rank.adjacency import undirected_weighted_adjacency
from graphport.snapshot import GraphSnapshot


def test_both_ends_see_an_edge_and_isolated_nodes_have_none() -> None:
    graph = GraphSnapshot.from_arrays(["c", "b", "a"], [0], [1], [2.5])
    assert undirected_weighted_adjacency(graph) == {"a": [], "b": [("c", 2.5)], "c": [("b", 2.5)]}


def test_parallel_and_opposite_edges_add_up() -> None:
    graph = GraphSnapshot.from_arrays(["a", "b"], [0, 0, 1], [1, 1, 0], [1, 2, 4], edge_kind=[0, 1, 0], edge_kinds="xy")
    assert undirected_weighted_adjacency(graph) == {"a": [("b", 7.0)], "b": [("a", 7.0)]}


def test_self_loop_counts_twice() -> None:
    assert undirected_weighted_adjacency(GraphSnapshot.from_arrays(["a"], [0], [0], [1.5])) == {"a": [("a", 3.0)]}


def test_edges_of_weight_zero_are_left_out() -> None:
    graph = GraphSnapshot.from_arrays(["a", "b"], [0], [1], [0.0])
    assert undirected_weighted_adjacency(graph) == {"a": [], "b": []}


def test_nodes_and_neighbors_are_in_code_point_order() -> None:
    graph = GraphSnapshot.from_arrays(["é", "b", "Z", "a"], [0, 0, 0], [3, 2, 1])
    adjacency = undirected_weighted_adjacency(graph)
    assert list(adjacency) == ["Z", "a", "b", "é"]
    assert [node_id for node_id, _ in adjacency["é"]] == ["Z", "a", "b"]


def test_empty_graph_has_an_empty_adjacency() -> None:
    assert undirected_weighted_adjacency(GraphSnapshot.from_arrays([], [], [])) == {}
