"""A book in a knowledge base: chapters mention what their passages do."""

from __future__ import annotations

from pathlib import Path

from graphport.knowledge.base import open_knowledge_base

BOOK = """# A Short History

## Chapter 1: Geneva

Calvin came to Geneva. Calvin wrote there.

## Chapter 2: Trent

The Council of Trent met at Trent, and Calvin answered it.
"""


def test_a_chapter_mentions_the_entities_of_its_passages_and_is_changed_live(tmp_path: Path) -> None:
    (tmp_path / "history.book.md").write_text(BOOK)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        chapters = {node.name: node.id for node in kb.storage.iter_nodes(kind="chapter")}
        assert len(chapters) == 2
        kb.add_entity("person", ["John Calvin", "Calvin"])
        mentions = {
            edge.source: edge.weight
            for edge in kb.storage.iter_edges(kinds=["mentions"])
            if edge.target == "entity:person:John Calvin" and edge.source in chapters.values()
        }
        assert sorted(mentions.values()) == [1.0, 2.0]
        kb.remove_entity("person", "John Calvin")
        assert "entity:person:John Calvin" not in {node.id for node in kb.storage.iter_nodes(kind="entity")}
