"""Asking for entities: which there are, how often the texts mention each, and where.

The answers come from the facts, so they are the same on every backend. Only what is visible counts. What a
name that several entities share is taken for comes from `graphport.knowledge.readings`; where no name is
shared, nothing of it runs.
"""

from __future__ import annotations

import json
import math
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphport.errors import InvalidQueryError
from graphport.knowledge.entities import name_key
from graphport.knowledge.facts import VISIBLE
from graphport.knowledge.gazetteer import Gazetteer
from graphport.knowledge.ingest import HAND_ADDED, folded
from graphport.knowledge.readings import DIGITS, Decision, Readings, contested_names, read_shared_names, texts_to_read
from graphport.knowledge.truth import Truth
from graphport.knowledge.vocabulary import Vocabulary
from graphport.matching import fold

# Half-open ranges of ids and kinds that SQLite finds by its indexes.
_ENTITY_IDS = "{0} >= 'entity:' AND {0} < 'entity;' AND instr(substr({0}, 8), ':')"
_ABOUT = "f.kind IN ('mentions', 'titled')"


@dataclass(frozen=True, slots=True)
class ListedEntity:
    """An entity, how often the texts mention it in all, and how many do.

    A mention of a name that several entities share counts for each by its share.
    """

    id: str
    type: str
    name: str
    mentions: float = 0.0
    texts: int = 0


