"""Neighbourhoods and ranking agree with brute force and with igraph."""

from __future__ import annotations

from typing import Any, cast

import igraph as untyped_igraph  # type: ignore[import-untyped]  # it ships no types  # pyright: ignore[reportMissingTypeStubs]
import pytest

from graphport.model import Direction, Edge
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.exact import exact_edges, exact_nodes
from graphport.testing.contract.graphs import node, random_graph, sample, walk

igraph = cast("Any", untyped_igraph)


class WalkPromises(ContractBase):
    def test_a_neighborhood_agrees_with_brute_force(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(120, 260)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        rows = {node.id: node for node in nodes}
        for direction in Direction:
            for kinds in (None, ["calls", "uses"]):
                for depth, max_nodes in ((0, 10), (1, 1000), (2, 1000), (3, 17), (9, 1000), (2, 1)):
                    seeds = ["n00003", "n00077", "nobody"]
                    found = storage.neighborhood(
                        seeds, depth=depth, max_nodes=max_nodes, direction=direction, kinds=kinds
                    )
                    depths, inside, cut = walk(
                        nodes, edges, seeds, depth=depth, max_nodes=max_nodes, direction=direction, kinds=kinds
                    )
                    assert list(found.depths.items()) == list(depths.items())
                    assert exact_nodes(found.nodes) == exact_nodes(rows[node_id] for node_id in depths)
                    assert exact_edges(found.edges) == exact_edges(inside)
                    assert found.truncated == cut

    def test_a_neighborhood_is_found_by_depth_and_then_id(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node(node_id) for node_id in "zyxcba"])
        storage.upsert_edges([Edge("z", "b", "e"), Edge("z", "y", "e"), Edge("b", "x", "e"), Edge("y", "a", "e")])
        found = storage.neighborhood(["z"], depth=2)
        assert [row.id for row in found.nodes] == ["z", "b", "y", "a", "x"]
        assert dict(found.depths) == {"z": 0, "b": 1, "y": 1, "a": 2, "x": 2}
        clamped = storage.neighborhood(["z"], depth=2, max_nodes=4)
        assert ([row.id for row in clamped.nodes], clamped.truncated) == (["z", "b", "y", "a"], True)

    def test_a_neighborhood_has_all_edges_between_its_nodes(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        for direction in Direction:
            found = storage.neighborhood(["a", "b"], depth=1, max_nodes=2, direction=direction)
            assert exact_edges(found.edges) == exact_edges(
                sorted((e for e in edges if {e.source, e.target} <= {"a", "b"}), key=lambda edge: edge.key)
            )

    def test_absent_seeds_are_left_out(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        assert list(storage.neighborhood(["nobody", "a"]).depths) == ["a"]
        for seeds in (["nobody"], []):
            found = storage.neighborhood(seeds, depth=5)
            assert (found.nodes, found.edges, dict(found.depths), found.truncated) == ((), (), {}, False)

    def test_personalized_pagerank_is_what_igraph_says(self, storage: GraphStorage) -> None:
        from graphport import personalized_pagerank

        nodes, edges = sample()
        more_nodes, more_edges = random_graph(60, 200)
        storage.upsert_nodes([*nodes, *more_nodes])
        storage.upsert_edges([*edges, *more_edges, Edge("a", "n00001", "e", 0.3)])
        ids = [row.id for row in (*nodes, *more_nodes)]
        number = {node_id: i for i, node_id in enumerate(ids)}
        all_edges = [*edges, *more_edges, Edge("a", "n00001", "e", 0.3)]
        graph = igraph.Graph(len(ids), [(number[edge.source], number[edge.target]) for edge in all_edges])
        reset = [0.0] * len(ids)
        reset[number["a"]], reset[number["n00007"]] = 1.0, 3.0
        expected: list[float] = graph.personalized_pagerank(
            damping=0.5, directed=False, weights=[edge.weight for edge in all_edges], reset=reset
        )
        scores = personalized_pagerank(storage, {"a": 1.0, "n00007": 3.0}, damping=0.5)
        assert {node_id: scores[node_id] for node_id in ids} == pytest.approx(
            dict(zip(ids, expected, strict=True)), abs=1e-12
        )
