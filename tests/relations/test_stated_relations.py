"""What passages state of entities is in the graph, with the passages that state it, as long as they are visible."""

from __future__ import annotations

from pathlib import Path

from graphport import Edge, EdgeKey, Entry, load_config
from graphport.config import Config
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.opening import open_knowledge_base


def config(patterns: object = "default", **more: object) -> Config:
    entities = [
        {"type": "person", "names": ["John Calvin", "Calvin"]},
        {"type": "book", "names": ["Institutes"]},
        {"type": "council", "names": ["Council of Trent"]},
    ]
    base = {"name": "memory", "entities": entities, "relations": {"patterns": patterns}, **more}
    return load_config({"vector_dbs": [base]})


def stated(kb: KnowledgeBase) -> list[Edge]:
    kinds = {edge.kind for edge in kb.storage.iter_edges()} - {"mentions", "titled", "contains"}
    return list(kb.storage.iter_edges(kinds=kinds))


WROTE = ("entity:person:John Calvin", "entity:book:Institutes", "wrote")


def test_an_edge_weighs_the_passages_that_state_it_and_quotes_the_first() -> None:
    with open_knowledge_base(":memory:", config=config(), embedder=None) as kb:
        kb.add([Entry("b", "Calvin wrote the\nInstitutes. John Calvin wrote the Institutes."), Entry("c", "nothing")])
        kb.add([Entry("a", "The Institutes, written by John Calvin, are long.")])
        (edge,) = stated(kb)
        assert (edge.key, edge.weight) == (WROTE, 2.0)
        assert edge.props == {"text": "Institutes, written by John Calvin"}
        assert kb.evidence(WROTE) == ["a", "b"]
        kb.flag("a")
        assert stated(kb) == [Edge(*WROTE, 1.0, {"text": "Calvin wrote the Institutes"})]
        assert kb.evidence(WROTE) == ["b"]
        kb.remove(["b"])
        assert stated(kb) == []
        assert kb.evidence(WROTE) == []


def test_heading_and_text_are_read_each_for_itself(tmp_path: Path) -> None:
    with open_knowledge_base(":memory:", config=config(), embedder=None) as kb:
        kb.add([Entry("a", "wrote the Institutes", title="Calvin")])
        assert stated(kb) == []
        (tmp_path / "a.md").write_text("# Calvin wrote the Institutes\nand more.\n")
        kb.index([tmp_path])
        assert [edge.key for edge in stated(kb)] == [WROTE]


def test_an_entity_added_later_is_related_at_once_and_a_removed_one_no_more() -> None:
    with open_knowledge_base(":memory:", config=config(), embedder=None) as kb:
        kb.add([Entry("a", "Beza attended the Council of Trent, as nobody knew.")])
        assert stated(kb) == []
        kb.add_entity("person", ["Beza"])
        assert [edge.key for edge in stated(kb)] == [
            ("entity:person:Beza", "entity:council:Council of Trent", "attended")
        ]
        kb.remove_entity("person", "Beza")
        assert stated(kb) == []


def test_other_templates_search_every_text_again(tmp_path: Path) -> None:
    def graph(patterns: object) -> list[tuple[str, str, str]]:
        base = {**config(patterns).vector_dbs[0].model_dump(mode="json"), "name": "base"}
        base["retrieval"].pop("max_visited")
        with open_knowledge_base(f"{tmp_path}/base", config={"vector_dbs": [base]}, embedder=None) as kb:
            if not kb.status().entries:
                kb.add([Entry("a", "John Calvin wrote the Institutes for Calvin")])
            return [edge.key for edge in stated(kb)]

    assert graph({"penned": ["{subject} wrote the {object}"]}) == [(*WROTE[:2], "penned")]
    assert graph({"for": ["{subject} for {object}"]}) == [(WROTE[1], WROTE[0], "for")]
    assert graph({}) == []
    assert graph("default") == [WROTE]


def test_relations_carry_rank_from_the_entity_a_query_names() -> None:
    with open_knowledge_base(":memory:", config=config(), embedder=None) as kb:
        kb.add(
            [
                Entry("states", "Calvin wrote the Institutes."),
                Entry("far", "The Institutes have four books on God, the Redeemer, grace and the church."),
            ]
        )
        hits = {hit.entry: hit for hit in kb.search("John Calvin", graph=True, graph_mode="walk", explain=True)}
        assert "far" in hits


def test_what_passages_state_shows_in_the_neighborhood_of_an_entity() -> None:
    with open_knowledge_base(":memory:", config=config(), embedder=None) as kb:
        kb.add([Entry("a", "Calvin wrote the Institutes.")])
        around = kb.storage.neighborhood(["entity:person:John Calvin"], depth=1, max_nodes=10)
        assert WROTE in {edge.key for edge in around.edges}


def test_a_chapters_heading_states_a_relation_once(tmp_path: Path) -> None:
    paragraph = "He lived in Geneva and worked long on it. " * 60
    (tmp_path / "life.book.md").write_text(
        f"# Life\n\n## Calvin wrote the Institutes\n\n{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n## End\n\nof it.\n"
    )
    with open_knowledge_base(":memory:", config=config(), embedder=None) as kb:
        kb.index([tmp_path])
        assert len(list(kb.entries())) > 2
        assert kb.storage.get_edges([WROTE]) == {
            EdgeKey(*WROTE): Edge(*WROTE, 1.0, {"text": "Calvin wrote the Institutes"})
        }
