"""The gazetteer's runtime layer in the truth."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from graphport.knowledge.entities import Entity


def read_runtime(db: sqlite3.Connection) -> tuple[Entity, ...]:
    """The entities in the order they were added."""
    rows = db.execute("SELECT type, names FROM runtime_entities ORDER BY ord, id")
    return tuple(Entity(row[0], tuple(json.loads(row[1]))) for row in rows)


def write_runtime(db: sqlite3.Connection, old: Sequence[Entity], new: Sequence[Entity]) -> None:
    """Put ``new`` in place of ``old``, writing the rows that differ."""
    before, after = _rows(old), _rows(new)
    db.executemany("DELETE FROM runtime_entities WHERE id = ?", [(row,) for row in before.keys() - after.keys()])
    changed = [row for key, row in after.items() if before.get(key) != row]
    db.executemany("INSERT OR REPLACE INTO runtime_entities VALUES (?, ?, ?, ?)", changed)


def _rows(entities: Sequence[Entity]) -> dict[str, tuple[str, str, str, int]]:
    return {item.id: (item.id, item.type, json.dumps(item.names), place) for place, item in enumerate(entities)}
