"""The indexes derived from the truth, and how each is brought up to date.

Each stores the revision it was built from. One that is behind takes in what changed since; one that is
missing, broken, of another format or of another backend is built anew. Taking in the same change twice
changes nothing, so a process killed at any point heals with the next call.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import filelock
import numpy as np

from graphport.errors import StorageBusyError, StorageCorruptError, StorageFormatError
from graphport.knowledge import facts
from graphport.knowledge.truth import BUSY_SECONDS, Truth
from graphport.model import Edge, EdgeKey
from graphport.patterns import CO_OCCURS
from graphport.retrieval.dense import DenseIndex
from graphport.retrieval.lexical import LexicalIndex, remove_lexical_index
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage

log = logging.getLogger("graphport")

_REBUILD_SHARE = 0.3
"""Above this share of changed keys a whole load is cheaper than upserts on every backend measured."""
_KEEP_CHANGES = 20_000


@dataclass(frozen=True, slots=True)
class GraphPlan:
    """How the graph is derived: where it lives, and what scales its weights.

    ``fingerprint`` changes with anything that makes a graph built before useless (another backend,
    another path, other factors). ``files`` is where the backend keeps it, None for a server.
    ``cooccurrences`` gives the ``co_occurs`` edges at a moment, None where the config asks for none.
    """

    open: Callable[[], GraphStorage]
    factors: Mapping[str, float]
    fingerprint: str
    files: Path | None = None
    cooccurrences: Callable[[sqlite3.Connection, float], Sequence[Edge]] | None = None

    def counted(self, db: sqlite3.Connection, now: float) -> Sequence[Edge]:
        """Edges that follow from all facts together, weighted."""
        factor = self.factors.get(CO_OCCURS, 1.0)
        edges = self.cooccurrences(db, now) if self.cooccurrences else ()
        return edges if factor == 1 else [replace(edge, weight=edge.weight * factor) for edge in edges]

    def whole(self, db: sqlite3.Connection, now: float) -> GraphSnapshot:
        """The graph at ``now``."""
        return facts.whole_graph(db, now, self.factors, self.counted(db, now))


class Derived:
    """Lexical index, vector matrix and graph of one knowledge base; ``folder`` None keeps them in memory."""

    def __init__(self, truth: Truth, folder: Path | None, plan: GraphPlan | None, clock: Callable[[], float]) -> None:
        self._truth = truth
        self._folder = folder
        self._plan = plan
        self._clock = clock
        self._lock = threading.RLock()
        self._file_lock = None if folder is None else filelock.FileLock(folder / "derived.lock", timeout=BUSY_SECONDS)
        self._lexical: LexicalIndex | None = None
        self._dense: DenseIndex | None = None
        self._dense_revision = 0
        self._storage: GraphStorage | None = None
        self._past: tuple[int, float, GraphSnapshot] | None = None
        self._counted: tuple[int, Mapping[EdgeKey, Edge]] | None = None  # as the graph of that revision has them

    # -- what is read -------------------------------------------------------------------------------

    def lexical(self) -> LexicalIndex:
        """The lexical index at the current revision."""
        with self._lock:
            if self._lexical is not None and self._lexical.revision == self._truth.revision():
                self._lexical.refresh()
                return self._lexical
            with self._exclusive():
                return self._sync_lexical()

    def dense(self) -> DenseIndex | None:
        """The vector matrix at the current revision; None while no entry has a vector."""
        with self._lock:
            self._sync_dense()
            return self._dense

    def graph(self) -> GraphStorage | None:
        """The graph as of now; None where the config builds none."""
        if self._plan is None:
            return None
        with self._lock:
            now = self._clock()
            if self._storage is not None and self._plan.files is not None and not self._plan.files.exists():
                self._storage.close()  # its files were deleted while it was open
                self._storage = None
            if self._storage is None or not self._graph_is_current(self._storage, self._plan, now):
                with self._exclusive():
                    self._sync_graph(self._plan, now)
            return self._storage

    def graph_at(self, as_of: float, prepare: Callable[[sqlite3.Connection], None]) -> GraphSnapshot:
        """The graph as it was visible at ``as_of``, made from the facts and kept until something changes.

        ``prepare`` makes the facts in the connection those of then; they are undone afterwards.
        """
        with self._lock:
            revision = self._truth.revision()
            if self._past is None or self._past[:2] != (revision, as_of):
                with self._truth.scratch() as db:
                    prepare(db)
                    whole = self._plan.whole(db, as_of) if self._plan else facts.whole_graph(db, as_of, {})
                    self._past = (revision, as_of, whole)
            return self._past[2]

    def forget(self) -> None:
        """Drop every derived index; the next read builds it again."""
        with self._lock, self._exclusive():
            self._lexical = self._dense = None
            self._dense_revision = 0
            if self._folder is not None:
                remove_lexical_index(self._folder / "lexical")
            with self._truth.write() as db:
                db.execute("DELETE FROM derived")

    def close(self) -> None:
        with self._lock:
            if self._storage is not None:
                self._storage.close()
                self._storage = None

    @contextmanager
    def _exclusive(self) -> Generator[None]:
        """One process at a time brings the indexes up to date."""
        if self._file_lock is None:
            yield
            return
        try:
            with self._file_lock:
                yield
        except filelock.Timeout as error:
            raise StorageBusyError(
                f"{self._folder} is being brought up to date by another process; try again in a while"
            ) from error

    # -- lexical ------------------------------------------------------------------------------------

    def _sync_lexical(self) -> LexicalIndex:
        index = self._lexical if self._lexical is not None and self._lexical.is_there else self._open_lexical()
        with self._truth.read() as db:
            revision, behind = self._truth.revision(), index.revision
            if behind == revision:
                index.refresh()
            elif behind == 0 or behind > revision or behind < _pruned(db):
                if behind:
                    log.info("lexical index of %s is built anew", self._folder)
                old = list(index.ids())
                index.apply(revision, _texts(db.execute("SELECT id, title, text FROM entries ORDER BY id")), old)
            elif changed := _changed(db, "entry", behind):
                rows = db.execute(
                    "SELECT e.id, e.title, e.text FROM json_each(?) j JOIN entries e ON e.id = j.value ORDER BY e.id",
                    (json.dumps(changed),),
                )
                index.apply(revision, _texts(rows), changed)
            else:
                index.keep(revision)
        self._lexical = index
        return index

    def _open_lexical(self) -> LexicalIndex:
        if self._folder is None:
            return LexicalIndex()
        folder = self._folder / "lexical"
        try:
            return LexicalIndex(folder)
        except StorageCorruptError as error:
            log.warning("%s; it is built anew", error)
            remove_lexical_index(folder)
            return LexicalIndex(folder)

    # -- dense --------------------------------------------------------------------------------------

    def _sync_dense(self) -> None:
        with self._truth.read() as db:
            revision, behind = self._truth.revision(), self._dense_revision
            if behind == revision:
                return
            width = int(self._truth.meta("vector_width") or 0)
            if not width:
                self._dense = None
            elif self._dense is None or self._dense.width != width or behind < _pruned(db):
                self._dense = DenseIndex(width)
                _put(self._dense, db.execute("SELECT entry, vector FROM vectors ORDER BY entry"))
            else:
                changed = _changed(db, "entry", behind)
                self._dense.remove(changed)
                rows = db.execute(
                    "SELECT v.entry, v.vector FROM json_each(?) j JOIN vectors v ON v.entry = j.value",
                    (json.dumps(changed),),
                )
                _put(self._dense, rows)
            self._dense_revision = revision

    # -- graph --------------------------------------------------------------------------------------

    def _graph_is_current(self, storage: GraphStorage, plan: GraphPlan, now: float) -> bool:
        with self._truth.read() as db:
            state = _state(db)
            return (
                state is not None
                and not state.get("pending")
                and state["fingerprint"] == plan.fingerprint
                and state.get("revision") == self._truth.revision()
                and now < state["until"]
                and state.get("stored") == storage.revision()
            )

    def _sync_graph(self, plan: GraphPlan, now: float) -> None:
        storage = self._storage or self._open_storage(plan)
        if self._storage is None and self._graph_is_current(storage, plan, now):
            self._storage = storage  # as the last process left it: nothing of it is read
            return
        with self._truth.read() as db:
            revision, state = self._truth.revision(), _state(db)
            usable = (
                state is not None
                and state["fingerprint"] == plan.fingerprint
                and _pruned(db) <= state["revision"] <= revision
                and _is_ours(state, storage.revision())
            )
            if not usable:
                if state is not None:
                    log.info("graph %s is built anew from the facts", storage.graph)
                update = _GraphUpdate.load(plan.whole(db, now))
            else:
                assert state is not None
                update = _graph_update(db, plan, state, now, storage, self._stored_counted)
            until = _next_expiry(db, now)
        # The intent is written first: if this process dies between the two writes, the next one sees that
        # the graph may hold this update already, and applies it again.
        fresh = {"fingerprint": plan.fingerprint, "revision": revision, "as_of": now, "until": until}
        if state is not None and usable:
            self._write_state({**state, "pending": True})
        update.apply(storage)
        stored = storage.revision()
        self._counted = None if update.counted is None else (stored, update.counted)
        self._write_state({**fresh, "stored": stored})
        self._storage = storage
        self._prune()

    def _stored_counted(self, storage: GraphStorage) -> Mapping[EdgeKey, Edge]:
        """The counted edges that the graph has; not read again while nobody else wrote to it."""
        if self._counted is not None and self._counted[0] == storage.revision():
            return self._counted[1]
        return {edge.key: edge for edge in storage.iter_edges(kinds=[CO_OCCURS])}

    def _open_storage(self, plan: GraphPlan) -> GraphStorage:
        try:
            return plan.open()
        except (StorageCorruptError, StorageFormatError) as error:
            if plan.files is None:
                raise
            if isinstance(error, StorageFormatError):  # as after every upgrade that needs it: nothing is wrong
                log.info("%s was written by another version; the graph is built anew from the facts", plan.files)
            else:
                log.warning("%s; the graph is built anew from the facts", error)
            _move_aside(plan.files)
            return plan.open()

    def _write_state(self, state: Mapping[str, Any]) -> None:
        with self._truth.write() as db:
            db.execute("INSERT OR REPLACE INTO derived VALUES ('graph', ?)", (json.dumps(state),))

    def _prune(self) -> None:
        """Forget changes that the indexes on disk have taken in, once there are many."""
        with self._truth.read() as db:
            many = db.execute("SELECT count(*) FROM (SELECT 1 FROM changes LIMIT ?)", (_KEEP_CHANGES,)).fetchone()[0]
            state = _state(db)
        if many < _KEEP_CHANGES or self._lexical is None or state is None:
            return
        done = min(self._lexical.revision, state["revision"])
        with self._truth.write() as db:
            db.execute("DELETE FROM changes WHERE revision <= ?", (done,))
            self._truth.set_meta("pruned", str(done))


@dataclass(frozen=True, slots=True)
class _GraphUpdate:
    """One write to the graph: everything, or what changed. ``counted`` are the counted edges there are then."""

    whole: GraphSnapshot | None
    nodes: Sequence[Any] = ()
    edges: Sequence[Edge] = ()
    gone_nodes: Sequence[str] = ()
    gone_edges: Sequence[EdgeKey] = ()
    counted: Mapping[EdgeKey, Edge] | None = None

    @classmethod
    def load(cls, whole: GraphSnapshot) -> _GraphUpdate:
        return cls(whole)

    def apply(self, storage: GraphStorage) -> None:
        if self.whole is not None:
            storage.bulk_load(self.whole)
            return
        if not (self.nodes or self.edges or self.gone_nodes or self.gone_edges):
            return
        with storage.transaction():
            storage.delete_edges(self.gone_edges)
            storage.delete_nodes(self.gone_nodes)
            storage.upsert_nodes(self.nodes)
            storage.upsert_edges(self.edges)


def _graph_update(
    db: sqlite3.Connection,
    plan: GraphPlan,
    state: Mapping[str, Any],
    now: float,
    storage: GraphStorage,
    stored_counted: Callable[[GraphStorage], Mapping[EdgeKey, Edge]],
) -> _GraphUpdate:
    node_ids = set(_changed(db, "node", state["revision"]))
    keys = {EdgeKey(*json.loads(key)) for key in _changed(db, "edge", state["revision"])}
    expired = _ids(
        db.execute(
            "SELECT id FROM entries WHERE valid_to IS NOT NULL AND valid_to > min(:a, :b) AND valid_to <= max(:a, :b)",
            {"a": state["as_of"], "b": now},
        )
    )
    more_nodes, more_keys = touched_by(db, expired)
    node_ids |= more_nodes
    keys |= more_keys
    nodes = facts.nodes_now(db, node_ids, now)
    known = storage.get_nodes(node_ids)
    # A node that came or went brings or takes all edges that touch it, whoever's facts they are.
    moved = [node_id for node_id in node_ids if (node_id in nodes) != (node_id in known)]
    keys.update(facts.incident_keys(db, moved))
    counts = storage.counts()
    if len(node_ids) + len(keys) > max(10_000, _REBUILD_SHARE * (counts.nodes + counts.edges)):
        return _GraphUpdate.load(plan.whole(db, now))
    edges = facts.edges_now(db, keys, now, plan.factors)
    counted: Mapping[EdgeKey, Edge] | None = None
    if plan.cooccurrences:
        counted = {edge.key: edge for edge in plan.counted(db, now)}
        stored = stored_counted(storage)
        keys |= stored.keys() - counted.keys()
        edges |= {key: edge for key, edge in counted.items() if edge != stored.get(key)}
    return _GraphUpdate(
        None,
        nodes=[nodes[node_id] for node_id in sorted(nodes) if nodes[node_id] != known.get(node_id)],
        edges=[edges[key] for key in sorted(edges)],
        gone_nodes=sorted(node_ids & known.keys() - nodes.keys()),
        gone_edges=sorted(keys - edges.keys()),
        counted=counted,
    )


def touched_by(db: sqlite3.Connection, entries: Iterable[str]) -> tuple[set[str], set[EdgeKey]]:
    """Ids of nodes and keys of edges that the entries have a part in."""
    wanted = (json.dumps(sorted(set(entries))),)
    nodes = _ids(db.execute("SELECT n.id FROM json_each(?) j JOIN node_facts n ON n.entry = j.value", wanted))
    keys = db.execute("SELECT f.source, f.target, f.kind FROM json_each(?) j JOIN facts f ON f.entry = j.value", wanted)
    return set(nodes), {EdgeKey(*row) for row in keys}


def _is_ours(state: Mapping[str, Any], stored: int) -> bool:
    """Whether the graph found is the one last written: nobody else wrote to it, or put another in its place."""
    return stored == state["stored"] or bool(state.get("pending") and stored == state["stored"] + 1)


def _next_expiry(db: sqlite3.Connection, now: float) -> float:
    row = db.execute("SELECT min(valid_to) FROM entries WHERE valid_to > ? AND flagged = 0", (now,)).fetchone()
    return math.inf if row[0] is None else float(row[0])


def _state(db: sqlite3.Connection) -> dict[str, Any] | None:
    row = db.execute("SELECT state FROM derived WHERE name = 'graph'").fetchone()
    return None if row is None else json.loads(row[0])


def _pruned(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'pruned'").fetchone()
    return 0 if row is None else int(row[0])


def _changed(db: sqlite3.Connection, what: str, since: int) -> list[str]:
    return _ids(db.execute("SELECT key FROM changes WHERE what = ? AND revision > ? ORDER BY key", (what, since)))


def _ids(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    return [row[0] for row in rows]


def _texts(rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[str, str]]:
    return ((row[0], f"{row[1]}\n{row[2]}" if row[1] else row[2]) for row in rows)


def _put(index: DenseIndex, rows: Iterable[tuple[Any, ...]]) -> None:
    found = list(rows)
    if found:
        matrix = np.frombuffer(b"".join(row[1] for row in found), dtype="<f4").reshape(len(found), index.width)
        index.put([row[0] for row in found], matrix)


def _move_aside(files: Path) -> None:
    """Keep what could not be read, under a name that is free."""
    if not files.exists():
        return
    number = 1
    while (aside := files.with_name(f"{files.name}.corrupt-{number}")).exists():
        number += 1
    files.rename(aside)
    for suffix in ("-wal", "-shm"):
        beside = files.with_name(files.name + suffix)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + suffix))
