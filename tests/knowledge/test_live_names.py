"""Names are kept up to date at the cost of what changes, whoever changes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphport import Entry, KnowledgeBase, open_knowledge_base
from graphport.builders import Links
from graphport.knowledge import mentions
from graphport.knowledge.vocabulary import Vocabulary

CITIES = [Entry(f"city{number}", "It lies far away.", f"City{number}") for number in range(60)]


def named(kb: KnowledgeBase, text: str) -> list[str]:
    matcher = kb.vocabulary().matcher
    return [node for match in matcher.find(text) for node in match.ids]


@pytest.fixture
def searched_again(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the entries whose texts are searched for mentions, from now on."""
    ids: list[str] = []
    search = mentions.mentions_of

    def noting(db: sqlite3.Connection, entries: Sequence[str], vocabulary: Vocabulary) -> Links:
        ids.extend(entries)
        return search(db, entries, vocabulary)

    monkeypatch.setattr(mentions, "mentions_of", noting)
    return ids


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        kb.add(CITIES)
    return tmp_path / "kb"


def test_names_that_another_process_adds_and_removes_are_taken_in(cities: Path) -> None:
    with open_knowledge_base(cities, embedder=None) as ours, open_knowledge_base(cities, embedder=None) as theirs:
        assert named(ours, "Geneva, City7") == ["phrase:city7"]
        theirs.add([Entry("g", "A lake.", "Geneva")])
        assert named(ours, "Geneva, City7") == ["phrase:geneva", "phrase:city7"]
        theirs.remove(["city7"])
        theirs.add_entity("place", ["Geneva", "Genf"])
        assert named(ours, "Geneva, City7, Genf") == ["entity:place:Geneva", "entity:place:Geneva"]
        theirs.remove_entity("place", "Geneva")
        assert named(ours, "Geneva, City7, Genf") == ["phrase:geneva"]


def test_one_new_name_leaves_the_large_automaton_as_it_is(cities: Path) -> None:
    with open_knowledge_base(cities, embedder=None) as kb:
        before = kb.vocabulary().matcher
        kb.add([Entry("g", "A lake.", "Geneva")])
        after = kb.vocabulary().matcher
        assert after._frozen is before._frozen
        assert "geneva" in after
        assert "geneva" not in before


def test_names_are_read_anew_by_who_missed_changes_that_are_forgotten(
    cities: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_knowledge_base(cities, embedder=None) as ours, open_knowledge_base(cities, embedder=None) as theirs:
        assert named(ours, "City7, Geneva") == ["phrase:city7"]
        monkeypatch.setattr("graphport.knowledge.derived._KEEP_CHANGES", 1)
        theirs.remove(["city7"])
        theirs.add([Entry("g", "A lake.", "Geneva")])
        assert named(ours, "City7, Geneva") == ["phrase:geneva"]


def test_a_title_that_another_entry_has_too_makes_no_other_text_be_searched_again(
    cities: Path, searched_again: list[str]
) -> None:
    with open_knowledge_base(cities, embedder=None) as kb:
        kb.add([Entry("one", "City1 is old.", "Introduction"), Entry("two", "An introduction to City2.", "Other")])
        searched_again.clear()
        kb.add([Entry("three", "City3 is new.", "Introduction")])
        kb.remove(["three"])
        assert set(searched_again) == {"three"}
        kb.remove(["one"])  # the last one that is called so
        assert "two" in searched_again


def test_an_entry_with_a_new_text_and_its_old_title_makes_no_other_text_be_searched_again(
    cities: Path, searched_again: list[str]
) -> None:
    with open_knowledge_base(cities, embedder=None) as kb:
        kb.add([Entry("one", "On the way to City7.")])
        searched_again.clear()
        kb.add([Entry("city7", "It lies near.", "City7")])
        assert set(searched_again) == {"city7"}
        kb.add([Entry("city7", "It lies near.", "Town7")])
        assert set(searched_again) == {"city7", "one"}


@pytest.mark.parametrize("hidden", [{"flagged": True}, {"valid_to": 1.0}])
def test_a_title_given_by_hidden_entries_alone_is_new(
    cities: Path, searched_again: list[str], hidden: dict[str, Any]
) -> None:
    with open_knowledge_base(cities, embedder=None) as kb:
        kb.add([Entry("one", "On the way to Geneva."), Entry("g", "A lake.", "Geneva", **hidden)])
        searched_again.clear()
        kb.add([Entry("h", "A town.", "Geneva")])
        assert "one" in searched_again


def test_a_runtime_entity_without_effect_is_gone_once_it_is_removed(tmp_path: Path) -> None:
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        kb.add_entity("place", "Geneva")
    config = {"vector_dbs": [{"name": "kb", "entities": [{"type": "place", "names": ["Geneva"]}]}]}
    with open_knowledge_base(tmp_path / "kb", config=config, embedder=None) as kb:
        assert [row.shadowed for row in kb.gazetteer_listing()] == [False, True]
        kb.remove_entity("place", "Geneva")
        assert [row.shadowed for row in kb.gazetteer_listing()] == [False]


def test_entities_are_listed_as_they_were_added_whatever_was_removed_in_between(tmp_path: Path) -> None:
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        for name in ("Trent", "Geneva", "Basel"):
            kb.add_entity("place", name)
        kb.remove_entity("place", "Trent")
        kb.add_entity("place", ["Geneva", "Genf"])
        kb.add_entity("place", "Lyon")
        as_added = [row.names for row in kb.gazetteer_listing()]
    assert as_added == [("Geneva", "Genf"), ("Basel",), ("Lyon",)]
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        assert [row.names for row in kb.gazetteer_listing()] == as_added


def test_a_further_name_of_an_entity_makes_no_text_with_its_other_names_be_searched_again(
    cities: Path, searched_again: list[str]
) -> None:
    with open_knowledge_base(cities, embedder=None) as kb:
        kb.add([Entry("one", "We saw Geneva."), Entry("two", "We saw Genf.")])
        kb.add_entity("place", "Geneva")
        searched_again.clear()
        kb.add_entity("place", ["Geneva", "Genf"])
        assert set(searched_again) == {"two"}
        kb.remove_entity("place", "Geneva")
        assert set(searched_again) == {"one", "two"}
