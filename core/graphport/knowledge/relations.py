"""Facts from what passages state of the entities they name (`graphport.patterns`).

They belong to the passage that states them, like its mentions, and are found with them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from graphport.builders import Fact, Links
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
    """What the titles and texts of some entries state; each fact quotes its passage in ``props["text"]``."""
    rows = db.execute(
        "SELECT e.id, e.title, e.text FROM json_each(?) j JOIN entries e ON e.id = j.value ORDER BY e.id",
        (json.dumps(list(entries)),),
    )
    facts: dict[tuple[str, str, str, str], Fact] = {}
    for entry, *texts in rows:
        for text in texts:
            for item in patterns.find(text, matcher, type_of):
                quoted = " ".join(text[item.start : item.end].split())
                fact = Fact(item.subject, item.kind, item.object, entry, props={"text": quoted})
                facts.setdefault((item.subject, item.kind, item.object, entry), fact)
    return Links(facts=list(facts.values()))
