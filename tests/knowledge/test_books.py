"""A book in a knowledge base: chapters mention what their passages do."""

from __future__ import annotations

from pathlib import Path

from graphport.knowledge.opening import open_knowledge_base

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


def test_a_folder_called_books_is_one_when_it_is_itself_indexed_and_so_is_one_of_its_files(tmp_path: Path) -> None:
    for source in (tmp_path / "a" / "books", tmp_path / "b" / "books"):
        source.mkdir(parents=True)
        (source / "history.md").write_text(BOOK)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path / "a" / "books"])
        kb.index([tmp_path / "b" / "books" / "history.md"])
        books = [node.id for node in kb.storage.iter_nodes(kind="book")]
    assert books == ["book:books/history.md", "book:history.md"]


def test_blank_files_stop_no_index_run(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "c.book.md", "d.book.txt"):
        (tmp_path / name).write_text(" \n\n")
    with open_knowledge_base(":memory:", embedder=None) as kb:
        report = kb.index([tmp_path])
        assert (report.added, report.entries, report.skipped) == (4, 0, {"empty": 4})


def test_pages_right_in_the_folder_that_is_indexed_are_one_book_called_like_it(tmp_path: Path) -> None:
    source = tmp_path / "gibbon"
    source.mkdir()
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><body><h2>{0}</h2><p>Text of {0}.</p></body></html>'
    for name in ("One", "Two"):
        (source / f"chapter-{name}.xhtml").write_text(page.format(name))
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([source])
        (book,) = kb.storage.iter_nodes(kind="book")
        following = [(edge.source, edge.target) for edge in kb.storage.iter_edges(kinds=["next"])]
    assert (book.id, book.name) == ("book:gibbon", "gibbon")
    assert following == [("chapter:chapter-One.xhtml#1", "chapter:chapter-Two.xhtml#1")]


def test_a_name_counts_as_often_as_it_stands_in_the_text_and_in_a_chapters_heading_once(tmp_path: Path) -> None:
    long = "\n\n".join(f"Calvin wrote. {'Many words follow on this. ' * 50}" for _ in range(3))
    text = f"Title: Calvin and Trent\n\nCHAPTER I\n\nTrent\n\n{long}\n\nCHAPTER II\n\nOf Others\n\nThe end of Trent."
    (tmp_path / "history.book.txt").write_text(text)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        kb.add_entity("person", "Calvin")
        kb.add_entity("council", "Trent")
        weights = {
            (edge.source.split(":")[0], edge.source[-3:], edge.target.split(":")[1]): edge.weight
            for edge in kb.storage.iter_edges(kinds=["mentions"])
            if not edge.target.startswith("entity:topic")
        }
    texts = {
        key[1:]: weight for key, weight in weights.items() if key[0] == "passage" and key[2] in ("person", "council")
    }
    assert texts == {("1.1", "person"): 1, ("1.2", "person"): 1, ("1.3", "person"): 1, ("2.1", "council"): 1}
    chapters = {key[1:]: weight for key, weight in weights.items() if key[0] == "chapter"}
    assert chapters == {("t#1", "person"): 3, ("t#1", "council"): 1, ("t#2", "council"): 1}


def test_a_section_mentions_what_its_heading_names_once_and_a_file_name_is_no_mention(tmp_path: Path) -> None:
    (tmp_path / "calvin.md").write_text("# Calvin\n\nHe came to Geneva.\n\n# Others\n\nNobody.\n")
    (tmp_path / "geneva.txt").write_text("Calvin lived here.\n")
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        kb.add_entity("person", "Calvin")
        kb.add_entity("location", "Geneva")
        found = {
            (edge.source, edge.target.split(":")[1]): edge.weight
            for edge in kb.storage.iter_edges(kinds=["mentions"])
            if edge.target.startswith("entity:")
        }
    assert found == {
        ("heading:calvin.md#calvin", "person"): 1,
        ("heading:calvin.md#calvin", "location"): 1,
        ("passage:geneva.txt#~1", "person"): 1,
    }
