"""Facts from what passages state of the entities they name (`graphport.patterns`).

They belong to the passage that states them, like its mentions, and are found with them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from graphport.builders import Fact, Links
from graphport.knowledge.searched import searched
from graphport.matching import Matcher
from graphport.patterns import Patterns

OWNER = "relations"


def relations_of(
    db: sqlite3.Connection,
    entries: Sequence[str],
    patterns: Patterns,
    matcher: Matcher,
    type_of: Callable[[str], str | None],
) -> Links:
    """What some entries state, each in its title, its text and the heading of the chapter it begins.

    Each fact quotes its passage in ``props["text"]``.
    """
    facts: dict[tuple[str, str, str, str], Fact] = {}
    for entry in searched(db, entries):
        for text in (entry.title, entry.text, *(chapter.heading for chapter in entry.chapters)):
            for item in patterns.find(text, matcher, type_of):
                quoted = " ".join(text[item.start : item.end].split())
                fact = Fact(item.subject, item.kind, item.object, entry.entry, props={"text": quoted})
                facts.setdefault((item.subject, item.kind, item.object, entry.entry), fact)
    return Links(facts=list(facts.values()))
