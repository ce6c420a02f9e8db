"""The gazetteer's runtime layer in the truth."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from graphport.knowledge.entities import Entity, difference


def read_runtime(db: sqlite3.Connection) -> tuple[Entity, ...]:
    """The entities in the order they were added."""
    rows = db.execute("SELECT type, names FROM runtime_entities ORDER BY ord, id")
    return tuple(Entity(row[0], tuple(json.loads(row[1]))) for row in rows)


def write_runtime(db: sqlite3.Connection, old: Sequence[Entity], new: Sequence[Entity]) -> None:
    """Put ``new`` in place of ``old``, writing the rows that differ. What is new comes behind all there is."""
    gone, come = difference(old, new)
    there = {item.id for item in come}
    db.executemany("DELETE FROM runtime_entities WHERE id = ?", [(item.id,) for item in gone if item.id not in there])
    db.executemany(
        "INSERT INTO runtime_entities SELECT ?, ?, ?, coalesce(max(ord) + 1, 0) FROM runtime_entities WHERE true "
        "ON CONFLICT (id) DO UPDATE SET names = excluded.names",
        [(item.id, item.type, json.dumps(item.names)) for item in come],
    )
