"""What the names that several entities share mean in the texts of a knowledge base.

The facts keep every reading of a mention in full: that is what a text says, whatever else is indexed. Which
reading is meant depends on all texts together (`graphport.knowledge.disambiguation`), so it is worked out
when it is asked for, from the facts of one revision, and never stored.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphport.knowledge.disambiguation import Reading, Reason, resolve_mentions
from graphport.knowledge.facts import VISIBLE
from graphport.knowledge.gazetteer import Gazetteer
from graphport.knowledge.searched import Searched, searched
from graphport.matching import Matcher, fold

DIGITS = 9
"""Shares are rounded to so many digits, for their sums are of floats."""


@dataclass(frozen=True, slots=True)
class Decision:
    """How ``times`` mentions of a shared name, first ``written`` so, were read.

    ``shares`` of the entities that may be meant, the best first, on average; they sum to 1. ``decided_by``
    is what spoke for the best one (`graphport.knowledge.disambiguation`).
    """

    written: str
    times: int
    shares: Mapping[str, float]
    decided_by: tuple[Reason, ...]


@dataclass(slots=True)
class Readings:
    """Shared names as they were read, by node (of a text, or of a chapter).

    For an entity whose names no other one has `times` are what the facts say.
    """

    _titles: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    _mentions: dict[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    _found: dict[tuple[str, str], list[tuple[str, Reading]]] = field(
        default_factory=dict[tuple[str, str], "list[tuple[str, Reading]]"]
    )

    def times(self, node: str, entity: str, counted: float, *, titled: bool = False) -> float:
        """How often ``node`` means the entity, of the ``counted`` times that it has one of its names."""
        moved = self._titles.get((node, entity), 0.0)
        if not titled:
            moved += self._mentions.get((node, entity), 0.0)
        return max(0.0, round(counted + moved, DIGITS))

    def decisions(self, node: str, entity: str) -> tuple[Decision, ...]:
        """How the shared names in ``node`` that may mean the entity were read, in the order of the text."""
        groups: defaultdict[tuple[str, str | None, tuple[Reason, ...]], list[tuple[str, Reading]]] = defaultdict(list)
        for written, reading in self._found.get((node, entity), ()):
            groups[fold(written), reading.id, reading.decided_by].append((written, reading))
        return tuple(_summary(group) for group in groups.values())

    def add(
        self, nodes: Iterable[str], written: str, reading: Reading, candidates: Iterable[str], *, title: bool
    ) -> None:
        """Take in one mention of a shared name that stands in ``nodes``."""
        moved = self._titles if title else self._mentions
        for node in nodes:
            for entity in candidates:
                key = node, entity
                moved[key] = moved.get(key, 0.0) + reading.shares.get(entity, 0.0) - 1.0
                if entity in reading.shares:
                    self._found.setdefault(key, []).append((written, reading))


def contested_names(gazetteer: Gazetteer) -> dict[str, tuple[str, ...]]:
    """The entities that have each shared name, by its folded form."""
    return {fold(shared.name): shared.ids for shared in gazetteer.shared_names()}


def texts_to_read(
    db: sqlite3.Connection, gazetteer: Gazetteer, contested: Collection[str], now: float
) -> list[Searched]:
    """The texts visible at ``now`` that mention an entity of the gazetteer; none if none has a contested one."""
    if not _mentioning(db, contested, now, limit=1):
        return []
    return searched(db, _mentioning(db, [item.id for item in gazetteer.effective], now))


def read_shared_names(
    texts: Sequence[Searched], gazetteer: Gazetteer, shared: Mapping[str, Sequence[str]], matcher: Matcher
) -> Readings:
    """Every mention of a shared name in ``texts``, resolved by the chapter (or the document) it stands in.

    ``matcher`` finds the mentions as the facts have them: a longer title takes a span from an entity's name.
    """
    readings = Readings()
    chapters: dict[str, _Chapter] = {}
    for item in texts:
        key = item.chapters[0].node if item.chapters else f"document {item.document}"
        chapters.setdefault(key, _Chapter()).add(item)
    resolved = resolve_mentions({key: chapter.text for key, chapter in chapters.items()}, gazetteer, matcher=matcher)
    for key, chapter in chapters.items():
        text = chapter.text
        for reading in resolved[key]:
            written = text[reading.start : reading.end]
            candidates = shared.get(fold(written))
            if candidates is not None:
                part = chapter.part_at(reading.start)
                readings.add(part.nodes, written, reading, candidates, title=part.is_title)
    return readings


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a chapter, and the nodes that a mention in it is counted for."""

    start: int
    nodes: tuple[str, ...]
    is_title: bool


class _Chapter:
    """The texts of one chapter, one after the other, with blank lines between them."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._parts: list[_Part] = []
        self._length = 0

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, item: Searched) -> None:
        for chapter in item.chapters:
            if chapter.heading:
                self._put(chapter.heading, (chapter.node,), is_title=False)
        nodes = (item.node, *(chapter.node for chapter in item.chapters))
        if item.title:
            self._put(item.title, nodes, is_title=True)
        self._put(item.text, nodes, is_title=False)

    def _put(self, text: str, nodes: tuple[str, ...], *, is_title: bool) -> None:
        self._parts.append(_Part(self._length, nodes, is_title))
        self._pieces.append(f"{text}\n\n")
        self._length += len(text) + 2

    def part_at(self, position: int) -> _Part:
        return self._parts[bisect_right(self._parts, position, key=lambda part: part.start) - 1]


def _mentioning(db: sqlite3.Connection, entities: Collection[str], now: float, *, limit: int = -1) -> list[str]:
    rows = db.execute(
        "SELECT DISTINCT e.id FROM json_each(:ids) j JOIN facts f ON f.target = j.value "  # noqa: S608 - a constant
        f"JOIN entries e ON e.id = f.entry WHERE f.owner = 'mentions' AND {VISIBLE} LIMIT :limit",
        {"ids": json.dumps(sorted(entities)), "now": now, "limit": limit},
    )
    return [row[0] for row in rows]


def _summary(group: Sequence[tuple[str, Reading]]) -> Decision:
    sums: dict[str, float] = {}
    for _, reading in group:
        for entity, share in reading.shares.items():
            sums[entity] = sums.get(entity, 0.0) + share / len(group)
    written, first = group[0]
    shares = {entity: round(share, DIGITS) for entity, share in sorted(sums.items(), key=_best_first)}
    return Decision(written, len(group), shares, first.decided_by)


def _best_first(share: tuple[str, float]) -> tuple[float, str]:
    return -share[1], share[0]
