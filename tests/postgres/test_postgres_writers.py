"""Many writers: nothing lost, nothing double; conflicts tried again; waits that end in a typed error."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from postgres_engine import Engine

from graphport import Edge, Node, open_storage
from graphport.errors import MissingNodeError, StorageBusyError, StorageUnavailableError, TransactionError
from graphport_postgres import session
from graphport_postgres import storage as storage_module
from graphport_postgres.storage import PostgresStorage


def _work(backend: str, dsn: str, worker: int) -> None:
    with open_storage(backend, dsn=dsn, busy_timeout=60.0) as storage:
        for step in range(15):
            with storage.transaction():
                counter = storage.get_nodes(["counter"])["counter"]
                storage.upsert_nodes([Node("counter", "k", "counter", None, {"n": counter.props["n"] + 1})])
            same = [Node(f"shared {number}", "k", f"{worker}") for number in range(20)]
            with storage.transaction():
                storage.upsert_nodes(same[:: 1 if worker % 2 else -1])
                storage.upsert_edges([Edge(node.id, "counter", "e", float(worker)) for node in same[::-1]])
            storage.upsert_nodes([Node(f"{worker}-{step}", "own", "n")])
            if step % 5 == 0:
                storage.delete_nodes(["shared 3", "shared 7"])


def test_four_processes_lose_nothing_and_make_nothing_twice(engine: Engine) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node("counter", "k", "counter", None, {"n": 0})])
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_work, args=(engine.backend.name, engine.dsn, worker), daemon=True)
        for worker in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert storage.get_nodes(["counter"])["counter"].props == {"n": 60}
    ids = [node.id for node in storage.iter_nodes(kind="own")]
    assert ids == sorted(f"{worker}-{step}" for worker in range(4) for step in range(15))
    ids = [node.id for node in storage.iter_nodes()]
    assert len(ids) == len(set(ids))
    keys = [edge.key for edge in storage.iter_edges()]
    assert len(keys) == len(set(keys))
    assert storage.snapshot().n_edges == len(keys)
    assert {edge.source for edge in storage.iter_edges()} <= set(ids)
    commits = 1 + 4 * 15 * 3  # and up to 12 more, by deletes that found something
    assert commits <= storage.revision() <= commits + 4 * 3


def test_revisions_are_strictly_monotone_under_concurrency(tables: Engine) -> None:
    storage = tables.open(pool_max=6)
    done = threading.Event()

    def watch() -> list[int]:
        seen = []
        while not done.is_set():
            seen.append(storage.revision())
        return seen

    def write(worker: int) -> None:
        for step in range(25):
            storage.upsert_nodes([Node(f"{worker}-{step}", "k", "n")])

    with ThreadPoolExecutor(5) as pool:
        watcher = pool.submit(watch)
        list(pool.map(write, range(4)))
        done.set()
        seen = watcher.result()
    assert seen == sorted(seen)
    assert storage.revision() == 100


def _deadlock(engine: Engine, ours: Any) -> tuple[Any, float]:
    """Runs ``ours`` against somebody who locks the same rows the other way round, and lets us be the victim."""
    storage = engine.open()
    storage.upsert_nodes([Node("a", "k", "a"), Node("b", "k", "b")])
    admin = engine.admin()
    admin.execute("SET deadlock_timeout = '10min'")
    nodes = f'"{storage.space}"."{storage.layout.node_table}"'
    admin.execute("BEGIN")
    key = storage.layout.node_key.replace("{a}.", "")
    lock = f"SELECT 1 FROM {nodes} WHERE {key} = (%s::text)::{storage.layout.key_type} FOR UPDATE"
    admin.execute("SET LOCAL search_path = ag_catalog, pg_catalog")
    admin.execute(lock.encode(), (storage.layout.encode_key("b"),))
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        result = pool.submit(ours, storage)
        while not engine.somebody_waits():
            time.sleep(0.02)
        admin.execute(lock.encode(), (storage.layout.encode_key("a"),))  # now each waits for the other
        admin.execute("COMMIT")
        try:
            return result.result(60), time.monotonic() - began
        except StorageBusyError as error:
            return error, time.monotonic() - began


CHANGE = [Node("a", "changed", "a"), Node("b", "changed", "b")]


def test_a_batch_that_fell_to_a_deadlock_is_tried_again(engine: Engine) -> None:
    result, _ = _deadlock(engine, lambda storage: storage.upsert_nodes(CHANGE) or storage.counts().node_kinds)
    assert result == {"changed": 2}


def test_a_transaction_that_fell_to_a_deadlock_is_told_so(engine: Engine) -> None:
    def ours(storage: PostgresStorage) -> None:
        with storage.transaction():
            storage.upsert_nodes(CHANGE)

    result, _ = _deadlock(engine, ours)
    assert isinstance(result, StorageBusyError)
    assert "deadlock" in str(result)
    assert engine.open().counts().node_kinds == {"k": 2}


def test_no_edge_is_left_to_a_node_that_is_deleted_meanwhile(engine: Engine) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node("a", "k", "a"), Node("b", "k", "b")])
    with ThreadPoolExecutor(1) as pool:
        with storage.transaction():
            storage.delete_nodes(["a"])
            waiting = pool.submit(storage.upsert_edges, [Edge("a", "b", "e"), Edge("b", "b", "e")])
            while not engine.somebody_waits():
                time.sleep(0.02)
        with pytest.raises(MissingNodeError):
            waiting.result(30)
    table = f'"{storage.space}"."{storage.layout.edge_table}"'
    assert engine.admin().execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)


def test_a_change_of_a_numbers_type_or_sign_alone_is_a_change(engine: Engine) -> None:
    storage = engine.open()
    for number in (1, 1.0, True, "1", 0.0, -0.0):
        storage.upsert_nodes([Node("a", "k", "a", None, {"n": number})])
        assert repr(storage.get_nodes(["a"])["a"].props) == repr({"n": number})
    for weight in (0.0, -0.0, 5e-324):
        storage.upsert_edges([Edge("a", "a", "e", weight)])
        assert repr(storage.snapshot().weight.tolist()) == repr([weight])


def test_trying_again_ends(tables: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = tables.open()
    tables.admin().execute(
        f'CREATE FUNCTION "{storage.space}".refuse() RETURNS trigger LANGUAGE plpgsql AS'
        " $$BEGIN RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'could not serialize'; END$$".encode()
    )
    tables.admin().execute(
        f'CREATE TRIGGER refuse BEFORE INSERT ON "{storage.space}".node'
        f' EXECUTE FUNCTION "{storage.space}".refuse()'.encode()
    )
    pauses: list[float] = []
    monkeypatch.setattr("graphport_postgres.session.time.sleep", pauses.append)
    with pytest.raises(StorageBusyError, match="another transaction changed the same rows first"):
        storage.upsert_nodes([Node("a", "k", "a")])
    assert len(pauses) == session.TRIES - 1
    assert all(0.5 * 0.02 * 2**step <= pause <= 1.5 * 0.02 * 2**step for step, pause in enumerate(pauses))


def test_a_statement_that_takes_too_long_is_stopped(engine: Engine) -> None:
    storage = engine.open(statement_timeout=0.2, busy_timeout=30.0)
    storage.upsert_nodes([Node("a", "k", "a")])
    holder = engine.open()
    with holder.transaction():
        holder.upsert_nodes([Node("a", "k", "b")])
        with pytest.raises(StorageBusyError, match="statement_timeout"):
            storage.upsert_nodes([Node("a", "k", "c")])
        assert storage.get_nodes(["a"])["a"].name == "a"
    storage.upsert_nodes([Node("a", "k", "c")])


def test_no_free_connection_is_busy_too(tables: Engine) -> None:
    storage = tables.open(pool_min=1, pool_max=2, busy_timeout=0.3)
    storage.upsert_nodes([Node(f"{number}", "k", "n") for number in range(5)])
    with ExitStack() as stack:
        for _ in range(2):
            rows = storage.iter_nodes()
            next(rows)
            stack.callback(rows.close)  # type: ignore[attr-defined]  # a generator
        with pytest.raises(StorageBusyError, match="pool_max"):
            storage.counts()
    assert storage.counts().nodes == 5


def test_a_statement_that_failed_undoes_the_transaction_even_if_nobody_looks(tables: Engine) -> None:
    storage = tables.open(statement_timeout=0.2)
    storage.upsert_nodes([Node("a", "k", "a")])
    tables.admin().execute(
        f'CREATE FUNCTION "{storage.space}".slow() RETURNS trigger LANGUAGE plpgsql AS'
        " $$BEGIN PERFORM pg_sleep(5); RETURN NULL; END$$".encode()
    )
    tables.admin().execute(
        f'CREATE TRIGGER slow AFTER INSERT ON "{storage.space}".edge EXECUTE FUNCTION "{storage.space}".slow()'.encode()
    )

    def write() -> None:
        with storage.transaction():
            storage.upsert_nodes([Node("b", "k", "b")])
            with pytest.raises(StorageBusyError):
                storage.upsert_edges([Edge("a", "b", "e")])
            with pytest.raises(TransactionError, match="leave its with-block"):
                storage.counts()

    with pytest.raises(TransactionError, match="undone"):
        write()
    assert storage.counts().nodes == 1


def test_a_batch_of_several_statements_is_all_or_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "ROWS_A_STATEMENT", 10)
    storage = engine.open()
    storage.upsert_nodes([Node(f"{number:02d}", "k", "n") for number in range(25)])
    edges = [Edge(f"{number:02d}", "00", "e") for number in range(25)]
    revision = storage.revision()
    with pytest.raises(LookupError):
        storage.upsert_edges([*edges, Edge("00", "ghost", "e")])
    assert (storage.counts().edges, storage.revision()) == (0, revision)
    with storage.transaction():
        storage.upsert_nodes([Node("new", "k", "n")])
        with pytest.raises(LookupError):
            storage.upsert_edges([*edges, Edge("00", "ghost", "e")])
        storage.upsert_edges([Edge("new", "00", "e")])
    assert [edge.source for edge in storage.iter_edges()] == ["new"]
    storage.upsert_edges(edges)
    assert storage.counts().edges == 26
    assert storage.revision() == revision + 2


def test_a_fork_is_refused_in_the_child(tables: Engine) -> None:
    storage = tables.open()
    storage.upsert_nodes([Node("a", "k", "a")])
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def child() -> None:
        try:
            storage.counts()
        except StorageUnavailableError as error:
            answers.put(str(error))

    process = context.Process(target=child)
    process.start()
    process.join(30)
    process.kill()
    assert not answers.empty()
    assert "opened before a fork" in answers.get()
    assert storage.counts().nodes == 1
