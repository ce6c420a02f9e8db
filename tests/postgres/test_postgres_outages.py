"""A server that goes away and comes back, and connections that are cut."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from postgres_engine import Engine
from postgres_servers import NoServer, ScriptServer, connect, free_port

from graphport import Node, open_storage
from graphport.errors import StorageUnavailableError


@pytest.fixture
def own_server() -> Iterator[ScriptServer]:
    """A server that a test may kill."""
    folder = Path(tempfile.mkdtemp(prefix="graphport-postgres-outage-"))
    folder.chmod(0o755)
    server = ScriptServer("forky", folder, free_port())
    try:
        server.run("start")
    except NoServer as error:
        shutil.rmtree(folder)
        if "CI" in os.environ:
            raise
        pytest.skip(f"NO POSTGRESQL SERVER: {error}")
    yield server
    server.remove()


@pytest.mark.parametrize("backend", ["age", "postgres"])
def test_a_killed_server_is_unavailable_and_then_back(own_server: ScriptServer, backend: str) -> None:
    with open_storage(backend, dsn=own_server.run("dsn"), connect_timeout=2, busy_timeout=5) as storage:
        storage.upsert_nodes([Node("a", "k", "a")])
        rows = storage.iter_nodes()
        next(rows)
        os.kill(own_server.postmaster(), signal.SIGQUIT)  # "immediate": no goodbye to anybody
        while own_server.running():
            time.sleep(0.05)
        began = time.monotonic()
        for call in (storage.counts, lambda: storage.upsert_nodes([Node("b", "k", "b")]), storage.snapshot):
            with pytest.raises(StorageUnavailableError, match="cannot be reached"):
                call()
        assert time.monotonic() - began < 5  # it is refused at once and not waited for
        own_server.run("start")
        assert storage.counts().nodes == 1
        storage.upsert_nodes([Node("b", "k", "b")])
        with storage.transaction():
            storage.upsert_nodes([Node("c", "k", "c")])
        assert [node.id for node in storage.iter_nodes()] == ["a", "b", "c"]


def _cut(engine: Engine) -> None:
    with connect(engine.dsn) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'graphport'"
            " ORDER BY wait_event_type = 'Lock' DESC NULLS LAST"  # else who waits for the first one's lock gets it
        )


def test_after_all_connections_were_cut_one_call_fails_and_the_next_one_works(engine: Engine) -> None:
    storage = engine.open(pool_min=3)
    storage.upsert_nodes([Node("a", "k", "a")])
    time.sleep(0.2)  # the pool opens its connections in the background
    _cut(engine)
    with pytest.raises(StorageUnavailableError):
        storage.upsert_nodes([Node("b", "k", "b")])
    storage.upsert_nodes([Node("c", "k", "c")])
    assert [node.id for node in storage.iter_nodes()] == ["a", "c"]


def test_a_transaction_whose_connection_is_cut_is_undone(engine: Engine) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node("a", "k", "a")])

    def write(*, go_on: bool) -> None:
        with storage.transaction():
            storage.upsert_nodes([Node("b", "k", "b")])
            _cut(engine)
            if go_on:
                storage.upsert_nodes([Node("c", "k", "c")])

    for go_on in (True, False):
        with pytest.raises(StorageUnavailableError):
            write(go_on=go_on)
        assert storage.counts().nodes == 1
    storage.upsert_nodes([Node("d", "k", "d")])


def test_an_iteration_whose_connection_is_cut_fails_and_does_not_end_early(tables: Engine) -> None:
    storage = tables.open()
    storage.upsert_nodes([Node(f"{number:05d}", "k", "n") for number in range(5000)])
    rows = storage.iter_nodes()
    next(rows)
    _cut(tables)
    with pytest.raises(StorageUnavailableError):
        list(rows)
    assert sum(1 for _ in storage.iter_nodes()) == 5000


def test_a_call_that_is_cut_while_it_waits_fails(tables: Engine) -> None:
    storage, holder = tables.open(busy_timeout=30), tables.open(busy_timeout=31)
    waiting: list[Future[None]] = []

    def write() -> None:
        with holder.transaction():
            waiting.append(pool.submit(storage.upsert_nodes, [Node("late", "k", "n")]))
            while not tables.somebody_waits():
                time.sleep(0.02)
            _cut(tables)

    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(StorageUnavailableError):
            write()
        with pytest.raises(StorageUnavailableError):
            waiting[0].result(30)
    assert storage.counts().nodes == 0


@pytest.mark.parametrize(
    "dsn",
    [
        "host=127.0.0.1 port=1 user=nobody dbname=none",
        "host=does-not-exist.invalid user=nobody dbname=none",
        "postgresql://nobody@127.0.0.1:1/none?sslmode=verify-full&sslrootcert=system",
    ],
)
def test_a_server_that_is_not_there_is_unavailable(dsn: str) -> None:
    with pytest.raises(StorageUnavailableError, match="cannot be reached"):
        open_storage("postgres", dsn=dsn, connect_timeout=2)


def test_a_database_or_role_that_is_not_there_is_unavailable(tables: Engine) -> None:
    for change in ("dbname=nowhere", "user=nobody_of_that_name"):
        with pytest.raises(StorageUnavailableError, match="does not exist"):
            Engine(tables.backend, f"{tables.dsn} {change}", tables.stack).open()
