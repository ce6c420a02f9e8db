"""Linkers in a knowledge base: chosen by config or call, kept up with its names, said in explanations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphport import Entry, KnowledgeBase, load_config, open_knowledge_base
from graphport.config import LinkerName
from graphport.errors import ConfigError, InvalidQueryError, UnsupportedError
from graphport.knowledge import linkable, reporting
from graphport.knowledge.linkers import VECTOR_FILE
from graphport.retrieval import fuzzy, similar_names
from graphport.retrieval.packing import Packed, pack_evidence

FUZZY: tuple[LinkerName, ...] = ("containment", "fuzzy")
ENTRIES = [
    Entry("film", "A silent film of 1928, directed by Jane Roe.", title="Harbour Lights"),
    Entry("director", "She was born in Bergen and died in 1931.", title="Jane Roe"),
    Entry("other", "Where film directors were born is often unknown.", title="Birthplaces"),
]
QUESTION = "Where was the director of Harbor Lihgts born?"


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    with open_knowledge_base(":memory:", embedder=None) as opened:
        opened.add(ENTRIES)
        yield opened


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], "f4")


def test_a_misspelt_question_is_answered_where_the_fuzzy_linker_is_on(kb: KnowledgeBase) -> None:
    without = kb.search(QUESTION, graph=True, explain=True)
    assert without[0].explanation is not None
    assert without[0].explanation.links == ()
    hits = kb.search(QUESTION, graph=True, explain=True, linkers=FUZZY, top_k=2)
    assert {hit.entry for hit in hits} == {"film", "director"}
    for hit in hits:
        assert hit.explanation is not None
        (link,) = hit.explanation.links
        assert (link.written, link.node, link.linker) == ("Harbor Lihgts", "phrase:harbour lights", "fuzzy")
        assert link.score == pytest.approx(1 - 2 / 14)


@pytest.mark.parametrize("mode", [{"graph_mode": "leg"}, {"max_visited": 50}])
def test_every_way_to_use_the_graph_links_alike(kb: KnowledgeBase, mode: dict[str, object]) -> None:
    hits = kb.search(QUESTION, graph=True, explain=True, linkers=FUZZY, **mode)  # type: ignore[arg-type]  # by name
    assert hits[0].explanation is not None
    assert [link.node for link in hits[0].explanation.links] == ["phrase:harbour lights"]


def test_names_that_come_and_go_are_known_at_once(kb: KnowledgeBase) -> None:
    def linked(query: str) -> list[str]:
        hits = kb.search(query, graph=True, explain=True, linkers=FUZZY)
        return [link.node for link in hits[0].explanation.links] if hits and hits[0].explanation else []

    assert linked("the director of Paper Morning") == []
    kb.add([Entry("second", "A film by Jane Roe.", title="Paper Mornings")])
    assert linked("the director of Paper Morning") == ["phrase:paper mornings"]
    kb.add_entity("person", ["Jane Roe", "Giovanna Capriolo"])
    assert linked("the director Giovana Capriolo") == ["entity:person:Jane Roe"]
    kb.add_entity("person", ["Jane Roe", "Zebulon Quartz"])  # changes no edge of the graph
    assert linked("the director Zebulon Quarts") == ["entity:person:Jane Roe"]
    kb.remove(["second"])
    assert linked("the director of Paper Morning") == []


def test_the_config_chooses_linkers_and_refuses_wrong_ones() -> None:
    def config(linkers: list[str]) -> object:
        return load_config({"vector_dbs": [{"name": "memory", "retrieval": {"graph": True, "linkers": linkers}}]})

    with open_knowledge_base(":memory:", config=config([*FUZZY]), embedder=None) as kb:  # type: ignore[arg-type]  # any mapping
        kb.add(ENTRIES)
        assert {hit.entry for hit in kb.search(QUESTION, top_k=2)} == {"film", "director"}
    for wrong in ([], ["soundex"], ["fuzzy", "fuzzy"]):
        with pytest.raises(ConfigError, match="bad-knowledge-linkers"):
            config(wrong)


@pytest.mark.parametrize("wrong", [[], ["soundex"], ["fuzzy", "fuzzy"]])
def test_wrong_linkers_of_a_call_are_refused(kb: KnowledgeBase, wrong: list[str]) -> None:
    with pytest.raises(InvalidQueryError, match="linkers"):
        kb.search(QUESTION, graph=True, linkers=wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_off_makes_no_index(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("an index was made for a linker that is off")

    monkeypatch.setattr(fuzzy, "FuzzyNames", refuse)
    monkeypatch.setattr(similar_names, "SimilarNames", refuse)
    monkeypatch.setattr(linkable, "linkable_names", refuse)
    kb.search(QUESTION, graph=True)
    kb.search(QUESTION, graph=False, linkers=FUZZY)


def test_the_embedding_linker_keeps_the_vectors_of_names_between_sessions(tmp_path: Path) -> None:
    asked: list[str] = []

    def counting(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.extend(texts)
        return letters(texts)

    both: tuple[LinkerName, ...] = ("containment", "embedding")
    with open_knowledge_base(tmp_path / "kb", embedder=counting) as kb:
        kb.add(ENTRIES)
        hits = kb.search("Who shot Lights Harbour?", graph=True, explain=True, linkers=both)
        assert hits[0].explanation is not None
        assert ("phrase:harbour lights", "embedding") in [(one.node, one.linker) for one in hits[0].explanation.links]
        assert "Harbour Lights" in asked
        assert "Bergen" not in asked  # one entry alone mentions it, and none is called so
    asked.clear()
    with open_knowledge_base(tmp_path / "kb", embedder=counting) as kb:
        again = kb.search("Who shot Lights Harbour?", graph=True, explain=True, linkers=both)
        assert again == hits
        assert "Harbour Lights" not in asked
        kb.forget_vectors()
    assert not (tmp_path / "kb" / VECTOR_FILE).exists()


def test_a_damaged_file_of_name_vectors_is_made_anew(tmp_path: Path) -> None:
    both: tuple[LinkerName, ...] = ("containment", "embedding")
    with open_knowledge_base(tmp_path / "kb", embedder=letters) as kb:
        kb.add(ENTRIES)
        before = kb.search("Who shot Lights Harbour?", graph=True, explain=True, linkers=both)
    (tmp_path / "kb" / VECTOR_FILE).write_bytes(b"no database at all" * 100)
    with open_knowledge_base(tmp_path / "kb", embedder=letters) as kb:
        assert kb.search("Who shot Lights Harbour?", graph=True, explain=True, linkers=both) == before


def test_the_embedding_linker_without_an_embedder_is_an_error(kb: KnowledgeBase) -> None:
    with pytest.raises(UnsupportedError, match="embedding linker needs an embedder"):
        kb.search(QUESTION, graph=True, linkers=("embedding",))


def test_a_report_counts_the_entities_of_the_query(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    def spy(*args: Any, **options: Any) -> Packed:
        seen.update(options)
        return pack_evidence(*args, **options)

    monkeypatch.setattr(reporting, "pack_evidence", spy)
    kb.make_report("What did Jane Roe direct?", 100)
    assert seen["entities"] == {"director": ["phrase:jane roe"], "film": ["phrase:jane roe"]}
    kb.make_report("What did Jane Roe direct?", 100, graph=False)
    assert seen["entities"] == {}
