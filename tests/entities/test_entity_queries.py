"""Which entities there are, how often texts mention them, and where: counted by eye."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphport import Entry, KnowledgeBase, open_knowledge_base
from graphport.errors import InvalidIdError, InvalidQueryError, UnsupportedError
from graphport.knowledge.entity_queries import EntityQueries, ListedEntity

NOTES = [
    Entry("a", "Geneva lies at a lake. John Calvin preached in GENEVA.", title="A town"),
    Entry("b", "Calvin was born in Noyon.", title="John Calvin"),
    Entry("c", "Nothing of the kind."),
]
BOOK = """# A Short History

## Of Geneva

Calvin came to Geneva. Calvin wrote.

## Of Others

And Calvin answered.
"""
CALVIN = "entity:person:John Calvin"


@pytest.fixture(params=["memory", "kuzu"])
def kb(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param != "memory":
        pytest.importorskip("ladybug")
    config = {"graph": {"backend": request.param}}
    with open_knowledge_base(tmp_path / "kb", config=config, embedder=None) as opened:
        opened.add(NOTES)
        opened.add_entity("person", ["John Calvin", "Calvin", "Jean Calvin"])
        opened.add_entity("location", ["Geneva", "Genf"])
        yield opened


def counts(kb: KnowledgeBase, name: str) -> dict[str, float]:
    found = kb.find_entity(name)
    return {} if found is None else {mention.entry: mention.count for mention in found.mentions}


@pytest.mark.parametrize("name", ["Geneva", "genf", "GENF", " Geneva "])
def test_an_entity_is_found_by_any_name_in_any_case_with_the_texts_that_mention_it(
    kb: KnowledgeBase, name: str
) -> None:
    found = kb.find_entity(name)
    assert found is not None
    assert (found.id, found.type, found.name) == ("entity:location:Geneva", "location", "Geneva")
    assert (found.count, found.texts, found.chapters, found.others) == (2, 1, (), ())
    assert counts(kb, name) == {"a": 2}


def test_a_text_titled_with_the_name_comes_first(kb: KnowledgeBase) -> None:
    found = kb.find_entity("Calvin")
    assert found is not None
    assert [(text.entry, text.titled, text.title) for text in found.mentions] == [
        ("b", True, "John Calvin"),
        ("a", False, "A town"),
    ]


def test_the_answers_are_what_the_graph_holds(kb: KnowledgeBase) -> None:
    edges = [edge for edge in kb.storage.iter_edges(kinds=["mentions", "titled"]) if edge.target == CALVIN]
    assert counts(kb, "Calvin") == {edge.source.removeprefix("entry:"): edge.weight for edge in edges}


def test_what_is_no_entity_is_none_and_a_curated_one_without_mentions_is_not(kb: KnowledgeBase) -> None:
    assert kb.find_entity("Nobody") is None
    assert kb.find_entity("Geneva", "person") is None
    assert kb.find_concept("Geneva") is None
    kb.add_entity("person", "Zwingli")
    found = kb.find_entity("zwingli")
    assert found is not None
    assert (found.id, found.count, found.texts, found.mentions) == ("entity:person:Zwingli", 0, 0, ())


@pytest.mark.parametrize("name", ["", "!!", "\0", "—"])
def test_what_no_text_can_mention_is_refused(kb: KnowledgeBase, name: str) -> None:
    with pytest.raises(InvalidIdError):
        kb.find_entity(name)


def test_entities_are_listed_most_mentioned_first_and_only_those_that_are_mentioned(kb: KnowledgeBase) -> None:
    kb.add_entity("person", "Zwingli")
    kb.add_entity("location", "Noyon")
    listed = kb.list_entities()
    assert listed == [
        ListedEntity("entity:location:Geneva", "location", "Geneva", 2, 1),
        ListedEntity(CALVIN, "person", "John Calvin", 2, 2),
        ListedEntity("entity:location:Noyon", "location", "Noyon", 1, 1),
    ]
    assert kb.list_entities("location") == [listed[0], listed[2]]
    assert kb.list_entities(limit=1) == listed[:1]
    assert kb.list_entities("nothing") == kb.list_entities(limit=0) == []


def test_answers_are_bounded_and_say_how_much_there_is(kb: KnowledgeBase) -> None:
    found = kb.find_entity("Calvin", limit=1)
    assert found is not None
    assert (len(found.mentions), found.texts) == (1, 2)
    for wrong in (-1, True):
        with pytest.raises(InvalidQueryError, match="from 0 on, or None"):
            kb.list_entities(limit=wrong)


def test_a_chapter_that_has_the_name_in_its_heading_alone_is_told_and_counts_as_no_text(tmp_path: Path) -> None:
    (tmp_path / "trent.book.md").write_text("# A\n\n## Trent\n\nA council sat.\n\n## Two\n\nNothing.\n")
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        kb.add_entity("location", "Trent")
        found = kb.find_entity("Trent", "location")
        assert found is not None
        assert [(chapter.title, chapter.count) for chapter in found.chapters] == [("Trent", 1)]
        assert (found.count, found.texts, found.mentions) == (0, 0, ())
        assert kb.list_entities("location") == [ListedEntity("entity:location:Trent", "location", "Trent", 0, 0)]


def test_what_is_hidden_does_not_count_and_comes_back(kb: KnowledgeBase) -> None:
    kb.flag("a")
    assert counts(kb, "Geneva") == {}
    assert [item.id for item in kb.list_entities()] == [CALVIN]
    kb.flag("a", flagged=False)
    assert counts(kb, "Geneva") == {"a": 2}


def test_what_has_expired_does_not_count() -> None:
    now = [1000.0]
    with open_knowledge_base(":memory:", embedder=None, clock=lambda: now[0]) as kb:
        kb.add([Entry("a", "Geneva", valid_to=1010), Entry("b", "Geneva and Geneva")])
        kb.add_entity("location", "Geneva")
        assert counts(kb, "Geneva") == {"b": 2, "a": 1}
        now[0] = 1020.0
        assert counts(kb, "Geneva") == {"b": 2}


def test_an_entity_is_known_to_the_next_question_and_gone_with_it(kb: KnowledgeBase) -> None:
    assert kb.find_entity("Noyon") is None
    kb.add_entity("location", "Noyon")
    assert counts(kb, "Noyon") == {"b": 1}
    kb.remove_entity("location", "Noyon")
    assert kb.find_entity("Noyon") is None


def test_a_factor_on_mentions_scales_ranks_and_not_counts() -> None:
    config = {"vector_dbs": [{"name": "memory", "relation_weights": {"mentions": 0.1}}]}
    with open_knowledge_base(":memory:", config=config, embedder=None) as kb:
        kb.add(NOTES)
        kb.add_entity("location", "Geneva")
        assert counts(kb, "Geneva") == {"a": 2}


def test_without_a_graph_no_name_is_linked_and_the_question_is_refused() -> None:
    config = {"vector_dbs": [{"name": "memory", "strategy": {"graph": False}}]}
    with open_knowledge_base(":memory:", config=config, embedder=None) as kb, pytest.raises(UnsupportedError):
        kb.find_entity("Geneva")


def test_a_book_answers_with_its_chapters_most_mentions_first(tmp_path: Path) -> None:
    (tmp_path / "short.book.md").write_text(BOOK)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        kb.add_entity("person", ["John Calvin", "Calvin"])
        found = kb.find_entity("calvin")
        assert found is not None
        assert [(chapter.title, chapter.count, chapter.props["book"]) for chapter in found.chapters] == [
            ("Of Geneva", 2, "A Short History"),
            ("Of Others", 1, "A Short History"),
        ]
        assert (found.in_chapters, found.texts, found.count) == (2, 2, 3)
        assert [text.document for text in found.mentions] == ["short.book.md", "short.book.md"]
        topic = kb.find_concept("calvin")
        assert topic is not None
        assert topic.id == "entity:topic:Calvin"


def test_a_curated_entity_comes_before_the_concept_that_a_book_brings(tmp_path: Path) -> None:
    (tmp_path / "short.book.md").write_text(BOOK)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        topic = kb.find_entity("Geneva")
        assert topic is not None
        assert topic.id == "entity:topic:Geneva"
        kb.add_entity("location", "Geneva")
        found = kb.find_entity("Geneva")
        assert found is not None
        assert (found.id, [item.id for item in found.others]) == ("entity:location:Geneva", [topic.id])
        assert found.others[0].mentions > found.count  # salience weighs the heading; being curated comes first


def test_many_questions_count_the_mentions_once(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 0
    real = EntityQueries._state  # pyright: ignore[reportPrivateUsage] - what is kept is looked at

    def state(self: EntityQueries) -> Any:
        nonlocal counted
        before = self._known
        after = real(self)
        counted += after is not before
        return after

    monkeypatch.setattr(EntityQueries, "_state", state)
    for _ in range(3):
        kb.list_entities()
        kb.find_entity("Geneva")
    assert counted == 1
    kb.add([Entry("d", "Geneva")])
    assert counts(kb, "Geneva") == {"a": 2, "d": 1}
    assert counted == 2


def test_names_that_need_quoting_are_found() -> None:
    names = ["O'Neil", 'the "Roi"', "50%_x", "İstanbul", "Straße", "東京"]
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.add([Entry(str(place), f"We saw {name} there.") for place, name in enumerate(names)])
        for name in names:
            kb.add_entity("thing", name)
        assert [counts(kb, name) for name in names] == [{str(place): 1} for place in range(len(names))]
        assert counts(kb, "STRASSE") == {"4": 1}
        assert json.dumps([item.id for item in kb.list_entities()])
