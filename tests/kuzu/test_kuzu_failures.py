"""What the engine, the disk or the memory refuses: a typed error, nothing half-done, and the handle goes on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from kuzu_child import run
from kuzu_engine import engine_of

from graphport import Edge, GraphSnapshot, GraphStorage, Node
from graphport.errors import (
    StorageBusyError,
    StorageClosedError,
    StorageCorruptError,
    StorageError,
    StorageFullError,
    StorageUnavailableError,
)
from graphport_kuzu import durable, engine, writes
from graphport_kuzu.failures import opening_error, storage_error

Open = Callable[..., GraphStorage]


@pytest.mark.parametrize(
    "said, kind",
    [
        ("IO exception: Could not set lock on file : /x/graph.db", StorageBusyError),
        (
            "Cannot start a new write transaction in the system. Only one write transaction at a time ...",
            StorageBusyError,
        ),
        ("Interrupted.", StorageBusyError),
        (
            "Buffer manager exception: Unable to allocate memory! The buffer pool is full and no memory",
            StorageFullError,
        ),
        ("IO exception: Cannot write to file. path: /x numBytesWritten: 1546. Error: Success", StorageFullError),
        ("IO exception: Cannot open file. path: /x/graph.db - Error 13: Permission denied", StorageUnavailableError),
        ("IO exception: Cannot open file /x/graph.db: No such file or directory", StorageUnavailableError),
        ("Runtime exception: Database is closed.", StorageClosedError),
        ("something nobody has seen", StorageError),
    ],
)
def test_the_drivers_messages_become_typed_errors(said: str, kind: type[StorageError]) -> None:
    assert type(storage_error(RuntimeError(said), "/x")) is kind


def test_only_what_is_not_known_to_pass_is_taken_for_damage() -> None:
    assert type(opening_error(RuntimeError("Found duplicated primary key value a"), "/x")) is StorageCorruptError
    assert type(opening_error(RuntimeError("Could not set lock on file : /x"), "/x")) is StorageBusyError
    assert type(opening_error(MemoryError("std::bad_alloc"), "/x")) is StorageFullError


FULL = """
import resource
def limited(size, write):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        write()
    except StorageError as error:
        say(type(error).__name__)
    else:
        say("written")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert [node.id for node in graph.iter_nodes()] == ["a"], "something of it is there"
    assert graph.counts().edges == 1

rows = [Node(f"n{number}", "k", "n" * 100) for number in range(2000)]
graph = open_graph()
graph.upsert_nodes([Node("a", "k", "a")])
graph.upsert_edges([Edge("a", "a", "e")])
for size in (10, 2_000, 20_000, 100_000):
    limited(size, lambda: graph.upsert_nodes(rows))
for size in (10, 20_000, 100_000, 500_000):
    limited(size, lambda: graph.bulk_load(GraphSnapshot.from_rows(rows, [])))
graph.upsert_nodes([Node("b", "k", "b")])
graph.close()
with open_graph() as graph:
    say(*(node.id for node in graph.iter_nodes()))
"""


def test_a_disk_that_is_full_ends_neither_the_process_nor_a_commit_in_the_middle(options: dict[str, Any]) -> None:
    """Both engines call ``std::terminate`` when they close a database whose log they could not write."""
    *outcomes, left = run(options, FULL).splitlines()
    assert left == "a b"
    assert outcomes[:4] == ["StorageFullError"] * 4
    assert all(outcome.startswith("Storage") for outcome in outcomes[4:])
    assert len(outcomes) == 8


def test_a_write_the_disk_has_no_room_for_is_refused_before_it_begins(open_graph: Open) -> None:
    with open_graph() as graph:
        graph.upsert_nodes([Node("a", "k", "a")])
        with patch.object(durable, "SPARE", 1 << 62):
            with pytest.raises(StorageFullError, match="make room"):
                graph.upsert_nodes([Node("b", "k", "b")])
            with pytest.raises(StorageFullError, match="make room"):
                graph.bulk_load(GraphSnapshot.from_rows([], []))
        assert graph.counts().nodes == graph.revision() == 1


def test_a_batch_that_memory_does_not_hold_is_refused_and_the_next_one_works(open_graph: Open) -> None:
    nodes = [Node(f"{number:06d}", "k", "name", None, {"text": "x" * 2000}) for number in range(50_000)]
    with patch.object(writes, "MANY", 1_000_000), open_graph(buffer_pool_size=64 * 2**20) as graph:
        graph.upsert_nodes([Node("a", "k", "a")])
        with pytest.raises(StorageFullError, match="buffer_pool_size"), graph.transaction():
            graph.upsert_nodes(nodes)
        assert graph.counts().nodes == graph.revision() == 1
        graph.upsert_nodes([Node("b", "k", "b")])
        assert graph.counts().nodes == 2


def test_a_compaction_that_fails_is_put_off_and_the_commit_stands(
    open_graph: Open, caplog: pytest.LogCaptureFixture
) -> None:
    with open_graph() as graph:
        graph.upsert_nodes([Node("a", "k", "a")])
        engine_of(graph)._wal_limit = 0
        with (
            patch.object(engine.Engine, "compact", side_effect=StorageFullError("no room")),
            caplog.at_level(logging.WARNING),
        ):
            graph.upsert_nodes([Node("b", "k", "b")])
        assert "not compacted" in caplog.text
        assert not engine_of(graph).needs_compaction
        assert (graph.counts().nodes, graph.revision()) == (2, 2)


def test_a_log_that_has_grown_too_long_is_compacted_and_nothing_changes(open_graph: Open) -> None:
    nodes = [Node(f"n{number}", "k", f"name {number}", None, {"number": number}) for number in range(300)]
    edges = [Edge(f"n{number}", f"n{number * 7 % 300}", "e", number, {"x": [number]}) for number in range(300)]
    with patch.object(engine, "SMALL_WAL", 50_000), open_graph() as graph:
        generations = set()
        for first in range(0, 300, 10):
            with graph.transaction():
                graph.upsert_nodes(nodes)
                graph.upsert_edges(edges[first : first + 10])
            generations.add(engine_of(graph)._open.pointer)
        assert len(generations) > 2
        assert graph.revision() == 30
        assert list(graph.iter_nodes()) == sorted(nodes, key=lambda node: node.id)
        assert list(graph.iter_edges()) == sorted(edges, key=lambda edge: edge.key)
    with open_graph() as graph:
        assert graph.revision() == 30
        assert graph.counts().edges == 300


def test_driver_errors_keep_their_cause(open_graph: Open) -> None:
    with open_graph() as graph, pytest.raises(StorageError) as caught, engine_of(graph).reading() as session:
        session.run("THIS IS NO CYPHER")
    assert isinstance(caught.value.__cause__, RuntimeError)
