"""What users ask of a knowledge base, on a graph in some backend: the answers are those over the memory backend.

A backend's tests subclass `KnowledgeOnABackend` and give its ``graph`` section; pytest's ``pythonpath`` has us.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from test_exact_deletion import ExactDeletion

from graphport import Entry, KnowledgeBase, open_knowledge_base
from graphport_code import find_callers, find_similar, find_symbol, get_call_graph

SOURCE = """class Cart:
    '''Things to buy.'''

    def total(self):
        return self.price() * 2

    def price(self):
        return 3


def checkout(cart: Cart):
    return cart.total()
"""
BOOK = """# The Council

## Trent

Calvin read the decrees of the Council of Trent. Calvin, who lived in Geneva, wrote an Antidote.

## Geneva

Geneva is a city. The Consistory of Geneva met on Thursdays, and Calvin sat in it.
"""
ENTRIES = [
    Entry("carol", "Carol manages the Berlin office of Acme Corp.", "Carol"),
    Entry("bob", "Bob works at Acme Corp and reports to Carol.", "Bob"),
    Entry("acme", "Acme Corp makes anvils.", "Acme Corp"),
    Entry("old", "Acme Corp made rockets with Carol.", "Rockets", valid_to=1.0),
    Entry("secret", "Carol and Bob met in Geneva.", "A meeting", flagged=True),
]
QUESTIONS = ["who manages the office of the company that Bob works at", "what did Calvin write", "cart total"]


def _filled(folder: Path, graph: Mapping[str, Any], texts: Path) -> KnowledgeBase:
    kb = open_knowledge_base(folder, config={"graph": dict(graph)}, embedder=None, clock=lambda: 1000.0)
    kb.add_entity("person", ["John Calvin", "Calvin"])
    kb.add(ENTRIES)
    kb.index([texts])
    return kb


class KnowledgeOnABackend:
    @pytest.fixture
    def graph(self) -> Mapping[str, Any]:
        raise NotImplementedError("the config's graph section")

    @pytest.fixture
    def texts(self, tmp_path: Path) -> Path:
        folder = tmp_path / "texts"
        (folder / "books").mkdir(parents=True)
        (folder / "cart.py").write_text(SOURCE)
        (folder / "books" / "council.md").write_text(BOOK)
        return folder

    @pytest.fixture
    def here(self, tmp_path: Path, graph: Mapping[str, Any], texts: Path) -> Iterator[KnowledgeBase]:
        with _filled(tmp_path / "here", graph, texts) as kb:
            yield kb

    @pytest.fixture
    def in_memory(self, tmp_path: Path, texts: Path) -> Iterator[KnowledgeBase]:
        with _filled(tmp_path / "in-memory", {"backend": "memory"}, texts) as kb:
            yield kb

    def test_the_graph_is_the_same(self, here: KnowledgeBase, in_memory: KnowledgeBase) -> None:
        assert list(here.storage.iter_nodes()) == list(in_memory.storage.iter_nodes())
        assert here.snapshot().same_as(in_memory.snapshot())
        assert here.snapshot().n_edges > 20

    @pytest.mark.parametrize("mode", ["walk", "leg", "rerank", "bounded"])
    def test_search_gives_the_same_hits_for_the_same_reasons(
        self, here: KnowledgeBase, in_memory: KnowledgeBase, mode: str
    ) -> None:
        how = {"graph_mode": "leg", "max_visited": 64} if mode == "bounded" else {"graph_mode": mode}
        for question in QUESTIONS:
            hits = here.search(question, graph=True, explain=True, **how)
            assert hits == in_memory.search(question, graph=True, explain=True, **how)
            assert hits
            assert {hit.entry for hit in hits}.isdisjoint({"old", "secret"})

    def test_the_code_tools_give_the_same_answers(self, here: KnowledgeBase, in_memory: KnowledgeBase) -> None:
        for kb in (here, in_memory):
            (caller,) = find_callers(kb.storage, "Cart.total").callers
            assert (caller.symbol.qualified, caller.line) == ("checkout", 12)
        assert find_symbol(here.storage, "car") == find_symbol(in_memory.storage, "car")
        there = get_call_graph(in_memory.storage, "checkout", depth=3)
        assert get_call_graph(here.storage, "checkout", depth=3) == there
        assert [node.symbol.name for node in there.nodes] == ["checkout", "total", "price"]
        assert find_similar(here, "checkout") == find_similar(in_memory, "checkout")

    def test_entities_are_found_with_what_mentions_them(self, here: KnowledgeBase, in_memory: KnowledgeBase) -> None:
        found = here.find_entity("calvin")
        assert found is not None
        assert found == in_memory.find_entity("calvin")
        assert here.find_entity("nobody of this name") is None
        assert here.list_entities() == in_memory.list_entities()

    def test_a_graph_that_somebody_emptied_is_built_again(
        self, tmp_path: Path, graph: Mapping[str, Any], texts: Path, in_memory: KnowledgeBase
    ) -> None:
        with _filled(tmp_path / "again", graph, texts) as kb:
            kb.storage.clear()
        with open_knowledge_base(tmp_path / "again", config={"graph": dict(graph)}, embedder=None) as kb:
            assert kb.snapshot().same_as(in_memory.snapshot())

    def test_after_any_changes_the_graph_is_the_one_of_what_is_visible(
        self, tmp_path: Path, graph: Mapping[str, Any]
    ) -> None:
        class OnThisBackend(ExactDeletion):
            def opened(self) -> KnowledgeBase:
                folder = tmp_path / f"machine-{len(list(tmp_path.iterdir()))}"
                return open_knowledge_base(folder, config={"graph": dict(graph)}, embedder=None, clock=self.clock)

        run_state_machine_as_test(
            OnThisBackend, settings=settings(max_examples=5, stateful_step_count=12, deadline=None)
        )
