"""What vector databases return becomes hits, or an error that says what to do."""

from __future__ import annotations

import logging
import math
from decimal import Decimal
from uuid import UUID

import networkx as nx
import numpy as np
import pytest

from graphport import Edge, GraphSnapshot, GraphStorage, Hit, Node, graph_rerank, open_storage, reciprocal_rank_fusion
from graphport.errors import InvalidIdError, InvalidInputError, InvalidQueryError, InvalidRowError
from graphport.rank.pagerank import personalized_pagerank


@pytest.fixture
def graph() -> GraphStorage:
    """a - b, and c apart."""
    storage = open_storage("memory")
    storage.upsert_nodes(Node(each, "document", each, entry=each) for each in "abc")
    storage.upsert_edges([Edge("a", "b", "links_to")])
    return storage


class TestNumbers:
    @pytest.mark.parametrize("half", [np.float32(0.5), np.float64(0.5), np.array(0.5), Decimal("0.5")])
    def test_scores_of_any_kind_of_number_become_floats(self, graph: GraphStorage, half: float) -> None:
        (hit,) = graph_rerank([Hit("a", half)], graph, 0.5)
        assert hit.score == 0.75  # half of 0.5, and half of the largest share
        assert type(hit.score) is float

    def test_numbers_of_numpy_may_be_weights(self, graph: GraphStorage) -> None:
        assert graph_rerank([Hit("a", 0.5)], graph, np.float32(0.5))[0].score == 0.75  # type: ignore[arg-type]  # a number all the same

    @pytest.mark.parametrize("score", [None, "0.5", math.inf, [0.5]])
    def test_what_is_no_finite_number_is_an_error(self, graph: GraphStorage, score: float) -> None:
        with pytest.raises(InvalidQueryError, match=r"score of hit 'a' is .*; it must be a finite number"):
            graph_rerank([Hit("a", score)], graph)


class TestShapes:
    @pytest.mark.parametrize("number", [7, np.int64(7), UUID(int=7)])
    def test_an_id_that_is_no_text_is_an_error_that_says_so(self, graph: GraphStorage, number: str) -> None:
        with pytest.raises(InvalidIdError, match=r"id of a hit is .*7.*such as str\(id\)"):
            graph_rerank([Hit(number, 0.5)], graph)

    @pytest.mark.parametrize("row", [("a", 0.5), {"id": "a"}, "a", None])
    def test_what_is_no_hit_is_an_error_that_says_how_to_make_one(self, graph: GraphStorage, row: Hit) -> None:
        with pytest.raises(InvalidRowError, match=r"expected a Hit, got .*Hit\(id, score\)"):
            graph_rerank([row], graph)

    def test_hits_may_come_from_a_generator(self, graph: GraphStorage) -> None:
        assert len(graph_rerank((Hit(each, 0.5) for each in "abc"), graph)) == 3

    def test_a_hit_found_twice_stays_twice_and_starts_the_walk_once(self, graph: GraphStorage) -> None:
        once = {hit.entry: hit.score for hit in graph_rerank([Hit("a", 0.5), Hit("c", 0.5)], graph)}
        twice = graph_rerank([Hit("a", 0.5), Hit("c", 0.5), Hit("a", 0.5)], graph)
        assert [(hit.entry, hit.score) for hit in twice] == [("a", once["a"]), ("a", once["a"]), ("c", once["c"])]


class TestDoubts:
    def test_scores_that_rise_as_distances_do_are_reported(
        self, graph: GraphStorage, caplog: pytest.LogCaptureFixture
    ) -> None:
        graph_rerank([Hit("a", 0.01), Hit("b", 0.2), Hit("c", 0.2)], graph)
        assert "rise from 0.01 to 0.2, as distances do" in caplog.text
        assert "1 - distance" in caplog.text

    def test_scores_that_drown_the_graph_are_reported(
        self, graph: GraphStorage, caplog: pytest.LogCaptureFixture
    ) -> None:
        graph_rerank([Hit("a", 31.5), Hit("b", 30.0)], graph)
        assert "a hit has the score 31.5; scale scores to [0, 1]" in caplog.text

    def test_nodes_without_an_entry_are_reported(self, caplog: pytest.LogCaptureFixture) -> None:
        bare = GraphSnapshot.from_arrays(["a", "b"], [0], [1])
        hits = [Hit("x", 0.9), Hit("b", 0.8)]
        assert graph_rerank(hits, bare) == hits
        assert "node 'b' has the id of a hit" in caplog.text
        assert "Node(..., entry=...)" in caplog.text

    @pytest.mark.parametrize(
        "scores", [(0.9, 0.5, 0.1), (0.5, 0.5, 0.5), (1.0000001, 0.9, -0.2), (0.9, 0.1, 0.95), (0.1, 0.9)]
    )
    def test_similarities_and_strangers_are_nothing_to_report(
        self, graph: GraphStorage, caplog: pytest.LogCaptureFixture, scores: tuple[float, ...]
    ) -> None:
        caplog.set_level(logging.DEBUG, "graphport")
        graph_rerank([Hit(entry, score) for entry, score in zip("abc", scores, strict=False)], graph)
        graph_rerank([Hit("unknown", 0.5)], graph)
        assert not caplog.records


class TestFusionOfTheirs:
    @pytest.mark.parametrize("item", [7, ("a", 0.5), Hit("a", 0.5)])
    def test_a_ranking_of_what_is_no_id_is_an_error(self, item: str) -> None:
        with pytest.raises(InvalidIdError, match=r"a ranking holds .*ids as str, such as str\(id\) or hit.entry"):
            reciprocal_rank_fusion([["a"], [item]])

    def test_what_has_no_order_is_no_ranking(self, graph: GraphStorage) -> None:
        ranks = personalized_pagerank(graph, ["a"])
        for unordered in ({"a", "b"}, {"a": 0.5}, ranks, "ab"):
            with pytest.raises(InvalidInputError, match="give a list of ids, best first"):
                reciprocal_rank_fusion([unordered])  # type: ignore[list-item]  # wrong on purpose

    def test_rankings_may_be_arrays_and_generators(self) -> None:
        fused = reciprocal_rank_fusion([np.array(["a", "b"]), (each for each in "b")])  # type: ignore[list-item]  # taken all the same
        assert dict(fused) == {"a": 1 / 61, "b": 1 / 62 + 1 / 61}


@pytest.mark.parametrize(
    "graph", [None, nx.Graph(), [Hit("a", 0.5)], "links.kuzu"], ids=["None", "networkx", "hits", "path"]
)
def test_what_is_no_graph_is_an_error_that_says_what_is(graph: GraphStorage) -> None:
    with pytest.raises(InvalidInputError, match=r"the graph is .*; give what open_storage opened"):
        graph_rerank([Hit("a", 0.5)], graph)
