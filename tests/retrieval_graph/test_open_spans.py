"""What a query may name besides what was linked, and that an entity counts by its linker's score."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import graph_of

from graphport import GraphSnapshot
from graphport.rank.local import LocalPageRank
from graphport.retrieval.leg import bounded_leg, graph_leg
from graphport.retrieval.linking import LinkedEntity
from graphport.retrieval.open_spans import open_spans
from graphport.retrieval.ranking import local_entry_shares
from graphport.retrieval.walk import named_seeds
from graphport_memory.storage import MemoryStorage


def spans(query: str, *linked: str) -> list[str]:
    found = [LinkedEntity("x", query.index(name), query.index(name) + len(name)) for name in linked]
    return [query[span.start : span.end] for span in open_spans(query, found)]


def test_each_run_with_a_capital_is_open_the_longest_first() -> None:
    assert spans("who met Neil Yuong's band") == [
        "met Neil Yuong's band", "met Neil Yuong", "Neil Yuong's band", "met Neil", "Neil Yuong", "Yuong's band",
        "Neil", "Yuong",
    ]  # fmt: skip


def test_no_run_begins_or_ends_with_a_small_word() -> None:
    assert spans("Who is of Geneva and the") == ["Geneva"]
    assert "The Whoo" in spans("an album of The Whoo")
    assert spans("The Whoo") == ["Whoo"]


def test_a_capital_that_is_linked_opens_no_run() -> None:
    assert spans("did Calvin write", "Calvin") == []
    assert spans("Calvin or Servetos", "Calvin") == ["Calvin or Servetos", "Servetos"]


def test_in_lower_case_runs_of_several_words_that_are_not_linked_are_open() -> None:
    assert spans("neil yuong damping", "damping") == ["neil yuong"]
    assert spans("damping") == []


GRAPH = [("entry:a", "mentions", "phrase:x"), ("entry:b", "mentions", "phrase:y")]


def test_an_entity_counts_by_share_and_score() -> None:
    graph = graph_of(GRAPH)
    linked = [LinkedEntity("phrase:x", 0, 1), LinkedEntity("phrase:y", 2, 3, 0.5, "fuzzy", 0.8)]
    assert named_seeds(graph, linked) == pytest.approx({"phrase:x": 1.0, "phrase:y": 0.4})


def test_in_the_leg_an_entity_counts_by_its_score() -> None:
    graph = graph_of(GRAPH)
    storage = MemoryStorage()
    storage.bulk_load(graph)
    linked = [LinkedEntity("phrase:x", 0, 1), LinkedEntity("phrase:y", 2, 3, 0.5, "fuzzy", 0.8)]
    for found in (graph_leg(graph, linked), bounded_leg(storage, linked)):
        assert dict(found.ranked) == pytest.approx({"a": 1.0, "b": 0.8})


@pytest.mark.parametrize("entries", [["a", "a", "b"], ["b", "a", "c"], ["b", "a", "a"]])
def test_an_entry_takes_the_best_of_its_nodes_in_whatever_order_they_stand(entries: list[str]) -> None:
    graph = GraphSnapshot.from_arrays(["n0", "n1", "n2"], [], [], entries=entries)
    scores = np.array([0.2, 0.4, 0.1])
    places, shares = local_entry_shares(graph, LocalPageRank(np.arange(3), scores, 0.0, 0))
    best = {entry: max(score for own, score in zip(entries, scores, strict=True) if own == entry) for entry in entries}
    assert places.tolist() == list(range(len(best)))
    assert shares.tolist() == pytest.approx([best[entry] / 0.4 for entry in sorted(best)])
