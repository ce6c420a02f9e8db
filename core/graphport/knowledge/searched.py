"""What of an entry is searched for names, so that each mention in a text counts once.

An entry added by hand is its title and its text. The title of an entry that comes from a document is
repeated from it (a file's name, or a heading that stands in the first of its sections), so that only the
text counts; a chapter's heading stands in none of its passages and is the chapter's, once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from graphport.knowledge.ingest import HAND_ADDED


@dataclass(frozen=True, slots=True)
class ChapterOf:
    """A chapter that an entry belongs to; ``heading`` only with its first entry, else ""."""

    node: str
    heading: str


@dataclass(frozen=True, slots=True)
class Searched:
    """An entry: its node, the ``title`` it is searched by ("" for a document's), its text and chapters."""

    entry: str
    document: int
    kind: str
    node: str
    title: str
    text: str
    chapters: tuple[ChapterOf, ...]

    @property
    def whole(self) -> str:
        """Title and text together."""
        return f"{self.title}\n{self.text}" if self.title else self.text


def searched(db: sqlite3.Connection, entries: Iterable[str]) -> list[Searched]:
    """Those of the entries that a node stands for, by their order in their documents."""
    wanted = json.dumps(list(entries))
    chapters: dict[str, list[ChapterOf]] = {}
    for entry, node, name, is_first in db.execute(
        "SELECT DISTINCT n.entry, n.id, n.name, NOT EXISTS ("
        "SELECT 1 FROM node_facts m JOIN entries x ON x.id = m.entry "
        "WHERE m.id = n.id AND x.document = e.document AND x.ord < e.ord) "
        "FROM json_each(?) j JOIN entries e ON e.id = j.value JOIN node_facts n ON n.entry = e.id "
        "WHERE n.kind = 'chapter' ORDER BY n.id",
        (wanted,),
    ):
        chapters.setdefault(entry, []).append(ChapterOf(node, name if is_first else ""))
    rows = db.execute(
        "SELECT e.id, e.document, e.kind, d.path, e.title, e.text, "
        "(SELECT n.id FROM node_facts n WHERE n.entry = e.id AND n.stands ORDER BY n.id) "
        "FROM json_each(?) j JOIN entries e ON e.id = j.value JOIN documents d ON d.id = e.document "
        "ORDER BY e.document, e.ord",
        (wanted,),
    )
    return [
        Searched(entry, document, kind, node, title if path.startswith(HAND_ADDED) else "", text,
                 tuple(chapters.get(entry, ())))
        for entry, document, kind, path, title, text, node in rows
        if node is not None
    ]  # fmt: skip
