"""Every name of a knowledge base and what it leads to, kept up to date at the cost of what changes.

A name is a title, a further name of an entry, or a form of a gazetteer's entity. Titles and names of
entries lead to a phrase, one for all spellings that a text would not tell apart; an entity takes a name
over from a phrase.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from graphport.knowledge.entities import Entity, difference, name_key
from graphport.knowledge.facts import VISIBLE
from graphport.knowledge.gazetteer import Gazetteer
from graphport.knowledge.precedence import CuratedFirst
from graphport.knowledge.truth import Truth
from graphport.layered import Layered
from graphport.patterns import Patterns

PHRASE, ENTITY = "phrase", "entity"


@dataclass(frozen=True, slots=True)
class Named:
    """A node that names lead to: a phrase, or an entity of the gazetteer."""

    id: str
    kind: str
    name: str
    type: str = ""


class Vocabulary:
    """Names with what they lead to, and the ``matcher`` that finds them. Immutable, and empty at first.

    ``patterns`` find what texts state of the entities they name; None where the config has none.
    """

    def __init__(self, patterns: Patterns | None = None) -> None:
        self.patterns = patterns
        self.matcher = CuratedFirst({}, lambda thing: thing.startswith("entity:"))
        self._phrases: Layered[str, str] = Layered({})
        self._gazetteer: Sequence[Entity] = ()
        self._entities: Layered[str, Named] = Layered({})
        self._curated: Layered[str, tuple[str, ...]] = Layered({})  # ids of the entities of each folded name

    def thing(self, node: str) -> Named:
        """What ``node``, an id of one of the matcher's matches, is."""
        return self._entities.get(node) or Named(node, PHRASE, self._phrases[node.removeprefix("phrase:")])

    def type_of(self, node: str) -> str | None:
        """The type of an entity; None for what is none."""
        found = self._entities.get(node)
        return None if found is None else found.type

    def with_phrases(self, spellings: Mapping[str, str | None]) -> Vocabulary:
        """One with other phrases for some folded names: how each is spelled, or None for one that is gone."""
        other = copy(self)
        other._phrases = self._phrases.changed(spellings)
        other._look_for(name for name in spellings if (name in self._phrases) != (name in other._phrases))
        return other

    def with_entities(self, entities: Sequence[Entity]) -> Vocabulary:
        """One with these entities in place of those there are; costs what differs."""
        gone, come = difference(self._gazetteer, entities)
        other = copy(self)
        other._gazetteer = entities
        named: dict[str, Named | None] = {item.id: None for item in gone}
        other._entities = self._entities.changed(
            named | {item.id: Named(item.id, ENTITY, item.names[0], item.type) for item in come}
        )
        owners: dict[str, set[str]] = {}
        for item in (*gone, *come):
            for name in map(name_key, item.names):
                owners.setdefault(name, set(self._curated.get(name, ())))
        for item in gone:
            for name in map(name_key, item.names):
                owners[name].discard(item.id)
        for item in come:
            for name in map(name_key, item.names):
                owners[name].add(item.id)
        other._curated = self._curated.changed({name: tuple(sorted(ids)) or None for name, ids in owners.items()})
        other._look_for(owners)
        return other

    def _look_for(self, names: Iterable[str]) -> None:
        self.matcher = self.matcher.changed({name: self._ids_of(name) for name in names})

    def _ids_of(self, name: str) -> tuple[str, ...]:
        return self._curated.get(name) or ((f"phrase:{name}",) if name in self._phrases else ())


def read_vocabulary(
    db: sqlite3.Connection, entities: Sequence[Entity], now: float, patterns: Patterns | None = None
) -> Vocabulary:
    """Names of the entries visible at ``now`` (seconds since the epoch), and of ``entities``."""
    return Vocabulary(patterns).with_entities(entities).with_phrases(_every_phrase(db, now))


class LiveVocabulary:
    """The vocabulary as it is now; takes in what changed since it was last asked for."""

    def __init__(
        self, truth: Truth, gazetteer: Callable[[], Gazetteer], clock: Callable[[], float], patterns: Patterns | None
    ) -> None:
        self._truth = truth
        self._gazetteer = gazetteer
        self._clock = clock
        self._vocabulary = Vocabulary(patterns)
        self._names = -1  # the revision of the last change that is in the vocabulary; none yet
        self._curated: str | None = None

    def __call__(self) -> Vocabulary:
        with self._truth.read() as db:  # one lock alone: whoever writes holds it and asks for this too
            names, curated = int(self._truth.meta("names") or 0), self._truth.meta("curated")
            vocabulary, now = self._vocabulary, self._clock()
            if names != self._names and self._names < int(self._truth.meta("pruned") or 0):
                vocabulary = read_vocabulary(db, self._gazetteer().effective, now, vocabulary.patterns)
            else:
                if curated != self._curated:
                    vocabulary = vocabulary.with_entities(self._gazetteer().effective)
                if names != self._names:
                    vocabulary = vocabulary.with_phrases(_phrases(db, _changed_names(db, self._names), now))
            self._vocabulary, self._names, self._curated = vocabulary, names, curated
            return vocabulary


def _changed_names(db: sqlite3.Connection, since: int) -> list[str]:
    rows = db.execute("SELECT key FROM changes WHERE what = 'name' AND revision > ?", (since,))
    return [row[0] for row in rows]


def _every_phrase(db: sqlite3.Connection, now: float) -> dict[str, str | None]:
    """How each name of a visible entry is spelled, by folded name: of several spellings the first by code point."""
    # Those that are hidden are few and in indexes of their own: half the time of a join with all entries.
    rows = db.execute(
        "SELECT folded, min(form) FROM forms WHERE entry NOT IN (SELECT id FROM entries WHERE flagged "
        "UNION SELECT id FROM entries WHERE valid_to <= :now) GROUP BY folded",
        {"now": now},
    )
    return dict(rows)


def _phrases(db: sqlite3.Connection, names: Iterable[str], now: float) -> dict[str, str | None]:
    """`_every_phrase` of some folded names; None for one that no visible entry has."""
    rows = db.execute(
        "SELECT j.value, (SELECT min(f.form) FROM forms f JOIN entries e ON e.id = f.entry "  # noqa: S608 - a constant
        f"WHERE f.folded = j.value AND {VISIBLE}) FROM json_each(:names) j",
        {"names": json.dumps(list(names)), "now": now},
    )
    return dict(rows)
