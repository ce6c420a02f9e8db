"""Search through the graph: modes, explanations, visibility, reports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphport import Entry
from graphport.builders import Extraction, Fact, Links, Lookup, NodeFact
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.opening import open_knowledge_base
from graphport.knowledge.text_builder import EntryBuilder

OFFICE = [
    Entry("carol", "Carol manages the Berlin office of Acme Corp.", title="Carol"),
    Entry("bob", "Bob works at Acme Corp and reports to Carol.", title="Bob"),
    Entry("acme", "Acme Corp makes anvils.", title="Acme Corp"),
    Entry("hours", "The office is open on Mondays.", title="Office hours"),
]
QUESTION = "Where does the superior of Bob sit?"


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kb(clock: Clock) -> Iterator[KnowledgeBase]:
    with open_knowledge_base(":memory:", embedder=None, clock=clock) as opened:
        opened.add(OFFICE)
        yield opened


def ids(kb: KnowledgeBase, query: str = QUESTION, **options: object) -> list[str]:
    return [hit.entry for hit in kb.search(query, **options)]  # type: ignore[arg-type]  # passed through


class TestTwoHops:
    def test_the_graph_brings_the_answer_that_shares_no_word_with_the_question(self, kb: KnowledgeBase) -> None:
        assert ids(kb) == ["bob"]
        assert "carol" in ids(kb, graph=True)[:3]
        assert "carol" in ids(kb, graph=True, graph_mode="leg")[:3]

    def test_the_path_leads_from_the_name_in_the_question_to_the_hit(self, kb: KnowledgeBase) -> None:
        hit = next(hit for hit in kb.search(QUESTION, graph=True, explain=True) if hit.entry == "carol")
        told = hit.explanation
        assert told is not None
        assert told.path_from == "phrase:bob"
        assert [(hop.source, hop.kind, hop.target, hop.forward) for hop in told.path] == [
            ("entry:bob", "titled", "phrase:bob", False),
            ("entry:bob", "mentions", "phrase:carol", True),
            ("entry:carol", "titled", "phrase:carol", False),
        ]
        assert told.ppr is not None
        assert 0 < told.ppr < 1
        assert told.ranks == {}

    def test_rerank_changes_the_order_and_nothing_else(self, kb: KnowledgeBase) -> None:
        plain = ids(kb, "office of Acme Corp")
        assert sorted(ids(kb, "office of Acme Corp", graph=True, graph_mode="rerank")) == sorted(plain)

    def test_a_question_that_names_nothing_is_answered_by_hybrid_search_and_says_so(self, kb: KnowledgeBase) -> None:
        plain = ids(kb, "open on which day")
        hits = kb.search("open on which day", graph=True, explain=True)
        assert [hit.entry for hit in hits] == plain
        assert hits[0].explanation is not None
        assert hits[0].explanation.notes == ("the query names nothing that the graph holds",)

    @pytest.mark.parametrize("mode", ["walk", "leg", "rerank"])
    @pytest.mark.parametrize("engine", ["igraph", "chebyshev", "push"])
    def test_every_engine_gives_the_same_hits(self, kb: KnowledgeBase, mode: str, engine: str) -> None:
        automatic = kb.search(QUESTION, graph=True, graph_mode=mode)  # type: ignore[arg-type]  # a mode
        chosen = kb.search(QUESTION, graph=True, graph_mode=mode, engine=engine)  # type: ignore[arg-type]  # as above
        assert [hit.entry for hit in chosen if hit.score > 0.01] == [hit.entry for hit in automatic if hit.score > 0.01]
        assert [hit.score for hit in chosen][:3] == pytest.approx([hit.score for hit in automatic][:3], abs=0.01)

    def test_a_bounded_walk_finds_the_answer_without_reading_the_graph_as_a_whole(
        self, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> object:
            raise AssertionError("the whole graph was read")

        whole = kb.search(QUESTION, graph=True, graph_mode="leg")
        monkeypatch.setattr(type(kb.storage), "snapshot", refuse)
        hits = kb.search(QUESTION, graph=True, graph_mode="leg", max_visited=256, explain=True)
        assert [hit.entry for hit in hits] == [hit.entry for hit in whole]
        assert hits[0].explanation is not None
        assert hits[0].explanation.notes == ("0.000 of the walk was left unexplored beyond 256 nodes",)
        cut = kb.search(QUESTION, graph=True, graph_mode="leg", max_visited=1, explain=True)[0].explanation
        assert cut is not None
        assert not cut.notes[0].startswith("0.000")

    def test_weight_zero_is_hybrid_search(self, kb: KnowledgeBase) -> None:
        assert ids(kb, "office of Acme Corp", graph=True, graph_weight=0.0) == ids(kb, "office of Acme Corp")

    def test_off_costs_nothing(self, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **__: object) -> object:
            raise AssertionError("the graph was asked")

        for name in ("graph", "graph_at"):
            monkeypatch.setattr(kb._derived, name, refuse)
        monkeypatch.setattr(kb, "vocabulary", refuse)
        assert ids(kb, graph=False) == ["bob"]


class TestVisibility:
    def test_a_walk_may_not_pass_through_a_fact_known_only_from_a_hidden_entry(
        self, kb: KnowledgeBase, clock: Clock
    ) -> None:
        kb.flag("bob")
        assert "carol" not in ids(kb, graph=True)
        assert "bob" not in ids(kb, graph=True)
        kb.flag("bob", flagged=False)
        assert "carol" in ids(kb, graph=True)
        kb.expire("bob", clock.now + 10)
        assert "carol" in ids(kb, graph=True)
        clock.now += 20
        assert ids(kb, graph=True) == []

    def test_as_of_asks_what_was_visible_then(self, kb: KnowledgeBase, clock: Clock) -> None:
        then = clock.now
        kb.expire("bob", clock.now + 10)
        clock.now += 20
        assert ids(kb) == []
        assert ids(kb, as_of=then) == ["bob"]
        assert ids(kb, graph=True) == []
        assert "carol" in ids(kb, graph=True, as_of=then)


class Tagging(EntryBuilder):
    """Every entry has fifteen tags, the same ones as nine others: nearly all edges are taxonomy."""

    def link(self, document: str, extraction: Extraction, lookup: Lookup) -> Links:
        links = super().link(document, extraction, lookup)
        (entry,) = extraction.entries
        group = int(entry.id[1:]) // 9 if entry.id[1:].isdigit() else 0 if entry.id == "bob" else 99
        tags = [f"tag:{group}:{number}" for number in range(15)]
        nodes = [NodeFact(tag, "tag", tag, entry.id) for tag in tags]
        facts = [Fact(f"entry:{entry.id}", "tagged_with", tag, entry.id) for tag in tags]
        return Links([*links.nodes, *nodes], [*links.facts, *facts])


@pytest.mark.parametrize("mode, factor, found", [("leg", 1.0, False), ("leg", 0.01, True), ("walk", 0.01, True)])
def test_ninety_four_percent_taxonomy_does_not_hide_the_two_hop_answer_with_factors_on(
    mode: str, factor: float, found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = [Entry(f"f{i}", f"Remarks on topic {i}.", title=f"remark {i}") for i in range(180)]
    config = {"vector_dbs": [{"name": "memory", "relation_weights": {"tagged_with": factor}}]}
    with open_knowledge_base(":memory:", embedder=None, config=config) as kb:
        monkeypatch.setattr(kb, "_builders", lambda: {"entry": Tagging()})
        kb.add([*OFFICE, *filler])
        counts = kb.storage.counts()
        assert counts.edge_kinds["tagged_with"] / counts.edges >= 0.93
        assert ("carol" in ids(kb, graph=True, graph_mode=mode, top_k=5)) == found


class TestReports:
    def test_each_sentence_names_its_source_and_the_report_cites_what_it_used(self, kb: KnowledgeBase) -> None:
        report = kb.make_report("Who manages the Berlin office?", budget=40, save=True)
        assert "Carol manages the Berlin office of Acme Corp. [" in report.markdown
        assert "carol" in report.cites
        node = next(node for node in kb.storage.iter_nodes(kind="report"))
        cited = {edge.target for edge in kb.storage.iter_edges(kinds=["cites"]) if edge.source == node.id}
        assert cited == {f"entry:{entry}" for entry in report.cites}

    def test_a_report_is_no_evidence_for_the_next_one(self, kb: KnowledgeBase) -> None:
        first = kb.make_report("Who manages the Berlin office?", save=True)
        assert kb.make_report("Who manages the Berlin office?").cites == first.cites

    def test_removing_what_was_cited_removes_the_edge(self, kb: KnowledgeBase) -> None:
        kb.make_report("Who manages the Berlin office?", save=True)
        kb.remove(["carol"])
        assert "entry:carol" not in {edge.target for edge in kb.storage.iter_edges(kinds=["cites"])}
