"""Explanations: the path whose steps have the highest product of probabilities."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of

from graphport.retrieval.explain import best_paths
from graphport.retrieval.hits import Hop
from graphport.retrieval.pointing import both_ways, pointing_graph

GRAPH = graph_of(
    [
        ("entry:film", "titled", "phrase:film"),
        ("entry:film", "mentions", "phrase:director"),
        ("entry:director", "titled", "phrase:director"),
    ]
)


def test_a_path_leads_from_the_name_over_the_edges_as_they_are_stored() -> None:
    paths = best_paths(pointing_graph(GRAPH), ["phrase:film"], ["film", "director"])
    assert paths["film"] == (Hop("entry:film", "titled", "phrase:film", forward=False, probability=1.0),)
    assert paths["director"][1:] == (
        Hop("entry:film", "mentions", "phrase:director", forward=True, probability=1 / 1.1),
        Hop("entry:director", "titled", "phrase:director", forward=False, probability=1 / 1.1),
    )


def test_an_entry_that_cannot_be_reached_has_no_path() -> None:
    graph = graph_of([("entry:a", "mentions", "phrase:x"), ("entry:b", "mentions", "phrase:y")])
    assert set(best_paths(both_ways(graph), ["phrase:x"], ["a", "b", "absent"])) == {"a"}
    assert best_paths(both_ways(graph), ["phrase:absent"], ["a"]) == {}


def test_a_start_that_stands_for_the_entry_has_the_empty_path() -> None:
    assert best_paths(pointing_graph(GRAPH), ["entry:film"], ["film"]) == {"film": ()}


def test_kinds_that_end_like_an_arrow_keep_their_names() -> None:
    graph = graph_of([("entry:a", "x<", "phrase:x"), ("entry:b", "x", "phrase:x")])
    paths = best_paths(both_ways(graph), ["phrase:x"], ["a", "b"])
    assert [hop.kind for path in (paths["a"], paths["b"]) for hop in path] == ["x<", "x"]
    assert not any(hop.forward for path in paths.values() for hop in path)


def test_parallel_edges_are_one_step_named_by_the_heaviest() -> None:
    graph = graph_of([("entry:a", "light", "entry:b", 1.0), ("entry:a", "heavy", "entry:b", 2.0),
                      ("entry:a", "other", "entry:c", 1.0)])  # fmt: skip
    (hop,) = best_paths(both_ways(graph), ["entry:a"], ["b"])["b"]
    assert hop == Hop("entry:a", "heavy", "entry:b", forward=True, probability=3 / 4)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.25, 1.0, 2.0])),
        min_size=1, max_size=14, unique_by=lambda row: row[:2],
    )
)  # fmt: skip
def test_no_simple_path_is_likelier(rows: list[tuple[int, int, float]]) -> None:
    graph = graph_of([(f"entry:{a}", "k", f"entry:{b}", w) for a, b, w in rows])
    arcs = both_ways(graph)
    start = graph.ids[0]
    network: Any = nx.DiGraph()
    for source, target, weight in zip(arcs.source_index, arcs.target_index, arcs.weight, strict=True):
        a, b = arcs.ids[source], arcs.ids[target]
        network.add_edge(a, b, weight=network.get_edge_data(a, b, {"weight": 0.0})["weight"] + float(weight))
    leaving = {node: sum(data["weight"] for _, _, data in network.out_edges(node, data=True)) for node in network}
    goals = [entry for entry in arcs.entries if entry is not None]
    paths = best_paths(arcs, [start], goals)
    for goal in goals:
        found = paths.get(goal)
        likeliest = max(
            (
                math.prod(network[a][b]["weight"] / leaving[a] for a, b in pairwise(path))
                for path in nx.all_simple_paths(network, start, f"entry:{goal}")
            ),
            default=0.0,
        )
        if f"entry:{goal}" == start:
            assert found == ()
        elif likeliest == 0:
            assert found is None
        else:
            assert found is not None
            assert math.prod(hop.probability for hop in found) == pytest.approx(likeliest)
