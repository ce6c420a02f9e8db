"""The engines of this process: one per graph's folder, for as long as there are handles onto it."""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path

from graphport_kuzu.drivers import Settings
from graphport_kuzu.engine import Engine

_engines: dict[Path, Engine] = {}
_lock = threading.Lock()


def enlist(folder: Path, settings: Settings, *, read_only: bool, timeout: float) -> Engine:
    """The engine of that folder, open, with one handle more; `leave` gives it back.

    The first handle's ``settings`` count. Raises `StorageBusyError` if another process keeps the graph for
    ``timeout`` seconds.
    """
    _watch_forks()
    place = folder.resolve()
    with _lock:
        engine = _engines.setdefault(place, Engine(place, settings))
        _count(engine, read_only, 1)
    try:
        engine.settle(timeout)
    except BaseException:
        leave(engine, read_only=read_only)
        raise
    return engine


def leave(engine: Engine, *, read_only: bool) -> None:
    """Gives a handle up; the last one closes the database, the last that could write frees it for others."""
    with _lock:
        _count(engine, read_only, -1)
        if not engine.writers and not engine.readers:
            _engines.pop(engine.folder, None)
        engine.settle(0)


def _count(engine: Engine, read_only: bool, change: int) -> None:
    if read_only:
        engine.readers += change
    else:
        engine.writers += change


@cache
def _watch_forks() -> None:
    os.register_at_fork(after_in_child=_abandon)


def _abandon() -> None:
    global _lock  # noqa: PLW0603 - the parent may have held it at the fork
    _lock = threading.Lock()
    for engine in _engines.values():
        engine.abandon()
    _engines.clear()
