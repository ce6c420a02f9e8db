"""Long random histories, with everything in them that broke an engine: rollback, reopening, compaction, failures."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
from kuzu_engine import engine_of
from kuzu_model import Model, apply, random_writes

from graphport import GraphSnapshot, GraphStorage
from graphport.errors import StorageError
from graphport_kuzu import writes
from graphport_kuzu.session import Session

STEPS = 100


class _Failure(StorageError):
    """Stands for whatever the engine may raise in the middle of a transaction."""


def _failing_at(statement: int) -> Callable[..., None]:
    run, seen = Session.run, iter(range(1_000))

    def failing(session: Session, text: str, parameters: Any = None) -> None:
        if next(seen) == statement:
            raise _Failure
        run(session, text, parameters)

    return failing


class _History:
    """One storage, its model, and what happens to both."""

    def __init__(self, seed: int, open_graph: Callable[..., GraphStorage]) -> None:
        self.chance = random.Random(seed)
        self.open_graph = open_graph
        self.storage = open_graph()
        self.model = Model()

    def step(self) -> None:
        events = ["write"] * 5 + ["transaction"] * 4 + ["rollback", "failure", "reopen", "compact", "load", "clear"]
        getattr(self, self.chance.choice(events))()

    def write(self) -> None:
        batch = random_writes(self.chance, self.model, most=1)
        apply(self.storage, batch)
        apply(self.model, batch)

    def transaction(self) -> None:
        batch = random_writes(self.chance, self.model)
        with self.storage.transaction():
            for write in batch:
                apply(self.storage, [write])
                apply(self.model, [write])
            if self.chance.random() < 0.3:
                self.model.assert_same(self.storage)

    def rollback(self) -> None:
        with suppress(ZeroDivisionError), self.storage.transaction():
            apply(self.storage, random_writes(self.chance, self.model))
            raise ZeroDivisionError

    def failure(self) -> None:
        """The engine gives up at some statement after BEGIN, COMMIT included; nothing of the batch is left."""
        batch = random_writes(self.chance, self.model)
        try:
            with self.storage.transaction():
                apply(self.storage, batch)
                with_failure = patch.object(Session, "run", _failing_at(self.chance.randint(1, 6)))
                with_failure.start()
        except _Failure:
            pass
        else:
            apply(self.model, batch)
        finally:
            with_failure.stop()

    def reopen(self) -> None:
        self.storage.close()
        self.storage = self.open_graph()

    def compact(self) -> None:
        """Whatever the next batch does to the log, it is too long then."""
        engine_of(self.storage)._wal_limit = 0
        self.write()

    def load(self) -> None:
        self.storage.bulk_load(GraphSnapshot.from_rows(self.model.nodes.values(), self.model.edges.values()))

    def clear(self) -> None:
        if self.chance.random() < 0.2:
            self.storage.clear()
            self.model = Model()


def _run(history: _History, steps: int) -> None:
    for step in range(steps):
        history.step()
        if step % 5 == 4:
            history.model.assert_same(history.storage)
    history.reopen()
    history.model.assert_same(history.storage)
    history.storage.close()


@pytest.mark.parametrize("seed", range(2))
def test_a_random_history_agrees_with_a_model(seed: int, open_graph: Callable[..., GraphStorage]) -> None:
    _run(_History(seed, open_graph), STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_more_random_histories_agree_with_a_model(seed: int, open_graph: Callable[..., GraphStorage]) -> None:
    _run(_History(seed, open_graph), STEPS)


@pytest.mark.parametrize("seed", range(2))
def test_batches_merged_into_a_new_generation_are_what_statements_would_have_made(
    seed: int, open_graph: Callable[..., GraphStorage]
) -> None:
    with patch.object(writes, "MANY", 0):
        _run(_History(100 + seed, open_graph), STEPS // 2)
