"""What a query names: the longest forms, whole words, capitals where there are some."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import graph_of

from graphport import GraphSnapshot, Node
from graphport.matching import Matcher
from graphport.retrieval.linking import link_query
from graphport.retrieval.names import phrase_id, words_of
from graphport_memory.storage import MemoryStorage

ENTITY = "entity_node:John Calvin"


@pytest.fixture
def graph() -> GraphSnapshot:
    phrases = {
        "phrase:neil young": "Neil Young",
        "phrase:young": "Young",
        "phrase:world": "World",
        "phrase:hope": "Hope",
        "phrase:evidence packing": "Evidence packing",
        "phrase:damping": "damping",
        "phrase:who": "Who",
        ENTITY: "John Calvin",
    }
    return graph_of([("entry:a", "mentions", node) for node in phrases], phrases)


MATCHER = Matcher({"John Calvin": [ENTITY], "Calvin": [ENTITY], "Servetus": ["entity_node:Servetus"]})


def linked(query: str, graph: GraphSnapshot) -> list[tuple[str, str]]:
    return [(query[entity.start : entity.end], entity.node) for entity in link_query(query, graph, MATCHER)]


def test_the_longest_name_wins_a_span(graph: GraphSnapshot) -> None:
    assert linked("songs of Neil Young", graph) == [("Neil Young", "phrase:neil young")]
    assert linked("Is Young old?", graph) == [("Young", "phrase:young")]


def test_an_alias_of_the_gazetteer_leads_to_its_entity(graph: GraphSnapshot) -> None:
    assert linked("What did Calvin write?", graph) == [("Calvin", ENTITY)]


def test_a_part_of_a_word_is_no_name(graph: GraphSnapshot) -> None:
    assert linked("Calvinism and Youngsters", graph) == []


def test_a_possessive_names_its_owner(graph: GraphSnapshot) -> None:
    assert linked("Neil Young's brother", graph) == [("Neil Young", "phrase:neil young")]
    assert linked("Calvin\u2019s brother", graph) == [("Calvin", ENTITY)]


def test_an_entity_without_a_node_links_nothing(graph: GraphSnapshot) -> None:
    assert linked("Servetus", graph) == []


def test_where_there_are_capitals_only_they_name(graph: GraphSnapshot) -> None:
    assert linked("evidence packing by Calvin", graph) == [("Calvin", ENTITY)]
    assert linked("evidence packing by whomever", graph) == [("evidence packing", "phrase:evidence packing")]


def test_a_query_in_lower_case_is_linked_by_several_words_or_names_in_lower_case(graph: GraphSnapshot) -> None:
    assert linked("did neil young hope for damping", graph) == [
        ("neil young", "phrase:neil young"),
        ("damping", "phrase:damping"),
    ]


def test_a_word_that_begins_questions_is_no_name_there(graph: GraphSnapshot) -> None:
    assert linked("Who sang it?", graph) == []
    assert linked("an album of the Who", graph) == [("Who", "phrase:who")]


def test_a_part_of_a_longer_name_counts_by_its_share(graph: GraphSnapshot) -> None:
    (entity,) = link_query("Who won the World Drivers' Championship?", graph, MATCHER)
    assert (entity.node, entity.start, entity.end) == ("phrase:world", 12, 17)
    assert entity.share == pytest.approx(1 / 3)
    assert link_query("The World is round", graph, MATCHER)[0].share == 1.0


def test_a_storage_links_as_its_snapshot_does(graph: GraphSnapshot) -> None:
    storage = MemoryStorage()
    storage.upsert_nodes(Node(node, "phrase", name) for node, name in zip(graph.ids, graph.names, strict=True))
    for query in ("Neil Young's Hope", "evidence packing", "Calvin", ""):
        assert link_query(query, storage, MATCHER) == link_query(query, graph, MATCHER)


def test_nothing_named_is_an_empty_list(graph: GraphSnapshot) -> None:
    assert linked("what is it?", graph) == []
    assert linked("", graph) == []
    assert linked("___ ''' 👩‍💻", graph) == []


@given(st.text("xYz3'-._ ,\u2019\u00e9\u0301", min_size=1, max_size=30), st.data())
@settings(max_examples=300, deadline=None)
def test_every_run_of_words_is_asked_for_as_the_phrase_it_would_be(query: str, data: st.DataObject) -> None:
    words = words_of(query)
    if not words:
        return
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, min(first + 7, len(words) - 1)))
    span = query[words[first][1] : words[last][2]]
    if not any(char.isalnum() for char in span):
        return
    graph = graph_of([("entry:a", "mentions", phrase_id(span))], {phrase_id(span): span})
    assert {node for _, node in linked(query, graph)} == {phrase_id(span)}