@dataclass(frozen=True, slots=True)
class ChapterMention:
    """A chapter of a book (or another whole without a text of its own) that mentions an entity ``count`` times."""

    node: str
    kind: str
    title: str
    props: Mapping[str, Any]
    count: float
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class TextMention:
    """A text that mentions an entity ``count`` times; ``titled``: its own title names the entity.

    ``decisions``: how the shared names in it were read.
    """

    node: str
    entry: str
    title: str
    document: str
    start_line: int
    titled: bool
    count: float
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity, with the chapters that mention it, the most mentions first, and the texts, those titled so first.

    ``count`` is how often the texts mention it, ``texts`` how many do and ``in_chapters`` how many chapters,
    shown or not. ``others`` are further entities of the name, the best first.
    """

    id: str
    type: str
    name: str
    count: float
    texts: int
    in_chapters: int
    chapters: tuple[ChapterMention, ...]
    mentions: tuple[TextMention, ...]
    others: tuple[ListedEntity, ...]


@dataclass(frozen=True, slots=True)
class _Curated:
    """A gazetteer, the ids of each of its folded ``names``, and of those ``shared``; ``contested`` have such a one."""

    gazetteer: Gazetteer
    names: Mapping[str, Sequence[str]]
    shared: Mapping[str, tuple[str, ...]]
    contested: frozenset[str]

    @classmethod
    def of(cls, gazetteer: Gazetteer) -> _Curated:
        shared = contested_names(gazetteer)
        names = _by_name((name_key(name), item.id) for item in gazetteer.effective for name in item.names)
        return cls(gazetteer, names, shared, frozenset(entity for ids in shared.values() for entity in ids))


@dataclass(slots=True)
class _State:
    """What is known of the entities in one state of the truth.

    ``counted`` takes every mention in full; ``by_name`` has the ids of these by the name that a text has.
    """

    revision: int
    now: float
    curated: _Curated
    counted: dict[str, ListedEntity]
    by_name: Mapping[str, Sequence[str]]
    readings: Readings | None = None
    resolved: dict[str, ListedEntity] = field(default_factory=dict[str, ListedEntity])

    def named(self, name: str) -> list[str]:
        """Ids of the entities of a folded name, the curated ones first."""
        return list(dict.fromkeys([*self.curated.names.get(name, ()), *self.by_name.get(name, ())]))


class EntityQueries:
    """The entities of one knowledge base; what was counted is kept while nothing changes.

    Whoever asks has settled the knowledge base before: then a text that expires moves the revision, too.
    """

    def __init__(
        self,
        truth: Truth,
        gazetteer: Callable[[], Gazetteer],
        vocabulary: Callable[[], Vocabulary],
        clock: Callable[[], float],
    ) -> None:
        self._truth = truth
        self._gazetteer = gazetteer
        self._vocabulary = vocabulary
        self._clock = clock
        self._lock = threading.Lock()
        self._known: _State | None = None

    def find(self, name: str, entity_type: str | None, limit: int | None) -> FoundEntity | None:
        """The entity of that name, in any case, or alias; None if there is none.

        Of several the curated ones come before those that books bring by themselves, then the most mentioned.
        """
        wanted = fold(name)
        _check_limit(limit)
        with self._lock:
            state = self._state()
            ids = [item for item in state.named(wanted) if entity_type in (None, _type_of(item))]
            if not ids:
                return None
            named = sorted(self._numbers(state, ids), key=lambda item: _foremost(item, state.curated.gazetteer))
            return self._told(state, named[0], named[1:], limit)

    def listed(self, entity_type: str | None, limit: int | None) -> list[ListedEntity]:
        """The entities of a type that texts mention, the most mentioned first, then by id."""
        _check_limit(limit)
        with self._lock:
            state = self._state()
            ids = [item for item in state.counted if entity_type in (None, _type_of(item))]
            found = [item for item in self._numbers(state, ids) if item.texts or item.id not in state.resolved]
        return sorted(found, key=lambda item: (-item.mentions, item.id))[:limit]

    def _state(self) -> _State:
        now = self._clock()
        with self._truth.read() as db:
            revision = self._truth.revision()
            if self._known is None or self._known.revision != revision:
                gazetteer = self._gazetteer()
                curated = None if self._known is None else self._known.curated
                if curated is None or curated.gazetteer is not gazetteer:
                    curated = _Curated.of(gazetteer)
                counted = _counted(db, now)
                names = ((folded(entity.name), entity.id) for entity in counted.values())
                by_name = _by_name((name, entity) for name, entity in names if name is not None)
                self._known = _State(revision, now, curated, counted, by_name)
            return self._known

    def _numbers(self, state: _State, ids: Iterable[str]) -> list[ListedEntity]:
        """The entities as counted, and those with a shared name as it was read."""
        wanted = list(ids)
        asked = [item for item in wanted if item in state.curated.contested and item not in state.resolved]
        if asked:
            readings = self._readings(state)
            with self._truth.read() as db:
                rows = _mentions(db, asked, state.now)
            for entity in asked:
                state.resolved[entity] = _resolved(_entity(entity, state), rows.get(entity, ()), readings)
        return [state.resolved[item] if item in state.curated.contested else _entity(item, state) for item in wanted]

    def _readings(self, state: _State) -> Readings:
        if state.readings is None:
            with self._truth.read() as db:
                contested = state.curated.contested
                texts = texts_to_read(db, state.curated.gazetteer, contested, state.now) if contested else []
            matcher = self._vocabulary().matcher if texts else None
            state.readings = (
                Readings()
                if matcher is None
                else read_shared_names(texts, state.curated.gazetteer, state.curated.shared, matcher)
            )
        return state.readings

    def _told(
        self, state: _State, found: ListedEntity, others: Sequence[ListedEntity], limit: int | None
    ) -> FoundEntity:
        with self._truth.read() as db:
            rows = _mentions(db, [found.id], state.now).get(found.id, [])
        is_contested = found.id in state.resolved
        readings = self._readings(state) if is_contested else Readings()
        texts = [mention for row in rows if row.stands and (mention := _text(row, found.id, readings)).count]
        texts.sort(key=lambda item: (not item.titled, -item.count, item.node))
        chapters = _chapters([row for row in rows if not row.stands], found.id, readings)

        def told(node: str) -> tuple[Decision, ...]:
            return readings.decisions(node, found.id)

        return FoundEntity(
            id=found.id,
            type=found.type,
            name=found.name,
            count=found.mentions,
            texts=found.texts,
            in_chapters=len(chapters),
            chapters=tuple(replace(item, decisions=told(item.node)) for item in chapters[:limit]),
            mentions=tuple(replace(item, decisions=told(item.node)) for item in texts[:limit]),
            others=tuple(others[:limit]),
        )


def _check_limit(limit: int | None) -> None:
    """`InvalidQueryError` unless it is a number of answers, or None for all."""
    if limit is not None and (isinstance(limit, bool) or limit < 0):
        raise InvalidQueryError(f"limit is {limit!r}; give a number from 0 on, or None for everything")


@dataclass(frozen=True, slots=True)
class _Row:
    """What one entry contributes to the edge from ``source`` to an entity."""

    source: str
    entry: str
    titled: bool
    weight: float
    stands: bool
    kind: str
    name: str
    props: str
    title: str
    path: str
    start_line: int


def _mentions(db: sqlite3.Connection, entities: Iterable[str], now: float) -> dict[str, list[_Row]]:
    """Rows by entity, in the order of entries."""
    found: dict[str, list[_Row]] = {}
    for entity, source, entry, titled, weight, stands, *rest in db.execute(
        "SELECT f.target, f.source, f.entry, max(f.kind = 'titled'), max(f.weight), max(n.stands), n.kind, n.name, "  # noqa: S608 - constants
        "n.props, e.title, d.path, e.start_line FROM json_each(:ids) j JOIN facts f ON f.target = j.value "
        "JOIN entries e ON e.id = f.entry JOIN documents d ON d.id = e.document "
        f"JOIN node_facts n ON n.id = f.source AND n.entry = f.entry WHERE {_ABOUT} AND {VISIBLE} "
        "GROUP BY f.target, f.source, f.entry ORDER BY f.target, f.entry, f.source",
        {"ids": json.dumps(sorted(entities)), "now": now},
    ):
        found.setdefault(entity, []).append(_Row(source, entry, bool(titled), weight, bool(stands), *rest))
    return found


def _counted(db: sqlite3.Connection, now: float) -> dict[str, ListedEntity]:
    """Every entity that a visible entry declares, with the mentions in texts counted in full."""
    values = {"now": now}
    names = db.execute(
        "SELECT n.id, n.name, min(n.entry) FROM node_facts n JOIN entries e ON e.id = n.entry "  # noqa: S608 - constants
        f"WHERE {_ENTITY_IDS.format('n.id')} AND n.kind = 'entity' AND {VISIBLE} GROUP BY n.id",
        values,
    )
    found = {row[0]: ListedEntity(row[0], _type_of(row[0]), row[1]) for row in names}
    totals = db.execute(
        "SELECT target, sum(weight), count(*) FROM (SELECT f.target, max(f.weight) AS weight "  # noqa: S608 - constants
        f"FROM facts f JOIN entries e ON e.id = f.entry WHERE {_ENTITY_IDS.format('f.target')} AND {_ABOUT} "
        f"AND {VISIBLE} AND EXISTS "
        "(SELECT 1 FROM node_facts n WHERE n.id = f.source AND n.entry = f.entry AND n.stands) "
        "GROUP BY f.target, f.entry) GROUP BY target",
        values,
    )
    for entity, weight, texts in totals:
        if entity in found:
            found[entity] = replace(found[entity], mentions=float(weight), texts=texts)
    return found


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Ids by folded name, of ``(name, id)``."""
    ids: dict[str, list[str]] = {}
    for name, entity in pairs:
        ids.setdefault(name, []).append(entity)
    return ids


