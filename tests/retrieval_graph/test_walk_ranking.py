"""graph_mode walk: names of the query, hits as light seeds, and a blend that lets the walk order."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from small_graphs import graph_of

from graphport.errors import InvalidInputError, InvalidQueryError
from graphport.matching import Matcher
from graphport.retrieval.linking import LinkedEntity, link_query
from graphport.retrieval.pointing import pointing_graph, specificity
from graphport.retrieval.walk import closeness, walk

TWO_HOPS = graph_of(
    [
        ("entry:film", "titled", "phrase:film"),
        ("entry:film", "mentions", "phrase:director"),
        ("entry:director", "titled", "phrase:director"),
        ("entry:other", "mentions", "phrase:director"),
        ("entry:other", "titled", "phrase:other"),
    ]
)
FILM = [LinkedEntity("phrase:film", 0, 4)]
NO_LEGS: dict[str, list[tuple[str, float]]] = {}


def walk_by_networkx(arcs: dict[tuple[str, str], float], seeds: dict[str, float], damping: float) -> dict[str, float]:
    graph: Any = nx.DiGraph()
    graph.add_weighted_edges_from((source, target, weight) for (source, target), weight in arcs.items())
    scores: dict[str, float] = nx.pagerank(
        graph, alpha=damping, personalization=seeds, dangling=seeds, tol=1e-14, max_iter=1000
    )
    return scores


def test_the_walk_points_from_mentions_to_names_and_from_names_to_their_entries() -> None:
    arcs = {
        ("phrase:film", "entry:film"): 1.0,
        ("entry:film", "phrase:film"): 0.1,
        ("entry:film", "phrase:director"): 1.0,
        ("phrase:director", "entry:film"): 0.1,
        ("phrase:director", "entry:director"): 1.0,
        ("entry:director", "phrase:director"): 0.1,
        ("phrase:director", "entry:other"): 0.1,
        ("entry:other", "phrase:director"): 1.0,
        ("entry:other", "phrase:other"): 0.1,
        ("phrase:other", "entry:other"): 1.0,
    }
    expected = walk_by_networkx(arcs, {"phrase:film": 1.0}, 0.5)
    result = walk(TWO_HOPS, FILM, NO_LEGS, [], graph_weight=1.0, engine="chebyshev")
    entries = [entry for entry, _ in result.ranked]
    assert entries == ["film", "director", "other"]
    for entry, score in result.ranked:
        assert score == pytest.approx(expected[f"entry:{entry}"] / expected["entry:film"], abs=1e-5)
    assert dict(result.ranked) == result.shares
    assert result.starts == ("phrase:film",)


def test_the_local_walk_is_the_whole_one_but_for_what_its_tolerance_leaves() -> None:
    local = walk(TWO_HOPS, FILM, NO_LEGS, [], graph_weight=1.0)
    whole = walk(TWO_HOPS, FILM, NO_LEGS, [], graph_weight=1.0, engine="igraph")
    assert [entry for entry, _ in local.ranked] == [entry for entry, _ in whole.ranked]
    assert dict(local.ranked) == pytest.approx(dict(whole.ranked), abs=0.01)


def test_hits_are_seeds_of_at_most_the_passage_node_weight() -> None:
    legs = {"lexical": [("other", 4.0), ("film", 2.0), ("director", 0.0)]}
    arcs = {
        (pointing.ids[a], pointing.ids[b]): w
        for pointing in [pointing_graph(TWO_HOPS)]
        for a, b, w in zip(pointing.source_index, pointing.target_index, pointing.weight, strict=True)
    }
    seeds = {
        "phrase:film": 1.0,
        "entry:other": 0.2,
        "entry:film": 0.2 * np.exp(-5.0),
        "entry:director": 0.2 * np.exp(-10.0),
    }
    expected = walk_by_networkx(arcs, seeds, 0.7)
    result = walk(
        TWO_HOPS,
        FILM,
        legs,
        legs["lexical"],
        graph_weight=1.0,
        damping=0.7,
        passage_node_weight=0.2,
        engine="chebyshev",
    )
    top = max(expected[f"entry:{entry}"] for entry, _ in result.ranked)
    for entry, score in result.ranked:
        assert score == pytest.approx(expected[f"entry:{entry}"] / top, abs=1e-5)


def test_a_name_that_many_entries_hold_is_a_weaker_seed_and_a_weaker_bridge() -> None:
    edges = [(f"entry:{n}", "mentions", "phrase:american") for n in range(50)]
    edges += [("entry:0", "mentions", "phrase:rare"), ("entry:50", "mentions", "phrase:rare")]
    graph = graph_of(edges)
    rare = specificity(graph)
    assert rare[graph.index_of("phrase:american")] == pytest.approx(1 / 50)
    assert rare[graph.index_of("phrase:rare")] == pytest.approx(1 / 2)
    arcs = pointing_graph(graph)
    weight = {
        arcs.ids[target]: w
        for source, target, w in zip(arcs.source_index, arcs.target_index, arcs.weight, strict=True)
        if arcs.ids[source] == "entry:0"
    }
    assert weight == {"phrase:american": pytest.approx(1 / 50), "phrase:rare": pytest.approx(1 / 2)}


def test_a_name_in_one_entry_alone_is_no_bridge_but_can_be_asked_for() -> None:
    graph = graph_of([("entry:a", "mentions", "phrase:once"), ("entry:a", "mentions", "phrase:twice"),
                      ("entry:b", "mentions", "phrase:twice")])  # fmt: skip
    arcs = pointing_graph(graph)
    into_once = (arcs.target_index == arcs.index_of("phrase:once")) & (arcs.weight > 0)
    assert not into_once.any()
    result = walk(graph, [LinkedEntity("phrase:once", 0, 4)], NO_LEGS, [])
    assert [entry for entry, _ in result.ranked] == ["a", "b"]


def test_a_name_that_no_entry_carries_leads_to_the_nearest_that_mention_it() -> None:
    graph = graph_of([(f"entry:{name}", "mentions", "phrase:x") for name in "abcd"])
    legs = {"lexical": [("b", 2.0), ("a", 1.5), ("unrelated", 1.0)]}
    half, none = np.exp(-5.0), np.exp(-10.0)
    total = 1.0 + half + 2 * none
    seeds = {
        "entry:b": 0.05 + 0.5 * 0.25 * 1.0 / total,
        "entry:a": 0.05 * half + 0.5 * 0.25 * half / total,
        "phrase:x": 0.25 * 2 * none / total,
    }
    arcs = {(f"entry:{name}", "phrase:x"): 0.25 for name in "abcd"}
    arcs |= {("phrase:x", f"entry:{name}"): 0.1 for name in "abcd"}
    expected = walk_by_networkx(arcs, seeds, 0.5)
    result = walk(graph, [LinkedEntity("phrase:x", 0, 1)], legs, legs["lexical"], graph_weight=1.0, engine="chebyshev")
    assert [entry for entry, _ in result.ranked[:4]] == ["b", "a", "c", "d"]
    for entry, score in result.ranked[:4]:
        assert score == pytest.approx(expected[f"entry:{entry}"] / expected["entry:b"], rel=1e-4)


def test_a_name_that_an_entry_carries_leads_there_whatever_is_near() -> None:
    legs = {"lexical": [("other", 2.0), ("film", 1.0)]}
    director = [LinkedEntity("phrase:director", 0, 1)]
    result = walk(TWO_HOPS, director, legs, legs["lexical"], graph_weight=1.0)
    assert result.ranked[0][0] == "director"


def test_an_entry_that_is_named_and_found_has_both_weights() -> None:
    graph = graph_of([("entry:a", "calls", "entry:b"), ("entry:c", "calls", "entry:b")])
    legs = {"lexical": [("a", 2.0), ("c", 1.0)]}
    result = walk(graph, [LinkedEntity("entry:a", 0, 1)], legs, legs["lexical"], graph_weight=1.0, engine="chebyshev")
    arcs = {("entry:a", "entry:b"): 1.0, ("entry:c", "entry:b"): 1.0,
            ("entry:b", "entry:a"): 0.1, ("entry:b", "entry:c"): 0.1}  # fmt: skip
    expected = walk_by_networkx(arcs, {"entry:a": 1.05, "entry:c": 0.05 * np.exp(-10.0)}, 0.5)
    assert dict(result.ranked)["c"] == pytest.approx(expected["entry:c"] / expected["entry:a"], abs=1e-5)


def test_the_blend_is_the_hybrid_order_at_0_the_walk_at_1_and_their_geometric_mean_between() -> None:
    fused = [("other", 1.0), ("director", 0.5), ("film", 0.25)]
    legs = {"lexical": fused}
    by_walk = walk(TWO_HOPS, FILM, legs, fused, graph_weight=1.0)
    assert walk(TWO_HOPS, FILM, legs, fused, graph_weight=0.0).ranked == fused
    half = walk(TWO_HOPS, FILM, legs, fused, graph_weight=0.5)
    for entry, score in half.ranked:
        assert score == pytest.approx((by_walk.shares[entry] * dict(fused)[entry]) ** 0.5)


def test_an_entry_no_leg_found_has_the_lowest_base() -> None:
    fused = [("film", 1.0), ("other", 0.4)]
    result = walk(TWO_HOPS, FILM, {"lexical": fused}, fused)
    assert dict(result.ranked)["director"] == pytest.approx((result.shares["director"] * 0.4) ** 0.5)


def test_nothing_named_falls_back_to_hybrid_and_says_so() -> None:
    fused = [("other", 1.0), ("film", 0.5), ("director", 0.1)]
    absent = [LinkedEntity("phrase:absent", 0, 3)]
    for entities in ([], absent):
        result = walk(TWO_HOPS, entities, {"lexical": fused}, fused, limit=2)
        assert result.ranked == fused[:2]
        assert "names nothing" in result.note
        assert result.arcs is None


def test_a_name_that_leads_to_no_entry_falls_back_too() -> None:
    graph = graph_of([("person:a", "knows", "person:b"), ("entry:x", "mentions", "phrase:x")])
    result = walk(graph, [LinkedEntity("person:a", 0, 1)], NO_LEGS, [("x", 1.0)])
    assert result.ranked == [("x", 1.0)]
    assert "leads to no entry" in result.note


def test_a_longer_name_that_is_only_partly_known_weighs_by_its_share() -> None:
    whole = walk(TWO_HOPS, [*FILM, LinkedEntity("phrase:other", 5, 9)], NO_LEGS, [], graph_weight=1.0)
    third = walk(TWO_HOPS, [*FILM, LinkedEntity("phrase:other", 5, 9, share=1 / 3)], NO_LEGS, [], graph_weight=1.0)
    assert third.shares["other"] < whole.shares["other"]


def test_closeness_knows_how_far_apart_scores_are() -> None:
    near = closeness({"lexical": [("a", 10.0), ("b", 9.0), ("c", 0.0)], "dense": [("b", 0.8), ("a", 0.6)]})
    assert near == {"a": pytest.approx(0.5), "b": pytest.approx(0.95), "c": 0.0}
    assert closeness({"lexical": [("a", 3.0)], "dense": []}) == {"a": 0.5}
    assert closeness({}) == {}


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="damping"):
        walk(TWO_HOPS, FILM, NO_LEGS, [], damping=1.0)
    with pytest.raises(InvalidQueryError, match="graph_weight"):
        walk(TWO_HOPS, FILM, NO_LEGS, [], graph_weight=1.5)


def test_ties_are_in_the_order_of_ids() -> None:
    graph = graph_of([(f"entry:{name}", "mentions", "phrase:x") for name in "dbca"])
    result = walk(graph, [LinkedEntity("phrase:x", 0, 1)], NO_LEGS, [])
    assert [entry for entry, _ in result.ranked] == ["a", "b", "c", "d"]


def taxonomy_noise(factor: float) -> tuple[list[str], float]:
    """Two hops from Acme to its owner's home among edges of which most say only which tags an entry has."""
    edges = [
        ("entry:acme", "titled", "phrase:acme"),
        ("entry:acme", "mentions", "phrase:carol"),
        ("entry:carol", "mentions", "phrase:carol"),
        ("entry:carol", "mentions", "phrase:oslo"),
        ("entry:oslo", "mentions", "phrase:oslo"),
    ]
    edges += [(f"entry:{n}", "mentions", f"phrase:{n // 2}") for n in range(100)]
    filler = [f"entry:{n}" for n in range(200)]
    tagged = enumerate(["entry:acme", "entry:carol", "entry:oslo", *filler])
    tags = [(entry, "tagged_with", f"tag:{(n * 7 + tag) % 10}", factor) for n, entry in tagged for tag in range(9)]
    graph = graph_of([*edges, *tags])
    result = walk(graph, [LinkedEntity("phrase:acme", 0, 4)], NO_LEGS, [], graph_weight=1.0)
    return [entry for entry, _ in result.ranked[:5]], len(tags) / (len(tags) + len(edges))


def test_where_94_percent_of_the_edges_are_tags_the_second_hop_is_still_found() -> None:
    top, noise = taxonomy_noise(factor=0.1)
    assert noise > 0.94
    assert top[:3] == ["acme", "carol", "oslo"]


def test_a_query_finds_the_second_hop_by_its_names_alone() -> None:
    entities = link_query("Who is the director of Film?", TWO_HOPS, Matcher({"Film": ["phrase:film"]}))
    assert [entry for entry, _ in walk(TWO_HOPS, entities, NO_LEGS, []).ranked][:2] == ["film", "director"]
