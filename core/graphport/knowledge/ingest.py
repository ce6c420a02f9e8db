"""Writing documents into the truth, and linking them.

Everything here runs inside one `Truth.write` and records in ``changes`` what the derived indexes have
to take in. A document's links depend on what it looked up by name; when a name's definitions change, the
documents that looked it up are stale and are linked again.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.builders import Builder, Entry, Extraction, Fact, Links, NodeFact
from graphport.errors import GraphportError, InvalidIdError, InvalidInputError
from graphport.knowledge.derived import touched_by
from graphport.matching import fold
from graphport.model import check_props, check_text, check_weight, dump_props
from graphport.retrieval.names import title_forms

log = logging.getLogger("graphport")

HAND_ADDED = "entry:"
"""Before the id of an entry that was added by hand: the path of the document it makes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be written: read, extracted and embedded outside the transaction.

    ``vectors`` holds the (d,) float32 vector of each entry that has one. ``size`` and ``mtime_ns`` are
    -1 where there is no file.
    """

    path: str
    builder: Builder
    extraction: Extraction
    digest: str
    source: str = ""
    size: int = -1
    mtime_ns: int = -1
    vectors: Mapping[str, NDArray[np.float32]] | None = None


class _Form(NamedTuple):
    """A surface form, until when its entry is visible (None: for good)."""

    form: str
    folded: str
    valid_to: float | None


class Ingest:
    """The writes of one transaction, at ``revision``; ``with_graph`` False keeps documents unlinked."""

    def __init__(self, db: sqlite3.Connection, revision: int, *, with_graph: bool) -> None:
        self._db = db
        self._revision = revision
        self._with_graph = with_graph
        # Before the graph is first built nothing needs to know what changed in it.
        self._graph_listens = db.execute("SELECT 1 FROM derived WHERE name = 'graph'").fetchone() is not None

    def put(self, prepared: Prepared) -> None:
        """Insert or replace a document with its entries; a file's keep the flags and expiry that were set."""
        db = self._db
        row = db.execute("SELECT id FROM documents WHERE path = ?", (prepared.path,)).fetchone()
        kept: dict[str, tuple[int, float | None]] = {}
        old_names: dict[str, list[str]] = {}
        old_forms: set[_Form] = set()
        if row is not None:
            old = db.execute("SELECT id, flagged, valid_to FROM entries WHERE document = ?", row).fetchall()
            if not prepared.path.startswith(HAND_ADDED):  # a file says nothing of visibility, its user did
                kept = {entry: (flagged, valid_to) for entry, flagged, valid_to in old}
            old_names = self._defined_names(row[0])
            old_forms = self._forget_entries([entry for entry, _, _ in old])
            db.execute("DELETE FROM definitions WHERE document = ?", row)
        document = self._put_document(row, prepared)
        for number, entry in enumerate(prepared.extraction.entries):
            flagged, valid_to = kept.get(entry.id, (int(entry.flagged), entry.valid_to))
            self._put_entry(document, number, entry, bool(flagged), valid_to)
        for number, definition in enumerate(prepared.extraction.definitions):
            values = (document, number, check_text(definition.name, "definition"), json.dumps(definition.data))
            db.execute("INSERT INTO definitions VALUES (?, ?, ?, ?)", values)
        for entry_id, vector in (prepared.vectors or {}).items():
            self.put_vector(entry_id, vector)
        new_forms = self._forms_of([entry.id for entry in prepared.extraction.entries])
        self._forms_changed(old_forms ^ new_forms, document)
        self._mark_stale(old_names, self._defined_names(document))
        db.execute("INSERT OR IGNORE INTO stale_documents VALUES (?)", (document,))

    def remove(self, paths: Iterable[str]) -> int:
        """Remove documents with all they brought; absent ones are ignored. Returns how many went."""
        count = 0
        for path in paths:
            row = self._db.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
            if row is None:
                continue
            forms = self._forget_entries(_column(self._db.execute("SELECT id FROM entries WHERE document = ?", row)))
            self._forms_changed(forms, row[0])
            self._mark_stale(self._defined_names(row[0]), {})
            self._db.execute("DELETE FROM documents WHERE id = ?", row)
            count += 1
        return count

    def set_visibility(self, entry: str, *, flagged: bool, valid_to: float | None) -> None:
        """Flag or expire an entry (or undo it)."""
        old_forms = self._forms_of([entry])
        self._db.execute("UPDATE entries SET flagged = ?, valid_to = ? WHERE id = ?", (int(flagged), valid_to, entry))
        self._mark_graph([entry])
        self._mark("entry", [entry])
        document = self._db.execute("SELECT document FROM entries WHERE id = ?", (entry,)).fetchone()[0]
        self._forms_changed(old_forms ^ self._forms_of([entry]), document)

    def put_vector(self, entry: str, vector: NDArray[np.float32]) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?)", (entry, np.asarray(vector, dtype="<f4").tobytes())
        )
        self._mark("entry", [entry])

    def link_stale(self, builders: Mapping[str, Builder], *, limit: int | None = None) -> int:
        """Link documents that are stale, at most ``limit``; returns how many are left."""
        if not self._with_graph:
            return 0
        lookup = _Lookups(self._db)
        rows = self._db.execute(
            "SELECT d.id, d.path, d.builder, d.data FROM stale_documents s JOIN documents d ON d.id = s.document "
            "ORDER BY s.document LIMIT ?",
            (-1 if limit is None else limit,),
        ).fetchall()
        for document, path, name, data in rows:
            if name in builders:
                self._link(document, path, json.loads(data), builders[name], lookup)
            else:
                log.warning("%s was indexed by the builder %r, which is not installed; its links stay", path, name)
            self._db.execute("DELETE FROM stale_documents WHERE document = ?", (document,))
        return int(self._db.execute("SELECT count(*) FROM stale_documents").fetchone()[0])

    def replace_facts(self, entries: Sequence[str], owner: str, links: Links) -> None:
        """Put the facts of ``owner`` about some entries in place of those it gave before.

        Only what differs is written, and only that has to be taken into the graph: a name that comes into a
        thousand texts leaves everything else they hold alone.
        """
        wanted = (json.dumps(list(entries)), owner)
        old_nodes = self._db.execute(
            "SELECT n.* FROM json_each(?) j JOIN node_facts n ON n.entry = j.value AND n.owner = ? ORDER BY n.rowid",
            wanted,
        )
        nodes = _differing(old_nodes, [_node_row(node, owner) for node in links.nodes], 3)
        self._db.executemany("DELETE FROM node_facts WHERE entry = ? AND owner = ? AND id = ?", nodes)
        self._db.executemany("INSERT INTO node_facts VALUES (?, ?, ?, ?, ?, ?, ?)", chain(*nodes.values()))
        old_facts = self._db.execute(
            "SELECT f.* FROM json_each(?) j JOIN facts f ON f.entry = j.value AND f.owner = ? ORDER BY f.rowid", wanted
        )
        edges = _differing(old_facts, [_fact_row(fact, owner) for fact in links.facts], 5)
        self._db.executemany(
            "DELETE FROM facts WHERE entry = ? AND owner = ? AND source = ? AND kind = ? AND target = ?", edges
        )
        self._db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?)", chain(*edges.values()))
        if self._graph_listens:
            self._mark("node", {node for _, _, node in nodes})
            self._mark_edges({(source, target, kind) for _, _, source, kind, target in edges})

    def _link(self, document: int, path: str, data: Mapping[str, Any], builder: Builder, lookup: _Lookups) -> None:
        entries = read_entries(self._db, "document = ? ORDER BY ord", (document,))
        lookup.asked = set()
        try:
            links = builder.link(path, Extraction(entries=entries, data=data), lookup)
            _check_links(links, {entry.id for entry in entries})
        except GraphportError as error:
            error.add_note(f"while builder {builder.name!r} linked {path}")
            raise
        self.replace_facts([entry.id for entry in entries], "document", links)
        self._db.execute("DELETE FROM lookups WHERE document = ?", (document,))
        self._db.executemany("INSERT INTO lookups VALUES (?, ?)", [(name, document) for name in sorted(lookup.asked)])

    def _put_document(self, row: tuple[int] | None, prepared: Prepared) -> int:
        values = (
            prepared.source, prepared.digest, prepared.size, prepared.mtime_ns, prepared.builder.name,
            prepared.builder.version, json.dumps(prepared.extraction.data),
            json.dumps(list(prepared.extraction.warnings)),
        )  # fmt: skip
        if row is not None:
            self._db.execute(
                "UPDATE documents SET source = ?, digest = ?, size = ?, mtime_ns = ?, builder = ?, "
                "builder_version = ?, data = ?, warnings = ? WHERE id = ?",
                (*values, row[0]),
            )
            return row[0]
        cursor = self._db.execute(
            "INSERT INTO documents (path, source, digest, size, mtime_ns, builder, builder_version, data, warnings) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (check_text(prepared.path, "document path"), *values),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _put_entry(self, document: int, number: int, entry: Entry, flagged: bool, valid_to: float | None) -> None:
        entry = check_entry(entry)
        try:
            self._db.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    entry.id, document, number, entry.title, entry.text, entry.kind, entry.start_line, entry.end_line,
                    json.dumps(entry.names), dump_props(entry.meta), int(flagged), valid_to,
                ),
            )  # fmt: skip
        except sqlite3.IntegrityError as error:
            raise InvalidInputError(f"entry id {entry.id!r:.80} stands twice; ids must be unique") from error
        forms = {*entry.names, *(() if entry.document else title_forms(entry.title))}
        keys = [(form, folded(form)) for form in sorted(forms)]
        rows = [(form, key, entry.id) for form, key in keys if key is not None]
        self._db.executemany("INSERT OR IGNORE INTO forms VALUES (?, ?, ?)", rows)
        self._mark("entry", [entry.id])

    def _forget_entries(self, entries: list[str]) -> set[_Form]:
        """Delete entries; returns the forms they gave."""
        forms = self._forms_of(entries)
        self._mark_graph(entries)
        self._mark("entry", entries)
        self._db.executemany("DELETE FROM entries WHERE id = ?", [(entry,) for entry in entries])
        return forms

    def _defined_names(self, document: int) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for name, data in self._db.execute(
            "SELECT name, data FROM definitions WHERE document = ? ORDER BY ord", (document,)
        ):
            names.setdefault(name, []).append(data)
        return names

    def _mark_stale(self, old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> None:
        changed = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
        self._db.executemany(
            "INSERT OR IGNORE INTO stale_documents SELECT document FROM lookups WHERE name = ?",
            [(name,) for name in changed],
        )

    def expired(self, entries: Sequence[str]) -> None:
        """Entries are visible no more, for their time has come: texts that may hold their names are searched again."""
        self._forms_changed(self._forms_of(entries), document=None)

    def _forms_of(self, entries: Sequence[str]) -> set[_Form]:
        """The forms that entries give while they are visible."""
        rows = self._db.execute(
            "SELECT f.form, f.folded, e.valid_to FROM json_each(?) j "
            "JOIN entries e ON e.id = j.value AND NOT e.flagged JOIN forms f ON f.entry = e.id",
            (json.dumps(entries),),
        )
        return {_Form(*row) for row in rows}

    def _forms_changed(self, forms: Iterable[_Form], document: int | None) -> None:
        """Forms that ``document`` gives came or went: texts that may hold them are searched for mentions again.

        Not those of a form that another document gives for good: it is there as it was before.
        """
        given_elsewhere = (
            "SELECT 1 FROM forms f JOIN entries e ON e.id = f.entry "
            "WHERE f.form = ? AND e.document IS NOT ? AND NOT e.flagged AND e.valid_to IS NULL LIMIT 1"
        )
        changed = {
            (item.form, item.folded)
            for item in forms
            if self._db.execute(given_elsewhere, (item.form, document)).fetchone() is None
        }
        if changed:
            self._db.executemany("INSERT OR REPLACE INTO stale_forms VALUES (?)", [(form,) for form, _ in changed])
            self._mark("name", {name for _, name in changed})
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('names', ?)", (str(self._revision),))

    def _mark_graph(self, entries: Iterable[str]) -> None:
        if self._graph_listens:
            nodes, keys = touched_by(self._db, entries)
            self._mark("node", nodes)
            self._mark_edges(keys)

    def _mark_edges(self, keys: Iterable[tuple[str, str, str]]) -> None:
        self._mark("edge", (json.dumps(key, ensure_ascii=False) for key in keys))

    def _mark(self, what: str, keys: Iterable[str]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO changes VALUES (?, ?, ?)", [(what, key, self._revision) for key in keys]
        )


class _Lookups:
    """Answers a builder's lookups and remembers what was asked."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[str, Sequence[tuple[str, Mapping[str, Any]]]] = {}
        self.asked: set[str] = set()

    def __call__(self, name: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        self.asked.add(name)
        if name not in self._known:
            rows = self._db.execute(
                "SELECT d.path, f.data FROM definitions f JOIN documents d ON d.id = f.document "
                "WHERE f.name = ? ORDER BY d.path, f.ord",
                (name,),
            )
            self._known[name] = [(path, json.loads(data)) for path, data in rows]
        return self._known[name]


def check_entry(entry: Entry) -> Entry:
    """``entry`` if it can be stored; else `InvalidIdError` or `InvalidInputError`."""
    if not isinstance(entry, Entry):  # pyright: ignore[reportUnnecessaryIsInstance] - users without a type checker
        raise InvalidInputError(f"expected an Entry, got {type(entry).__name__} {entry!r:.80}")
    what = f"entry {check_text(entry.id, 'entry id')!r:.80}"
    check_text(entry.kind, f"kind of {what}")
    for value, label in ((entry.text, "text"), (entry.title, "title"), *((name, "name") for name in entry.names)):
        if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
            raise InvalidInputError(f"{label} of {what} is {type(value).__name__}; it must be a str")
        if value:
            check_text(value, f"{label} of {what}")
    if entry.valid_to is not None and not math.isfinite(entry.valid_to):
        raise InvalidInputError(f"valid_to of {what} is {entry.valid_to}; give seconds since the epoch, or None")
    return replace(entry, meta=check_props(entry.meta, what))


def read_entries(db: sqlite3.Connection, where: str, values: Sequence[Any]) -> list[Entry]:
    """Entries that satisfy ``where`` (our own SQL; ``values`` are bound)."""
    rows = db.execute(
        "SELECT entries.id, entries.text, entries.title, entries.kind, documents.path, start_line, end_line, names, "  # noqa: S608 - our own
        f"meta, flagged, valid_to FROM entries JOIN documents ON documents.id = entries.document WHERE {where}",
        values,
    )
    return [
        Entry(
            id=row[0], text=row[1], title=row[2], kind=row[3], document="" if row[4].startswith(HAND_ADDED) else row[4],
            start_line=row[5], end_line=row[6], names=tuple(json.loads(row[7])), meta=json.loads(row[8]),
            flagged=bool(row[9]), valid_to=row[10],
        )
        for row in rows
    ]  # fmt: skip


def _check_links(links: Links, entries: set[str]) -> None:
    strangers = ({node.entry for node in links.nodes} | {fact.entry for fact in links.facts}) - entries
    if strangers:
        raise InvalidInputError(f"facts name entries of another document: {sorted(strangers)[:3]}; name its own")
    for node in links.nodes:
        check_text(node.id, "node id")
        check_text(node.kind, f"kind of node {node.id!r:.80}")
        check_text(node.name, f"name of node {node.id!r:.80}")
    for fact in links.facts:
        for part in (fact.source, fact.kind, fact.target):
            check_text(part, "part of a fact")
        check_weight(fact.weight, f"fact {fact.source!r:.40} -{fact.kind}-> {fact.target!r:.40}")


def _differing(
    old: Iterable[tuple[Any, ...]], new: Iterable[tuple[Any, ...]], key: int
) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
    """The new rows, by their first ``key`` columns, of those keys whose rows are not what they were."""
    before: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    after: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for rows, by_key in ((old, before), (new, after)):
        for row in rows:
            by_key.setdefault(row[:key], []).append(row)
    return {at: after.get(at, []) for at in {**before, **after} if before.get(at) != after.get(at)}


def _node_row(node: NodeFact, owner: str) -> tuple[Any, ...]:
    props = dump_props(check_props(node.props, f"node {node.id!r:.80}"))
    return node.entry, owner, node.id, node.kind, node.name, int(node.stands_for_entry), props


def _fact_row(fact: Fact, owner: str) -> tuple[Any, ...]:
    props = dump_props(check_props(fact.props, f"fact {fact.source!r:.40} -{fact.kind}-> {fact.target!r:.40}"))
    return fact.entry, owner, fact.source, fact.kind, fact.target, float(fact.weight), props


def folded(form: str) -> str | None:
    """The form's key, None for one without letters or digits: a fine title, but nothing a text can mention."""
    try:
        return fold(form)
    except InvalidIdError:
        return None


def _column(rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    return [row[0] for row in rows]
