"""Reciprocal rank fusion and the blend with PageRank, by hand-worked numbers."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import networkx as nx
import pytest
from hypothesis import given

from graphport import GraphSnapshot, Hit, graph_rerank, open_storage, reciprocal_rank_fusion
from graphport.errors import InvalidQueryError
from graphport.model import Edge, Node
from graphport.retrieval.fusion import normalized_fusion


class TestFusion:
    def test_scores_are_those_of_the_formula(self) -> None:
        fused = dict(reciprocal_rank_fusion([["a", "b"], ["b", "c"]]))
        assert fused == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}

    def test_ties_go_by_id(self) -> None:
        assert [item for item, _ in reciprocal_rank_fusion([["b"], ["a"]])] == ["a", "b"]

    def test_an_id_named_twice_by_a_ranking_counts_once_at_its_better_rank(self) -> None:
        assert dict(reciprocal_rank_fusion([["a", "b", "a"]])) == {"a": 1 / 61, "b": 1 / 62}

    def test_weights_scale_rankings(self) -> None:
        assert dict(reciprocal_rank_fusion([["a"], ["b"]], weights=[2, 0], rrf_k=1)) == {"a": 1.0, "b": 0.0}

    @pytest.mark.parametrize("options", [{"rrf_k": -1}, {"rrf_k": math.nan}, {"weights": [1]}, {"weights": [1, -1]}])
    def test_options_out_of_range_are_errors(self, options: dict[str, object]) -> None:
        with pytest.raises(InvalidQueryError):
            reciprocal_rank_fusion([["a"], ["b"]], **options)  # type: ignore[arg-type]  # wrong on purpose

    def test_rank_one_everywhere_is_one_when_normalised(self) -> None:
        assert normalized_fusion([["a", "b"], ["a"]])[0] == ("a", 1.0)
        assert normalized_fusion([]) == []

    @given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=1, max_size=4))
    def test_normalised_scores_are_in_the_unit_interval(self, rankings: list[list[str]]) -> None:
        assert all(0 < score <= 1 for _, score in normalized_fusion(rankings))


def star() -> GraphSnapshot:
    """A hub that the chunks a and b touch; c stands apart; d is in no node."""
    return GraphSnapshot.from_arrays(
        ["hub", "na", "nb", "nc"], [1, 2], [0, 0], entries=["h", "a", "b", "c"], edge_kinds=["uses"]
    )


class TestRerank:
    def test_scores_are_the_blend_with_networkx_pagerank(self) -> None:
        hits = [Hit("a", 0.9), Hit("h", 0.5), Hit("d", 0.4)]
        graph = nx.Graph([("hub", "na"), ("hub", "nb")])
        graph.add_node("nc")
        ppr = nx.pagerank(graph, alpha=0.5, personalization={"na": 1, "hub": 1}, tol=1e-12)
        top = max(ppr.values())
        reranked = {hit.entry: hit.score for hit in graph_rerank(hits, star(), 0.25)}
        assert reranked["a"] == pytest.approx(0.75 * 0.9 + 0.25 * ppr["na"] / top, abs=1e-6)
        assert reranked["h"] == pytest.approx(0.75 * 0.5 + 0.25 * ppr["hub"] / top, abs=1e-6)
        assert reranked["d"] == pytest.approx(0.75 * 0.4)

    def test_a_central_entry_rises_and_an_unconnected_one_falls(self) -> None:
        hits = [Hit("d", 0.52), Hit("a", 0.51), Hit("h", 0.5), Hit("b", 0.5)]
        assert [hit.entry for hit in graph_rerank(hits, star(), 0.5)] == ["h", "a", "b", "d"]

    def test_full_weight_is_pagerank_alone(self) -> None:
        reranked = graph_rerank([Hit("a", 1.0), Hit("h", 0.0)], star(), 1.0)
        assert [hit.entry for hit in reranked] == ["h", "a"]
        assert reranked[0].score == 1.0

    def test_ties_keep_the_earlier_position(self) -> None:
        hits = [Hit("b", 0.5), Hit("a", 0.5), Hit("x", 0.2), Hit("d", 0.2)]
        assert [hit.entry for hit in graph_rerank(hits, star(), 0.5)] == ["b", "a", "x", "d"]

    @pytest.mark.parametrize(
        "hits, weight",
        [
            ([Hit("a", 0.1), Hit("h", 0.9)], 0.0),
            ([Hit("x", 0.1), Hit("y", 0.9)], 0.5),
            ([], 0.5),
        ],
        ids=["weight 0", "no hit has a node", "no hits"],
    )
    def test_nothing_to_do_changes_nothing(self, hits: list[Hit], weight: float) -> None:
        assert graph_rerank(hits, star(), weight) == hits

    def test_a_graph_without_edges_changes_nothing(self) -> None:
        hits = [Hit("a", 0.1), Hit("b", 0.9)]
        lonely = GraphSnapshot.from_arrays(["na", "nb"], [], [], entries=["a", "b"])
        assert graph_rerank(hits, lonely, 0.5) == hits
        assert graph_rerank(hits, GraphSnapshot.from_arrays([], [], []), 0.5) == hits

    def test_several_nodes_of_one_entry_count_by_the_largest(self) -> None:
        graph = GraphSnapshot.from_arrays(["x", "y", "z"], [0, 1], [1, 2], entries=["a", "a", "b"])
        scores = {hit.entry: hit.score for hit in graph_rerank([Hit("a", 0.0), Hit("b", 0.0)], graph, 1.0)}
        assert scores["a"] == 1.0

    def test_three_lines_with_a_storage_are_enough(self) -> None:
        with open_storage("memory") as storage:
            storage.upsert_nodes([Node("f", "file", "f", "chunk-1"), Node("g", "file", "g", "chunk-2")])
            storage.upsert_edges([Edge("f", "g", "uses")])
            assert len(graph_rerank([Hit("chunk-1", 0.9), Hit("chunk-2", 0.8)], storage, 0.5)) == 2

    @pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan, math.inf, True, "0.5"])
    def test_a_weight_outside_the_unit_interval_is_an_error(self, weight: object) -> None:
        with pytest.raises(InvalidQueryError, match=r"graph_weight is .*; it must be a finite number in 0\.\.=1"):
            graph_rerank([Hit("a", 1.0)], star(), weight)  # type: ignore[arg-type]  # wrong on purpose

    def test_a_score_that_is_not_finite_is_an_error(self) -> None:
        with pytest.raises(InvalidQueryError, match="score of hit 'a' is nan"):
            graph_rerank([Hit("a", math.nan)], star(), 0.5)
