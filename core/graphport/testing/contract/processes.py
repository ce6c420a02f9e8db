"""What other processes do to the store of a test. They are spawned: no engine survives a fork."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphport.errors import GraphportError
from graphport.model import Edge, Node
from graphport.testing.contract.base import OpenStore

DIED = 70
_ENDS = {DIED: "died"}
TIMEOUT = 120.0


@dataclass(frozen=True)
class Outcome:
    """``done``, ``died`` as it should, ``crashed`` (see its stderr), or the name of the typed error that ended it."""

    how: str
    message: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outcome) and self.how == other.how

    def __hash__(self) -> int:
        return hash(self.how)


def in_new_process(action: str, opener: OpenStore, arguments: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """Runs ``action`` in one process per item of ``arguments``, all at once."""
    context = multiprocessing.get_context("spawn")
    results = [context.SimpleQueue() for _ in arguments]
    children = [
        context.Process(target=_run, args=(action, opener, dict(given), queue), daemon=True)
        for given, queue in zip(arguments, results, strict=True)
    ]
    for child in children:
        child.start()
    outcomes: list[Outcome] = []
    for child, queue in zip(children, results, strict=True):
        child.join(TIMEOUT)
        assert child.exitcode is not None, f"{action} hung"
        outcomes.append(queue.get() if child.exitcode == 0 else Outcome(_ENDS.get(child.exitcode, "crashed")))
    return outcomes


def _run(action: str, opener: OpenStore, given: dict[str, Any], results: Any) -> None:
    try:
        _ACTIONS[action](opener, **given)
    except GraphportError as error:
        results.put(Outcome(type(error).__name__, str(error)))
    else:
        results.put(Outcome("done"))


def _write_once(opener: OpenStore, **options: Any) -> None:
    with opener(**options) as storage:
        storage.upsert_nodes([Node("from the other process", "k", "n")])


def _count_up(opener: OpenStore, worker: int, workers: int) -> None:
    """Twenty times: add one to what the counter says, which only a lock from read to commit gets right."""
    with opener(busy_timeout=60.0) as storage:
        storage.upsert_nodes([Node(f"ready {worker}", "ready", "ready")])
        while len(list(storage.iter_nodes(kind="ready"))) < workers:
            time.sleep(0.001)
        for step in range(20):
            with storage.transaction():
                counter = storage.get_nodes(["counter"])["counter"]
                storage.upsert_nodes([Node("counter", "k", "counter", None, {"n": counter.props["n"] + 1})])
            storage.upsert_nodes([Node(f"{worker}-{step:02d}", "step", "step")])


def _commit_and_die(opener: OpenStore) -> None:
    storage = opener()
    storage.upsert_nodes([Node("committed", "k", "committed")])
    storage.upsert_edges([Edge("committed", "committed", "e")])
    transaction = storage.transaction()
    transaction.__enter__()
    storage.upsert_nodes([Node("half", "k", "half")])
    storage.delete_nodes(["committed"])
    os._exit(DIED)


_ACTIONS: dict[str, Callable[..., None]] = {
    "write_once": _write_once,
    "count_up": _count_up,
    "commit_and_die": _commit_and_die,
}
