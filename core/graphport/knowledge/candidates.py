"""Mentions with their candidates, and those that are no names at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from graphport.knowledge.casing import opens_sentence
from graphport.knowledge.cues import Cues, cues_at
from graphport.knowledge.entities import Entity
from graphport.matching import Match, Matcher, fold

COMMON_TYPES = frozenset({"topic", "doctrine", "concept", "other"})
"""Types whose names are common nouns, which may be written small."""

Case = Literal["small", "opening", "name"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A form found in a text; ``ids`` are the entities that have it, the candidates.

    ``case``: written ``small``, with a capital where a sentence opens (``opening``), or, as a ``name``, with
    a capital elsewhere or in a script that has none.
    """

    start: int
    end: int
    form: str
    ids: tuple[str, ...]
    case: Case
    cues: Cues


def find_mentions(text: str, matcher: Matcher, entities: Container[str]) -> list[Mention]:
    """All mentions of ``entities`` (their ids) in a text, in order."""
    found = ((match, tuple(entity for entity in match.ids if entity in entities)) for match in matcher.find(text))
    return [_mention(text, match, ids) for match, ids in found if ids]


def ordinary_words(chapters: Iterable[Sequence[Mention]], entities: Iterable[Entity]) -> set[tuple[str, Case]]:
    """Forms that are no names when written in that case.

    A proper name is not written small; and a word that is mostly written small is no name just because a
    sentence begins with it. In texts without capitals case says nothing.
    """
    proper = _proper_forms(entities)
    cases = Counter((mention.form, mention.case) for found in chapters for mention in found if mention.form in proper)
    if not any(case == "name" for _, case in cases):
        return set()
    forms = sorted({form for form, _ in cases})
    ordinary: set[tuple[str, Case]] = {(form, "small") for form in forms}
    ordinary |= {(form, "opening") for form in forms if cases[form, "small"] > cases[form, "name"]}
    return ordinary


def _mention(text: str, match: Match, ids: tuple[str, ...]) -> Mention:
    start, end = match.start, match.end
    return Mention(start, end, fold(text[start:end]), ids, _case(text, start, end), cues_at(text, start, end))


def _case(text: str, start: int, end: int) -> Case:
    written = text[start:end]
    if written == written.lower() != written.upper():
        return "small"
    return "opening" if opens_sentence(text, start) else "name"


def _proper_forms(entities: Iterable[Entity]) -> set[str]:
    """Forms that all who have them write with a capital."""
    proper: set[str] = set()
    common: set[str] = set()
    for item in entities:
        for name in item.names:
            is_proper = item.type not in COMMON_TYPES and name != name.lower()
            (proper if is_proper else common).add(fold(name))
    return proper - common
