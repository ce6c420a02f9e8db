"""The newest snapshot of each storage: kept, patched after small writes, and, on request, mapped from a folder."""

from __future__ import annotations

import hashlib
import logging
import threading
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphport.changes import GraphChanges
from graphport.errors import InvalidInputError, MissingNodeError, StorageError, UnsupportedError
from graphport.model import check_kinds
from graphport.snapshot import files
from graphport.snapshot.columns import GraphSnapshot
from graphport.snapshot.patch import patch

if TYPE_CHECKING:
    from graphport.storage import GraphStorage

log = logging.getLogger("graphport")

PATCHED_UP_TO = 0.1
"""Part of a graph's rows above which changes are not worth patching."""

Kinds = frozenset[str] | None


@dataclass
class _Kept:
    """The snapshots of one storage; the lock lets one thread catch up while the others wait for it."""

    snapshots: dict[Kinds, GraphSnapshot] = field(default_factory=dict[Kinds, GraphSnapshot])
    lock: threading.Lock = field(default_factory=threading.Lock)


_cache: weakref.WeakKeyDictionary[Any, _Kept] = weakref.WeakKeyDictionary()
_cache_lock = threading.Lock()


def snapshot_of(
    graph: GraphStorage | GraphSnapshot, *, kinds: Iterable[str] | None = None, folder: str | Path | None = None
) -> GraphSnapshot:
    """``graph`` itself if it is a snapshot, else the storage's current snapshot.

    It is kept while the storage's revision is unchanged. After a write it is patched with the storage's
    `changes_since`, if they are known and touch at most `PATCHED_UP_TO` of the graph's rows, else read anew.

    With a ``folder``, a snapshot that had to be read is also written there, with what is derived from it,
    and a process that has none yet maps that one, if the storage's changes lead from it to the current
    revision: a cold start costs no reading, and processes share its pages. The folder may serve any number
    of graphs and processes, and may be deleted at any time.

    Only a snapshot whose ``revision`` is known is kept, so what a transaction sees of itself is never handed
    to anyone else. Raises `InvalidInputError` for what is neither a storage nor a snapshot.
    """
    if isinstance(graph, GraphSnapshot):
        if kinds is not None:
            raise InvalidInputError("kinds can be chosen when a snapshot is read, not afterwards")
        return graph
    if not hasattr(graph, "revision"):  # isinstance looks at every method, which is too much for each question
        raise InvalidInputError(f"the graph is {type(graph).__name__} {graph!r:.80}; give what open_storage opened")
    wanted = check_kinds(kinds)
    with _cache_lock:
        kept = _cache.setdefault(graph, _Kept())
    with kept.lock:
        place = None if folder is None else _place(Path(folder), graph, wanted)
        current = _current(graph, wanted, kept.snapshots.get(wanted), place)
        if current.revision is not None:
            kept.snapshots[wanted] = current
        return current


def _current(graph: GraphStorage, kinds: Kinds, last: GraphSnapshot | None, place: Path | None) -> GraphSnapshot:
    revision = graph.revision()
    if last is None and place is not None:
        last = _mapped(place)
    if last is not None and last.revision == revision:
        return last
    if last is not None and (patched := _patched(graph, kinds, last)) is not None:
        return patched
    fresh = graph.snapshot(kinds=kinds)
    return fresh if place is None or fresh.revision is None else _written(fresh, place)


def _patched(graph: GraphStorage, kinds: Kinds, last: GraphSnapshot) -> GraphSnapshot | None:
    """``last`` with what changed since; None where that is not known, or too much."""
    assert last.revision is not None, "only such are kept"
    try:
        changes = graph.changes_since(last.revision)
    except UnsupportedError:
        return None
    if changes is None or len(changes) > PATCHED_UP_TO * (last.n_nodes + last.n_edges):
        return None
    try:
        made = patch(last, _of_kinds(changes, kinds))
    except MissingNodeError:  # another tool wrote into the engine, past the feed
        return None
    made.graph.follow(last, made.row_changes(last))
    return made.graph


def _of_kinds(changes: GraphChanges, kinds: Kinds) -> GraphChanges:
    if kinds is None:
        return changes
    return replace(changes, edges={key: edge for key, edge in changes.edges.items() if key.kind in kinds})


def _place(folder: Path, graph: GraphStorage, kinds: Kinds) -> Path | None:
    """Where the snapshot of that very graph lies; None for a graph that ends with its handle."""
    identity = graph.identity()
    if identity is None:
        return None
    name = "\0".join([identity, "all" if kinds is None else "some", *sorted(kinds or ())])
    return folder / hashlib.sha256(name.encode()).hexdigest()[:32]


def _mapped(place: Path) -> GraphSnapshot | None:
    if not (place / files.COLUMNS).exists():
        return None
    try:
        return files.snapshot_from(files.read(place, mapped=True), place, mapped=True, writable=True)
    except StorageError as error:
        log.warning("the snapshot in %s is read anew: %s", place, error)
        return None


def _written(fresh: GraphSnapshot, place: Path) -> GraphSnapshot:
    """The same snapshot, mapped; itself where it cannot be written, which costs the next cold start only."""
    try:
        files.save(fresh, place, {})
    except StorageError as error:
        log.warning("the snapshot is not kept in %s: %s", place, error)
        return fresh
    mapped = _mapped(place)
    # Another process may have put its own there in between, of an earlier or a later revision.
    return mapped if mapped is not None and mapped.revision == fresh.revision else fresh