def _entity(entity: str, state: _State) -> ListedEntity:
    """The entity as counted; one of the gazetteer that no text mentions has the name its id ends with."""
    known = state.counted.get(entity)
    return known if known is not None else ListedEntity(entity, _type_of(entity), entity.split(":", 2)[2])


def _resolved(entity: ListedEntity, rows: Iterable[_Row], readings: Readings) -> ListedEntity:
    times = [readings.times(row.source, entity.id, row.weight, titled=row.titled) for row in rows if row.stands]
    return replace(entity, mentions=round(math.fsum(times), DIGITS), texts=sum(count > 0 for count in times))


def _text(row: _Row, entity: str, readings: Readings) -> TextMention:
    count = readings.times(row.source, entity, row.weight, titled=row.titled)
    document = "" if row.path.startswith(HAND_ADDED) else row.path
    return TextMention(row.source, row.entry, row.title, document, row.start_line, row.titled, count)


def _chapters(rows: Iterable[_Row], entity: str, readings: Readings) -> list[ChapterMention]:
    """The chapters that mention the entity at all, the most mentions first."""
    found: dict[str, ChapterMention] = {}
    for row in rows:
        known = found.get(row.source) or ChapterMention(row.source, row.kind, row.name, json.loads(row.props), 0.0)
        found[row.source] = replace(known, count=known.count + row.weight)
    resolved = [replace(item, count=readings.times(item.node, entity, item.count)) for item in found.values()]
    return sorted((item for item in resolved if item.count), key=lambda item: (-item.count, item.node))


def _foremost(item: ListedEntity, gazetteer: Gazetteer) -> tuple[bool, float, str]:
    return item.id not in gazetteer.ids, -item.mentions, item.id


def _type_of(entity: str) -> str:
    return entity.split(":", 2)[1]
