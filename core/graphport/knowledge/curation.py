"""Changing the gazetteer: what the config declares, what is added while it runs, and which texts that concerns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence

from graphport.config import KnowledgeBaseConfig
from graphport.knowledge.entities import Entity, difference, entity
from graphport.knowledge.fingerprint import fingerprint
from graphport.knowledge.gazetteer import Gazetteer
from graphport.knowledge.mentions import forget_relations
from graphport.knowledge.runtime_entities import read_runtime, write_runtime
from graphport.knowledge.truth import Truth


class Curation:
    """The gazetteer of one knowledge base in its truth. What it changes is linked by whoever asked."""

    def __init__(self, truth: Truth, config: KnowledgeBaseConfig) -> None:
        self._truth = truth
        self._declared = tuple(entity(item.type, item.names) for item in config.entities)
        self._templates = config.relations.patterns
        self._known: tuple[str | None, Gazetteer] | None = None

    def gazetteer(self) -> Gazetteer:
        """Declared and runtime entities as they are now."""
        with self._truth.read() as db:
            changed = self._truth.meta("curated")
            if self._known is None or self._known[0] != changed:
                self._known = changed, Gazetteer(self._declared, read_runtime(db))
            return self._known[1]

    def change(self, change: Callable[[Gazetteer], Gazetteer]) -> bool:
        """Puts the changed runtime layer in place of the old one, all or nothing. Whether anything differs."""
        with self._truth.write() as db:
            old = self.gazetteer()
            new = change(old)
            if new.runtime == old.runtime:
                return False
            write_runtime(db, old.runtime, new.runtime)
            _search_again(db, old.effective, new.effective)
            changed = self._note_change()
        self._known = changed, new
        return True

    def note_declared(self) -> None:
        """What the config declares may have changed since this was last open."""
        declared = [(item.type, item.names) for item in self._declared]
        now = fingerprint([declared, self._templates] if self._templates else declared)
        if self._truth.meta("declared") == now:
            return
        with self._truth.write() as db:
            before = json.loads(self._truth.meta("declared_entities") or "[]")
            old = Gazetteer(tuple(entity(kind, names) for kind, names in before), self.gazetteer().runtime)
            if _search_again(db, old.effective, self.gazetteer().effective):
                self._note_change()
            self._truth.set_meta("declared", now)
            self._truth.set_meta("declared_entities", json.dumps(declared))
            patterns = fingerprint(self._templates) if self._templates else ""
            if (self._truth.meta("patterns") or "") != patterns:
                forget_relations(db, self._truth, search_again=bool(self._templates))
                self._truth.set_meta("patterns", patterns)

    def _note_change(self) -> str:
        """Whoever keeps the gazetteer, or something made from it, is to read it again. Returns when it changed."""
        changed = str(self._truth.next_revision())
        self._truth.set_meta("curated", changed)
        return changed


def _search_again(db: sqlite3.Connection, old: Sequence[Entity], new: Sequence[Entity]) -> bool:
    """Texts that may hold a name that came, went or changed its meaning are searched again. Whether one did."""
    gone, come = difference(old, new)
    before, after = ({(item.id, name) for item in items for name in item.names} for items in (gone, come))
    forms = sorted({name for _, name in before ^ after})
    db.executemany("INSERT OR IGNORE INTO stale_forms VALUES (?)", [(form,) for form in forms])
    return bool(gone or come)
