"""After any sequence of changes the graph is the one built from scratch from what is visible."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import ClassVar

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from graphport import Edge, Entry, GraphSnapshot
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.opening import open_knowledge_base

NAMES = ["Trent", "Council of Trent", "Calvin", "Geneva", "trent", "CALVIN", "the Council"]
WORDS = [*NAMES, "met at", "wrote of the", "and", "Calvinism", "."]

ids = st.sampled_from(["a", "b", "c", "d"])
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
titles = st.sampled_from(["", *NAMES])

# So much stays that a change is small beside it and is made by upserts and deletes, not by a whole load.
KEPT = [
    Entry(f"kept-{n}", f"Calvin of {city} met {other}.", city)
    for n, (city, other) in enumerate(permutations(["Geneva", "Basel", "Zurich", "Lyon", "Bern"], 2))
]


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def graph_of(kb: KnowledgeBase) -> GraphSnapshot:
    return kb.snapshot()


def edges_of(kb: KnowledgeBase) -> list[Edge]:
    return list(kb.storage.iter_edges())


class ExactDeletion(RuleBasedStateMachine):
    """The model is a dict of entries and a set of entities; the oracle is a new knowledge base."""

    config: ClassVar[dict[str, object]] = {}

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.kb = self.opened()
        self.entries = {entry.id: entry for entry in KEPT}
        self.kb.add(KEPT)
        self.entities: set[tuple[str, str]] = set()

    def opened(self) -> KnowledgeBase:
        """The knowledge base under test; other backends give theirs."""
        return open_knowledge_base(":memory:", config=self.config, embedder=None, clock=self.clock)

    def teardown(self) -> None:
        self.kb.close()

    @rule(entry=ids, title=titles, text=texts, names=st.lists(st.sampled_from(NAMES), max_size=1))
    def add_or_change(self, entry: str, title: str, text: str, names: list[str]) -> None:
        self.entries[entry] = Entry(entry, text, title, names=tuple(names))
        self.kb.add([self.entries[entry]])

    @rule(entry=ids)
    def remove(self, entry: str) -> None:
        assert self.kb.remove([entry]) == (entry in self.entries)
        self.entries.pop(entry, None)

    @rule(entry=ids, flagged=st.booleans())
    def flag(self, entry: str, flagged: bool) -> None:
        if entry in self.entries:
            self.entries[entry] = replace(self.entries[entry], flagged=flagged)
            self.kb.flag(entry, flagged=flagged)

    @rule(entry=ids, after=st.one_of(st.none(), st.integers(-5, 20)))
    def expire(self, entry: str, after: int | None) -> None:
        if entry in self.entries:
            valid_to = None if after is None else self.clock.now + after
            self.entries[entry] = replace(self.entries[entry], valid_to=valid_to)
            self.kb.expire(entry, valid_to)

    @rule(seconds=st.integers(1, 30))
    def time_passes(self, seconds: int) -> None:
        self.clock.now += seconds

    @rule(kind=st.sampled_from(["place", "thing"]), name=st.sampled_from(NAMES[:4]))
    def add_entity(self, kind: str, name: str) -> None:
        self.kb.add_entity(kind, [name])
        self.entities.add((kind, name))

    @rule(kind=st.sampled_from(["place", "thing"]), name=st.sampled_from(NAMES[:4]))
    def remove_entity(self, kind: str, name: str) -> None:
        if (kind, name) in self.entities:
            self.kb.remove_entity(kind, name)
            self.entities.remove((kind, name))

    @invariant()
    def graph_is_that_of_what_is_visible(self) -> None:
        visible = [
            entry
            for entry in self.entries.values()
            if not entry.flagged and (entry.valid_to is None or entry.valid_to > self.clock.now)
        ]
        with open_knowledge_base(":memory:", config=self.config, embedder=None, clock=self.clock) as fresh:
            for kind, name in sorted(self.entities):
                fresh.add_entity(kind, [name])
            fresh.add(visible)
            assert edges_of(self.kb) == edges_of(fresh)
            assert list(self.kb.storage.iter_nodes()) == list(fresh.storage.iter_nodes())
            assert graph_of(self.kb).same_as(graph_of(fresh))
            past = self.kb.snapshot(as_of=self.clock.now)
            assert past.same_as(graph_of(fresh))
            assert self.kb.list_entities(limit=None) == fresh.list_entities(limit=None)
            for kind, name in sorted(self.entities):
                assert self.kb.find_entity(name, kind, limit=None) == fresh.find_entity(name, kind, limit=None)


TestExactDeletion = ExactDeletion.TestCase
TestExactDeletion.settings = settings(max_examples=30, stateful_step_count=15, deadline=None)


class ExactRelations(ExactDeletion):
    """The same with relations: a weight of ``co_occurs`` depends on every entry."""

    config: ClassVar[dict[str, object]] = {
        "vector_dbs": [
            {
                "name": "memory",
                "relations": {
                    "co_occurs": 2,
                    "patterns": {"met_at": ["{subject} met at {object}"], "wrote": ["{subject} wrote of the {object}"]},
                },
                "entities": [
                    {"type": "person", "names": ["Calvin"]},
                    {"type": "town", "names": ["Geneva"]},
                    {"type": "council", "names": ["Council of Trent", "Trent"]},
                ],
            }
        ]
    }


TestExactRelations = ExactRelations.TestCase
TestExactRelations.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)
