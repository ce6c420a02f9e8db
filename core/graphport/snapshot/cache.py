"""The newest snapshot of each storage, kept as long as it is right."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphport.errors import InvalidInputError
from graphport.model import check_kinds
from graphport.snapshot.columns import GraphSnapshot

if TYPE_CHECKING:
    from graphport.storage import GraphStorage

_Cached = dict[frozenset[str] | None, GraphSnapshot]
_cache: weakref.WeakKeyDictionary[Any, _Cached] = weakref.WeakKeyDictionary()
_cache_lock = threading.Lock()


def snapshot_of(graph: GraphStorage | GraphSnapshot, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
    """``graph`` itself if it is a snapshot, else the storage's snapshot, kept while its revision is unchanged.

    Only a snapshot whose ``revision`` is the storage's current one is kept, so what a transaction sees
    of itself is never handed to anyone else.
    """
    if isinstance(graph, GraphSnapshot):
        if kinds is not None:
            raise InvalidInputError("kinds can be chosen when a snapshot is read, not afterwards")
        return graph
    wanted = check_kinds(kinds)
    revision = graph.revision()
    with _cache_lock:
        kept = _cache.get(graph, {}).get(wanted)
    if kept is not None and kept.revision == revision:
        return kept
    fresh = graph.snapshot(kinds=wanted)
    if fresh.revision is not None:
        with _cache_lock:
            _cache.setdefault(graph, {})[wanted] = fresh
    return fresh
