"""What is the file's own: damage, room, format, other processes, many parts, compaction."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from graph_file import read_file

import graphport_memory.file
from graphport import Edge, GraphSnapshot, Node, open_storage
from graphport.errors import (
    ConfigError,
    InvalidIdError,
    StorageBusyError,
    StorageCorruptError,
    StorageFullError,
    StorageUnavailableError,
    UnsupportedError,
)
from graphport_memory.storage import MemoryStorage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


def grid(n: int, start: int = 0) -> tuple[list[Node], list[Edge]]:
    nodes = [Node(f"n{i:05d}", "k", f"name {i}", f"entry {i % 7}", {"i": i}) for i in range(start, start + n)]
    return nodes, [Edge(a.id, b.id, "next", 0.1, {"a": a.id}) for a, b in pairwise(nodes)]


def fill(path: Path, n: int = 200) -> GraphSnapshot:
    """A file with a base and batches on top of it; the graph it holds."""
    nodes, edges = grid(n)
    with MemoryStorage(path) as storage:
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
        storage.upsert_nodes([Node("late", "k", "late")])
        storage.upsert_edges([Edge("late", "n00000", "e")])
        return storage.snapshot()


def change(path: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        assert file.execute(sql, values).rowcount > 0


# -- damage --------------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_bytes(b"These are notes, not a graph. " * 100)
    before = path.read_bytes()
    with pytest.raises(StorageCorruptError, match=r"graph\.db") as caught:
        MemoryStorage(path)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE notes (text TEXT)")
    before = path.read_bytes()
    with pytest.raises(StorageCorruptError, match="something else"):
        MemoryStorage(path)
    with pytest.raises(StorageCorruptError, match="something else"):
        MemoryStorage(path, read_only=True)
    assert path.read_bytes() == before


def test_every_damaged_column_is_noticed(path: Path, tmp_path: Path) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as file:
        columns = [name for (name,) in file.execute("SELECT name FROM columns WHERE length(data) > 0 ORDER BY name")]
    assert len(columns) > 12
    for column in columns:
        copy = tmp_path / "copy.db"
        shutil.copy(path, copy)
        change(
            copy,
            "UPDATE columns SET data = CAST(substr(data, 1, length(data) - 1) || x'7f' AS BLOB) WHERE name = ?",
            column,
        )
        with MemoryStorage(copy) as storage, pytest.raises(StorageCorruptError, match=column):
            storage.counts()


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM columns WHERE name = 'weight'",
        "DELETE FROM columns WHERE name = 'ids.lengths'",
        "DELETE FROM batches WHERE revision = 2",
        "DELETE FROM batches WHERE revision = 3",
        "UPDATE batches SET batch = CAST(replace(batch, 'late', 'fate') AS BLOB)",
        "UPDATE batches SET batch = x'5b5d', crc = 223132457 WHERE revision = 3",
        "UPDATE batches SET batch = 'text'",
        "UPDATE columns SET data = 'text' WHERE name = 'weight'",
        "UPDATE graphs SET revision = 'three'",
        "UPDATE graphs SET revision = revision + 1",
    ],
)
def test_what_is_missing_or_changed_is_noticed(path: Path, damage: str) -> None:
    fill(path)
    change(path, damage)
    with MemoryStorage(path) as storage:
        for read in (storage.counts, storage.snapshot, lambda: storage.get_nodes(["late"])):
            with pytest.raises(StorageCorruptError):
                read()
        with pytest.raises(StorageCorruptError):
            storage.upsert_nodes([Node("a", "k", "a")])


def test_a_revision_is_a_number_and_costs_no_reading(path: Path) -> None:
    fill(path)
    with MemoryStorage(path) as storage:
        revision = storage.revision()
    change(path, "DELETE FROM columns")
    with MemoryStorage(path) as storage:
        assert storage.revision() == revision
    change(path, "UPDATE graphs SET revision = 'three'")
    with MemoryStorage(path) as storage:
        for read in (storage.revision, lambda: storage.changes_since(1)):
            with pytest.raises(StorageCorruptError):
                read()


def test_a_batch_that_is_missing_is_no_empty_change(path: Path) -> None:
    fill(path)
    change(path, "DELETE FROM batches WHERE revision = 3")
    with MemoryStorage(path) as storage, pytest.raises(StorageCorruptError):
        storage.changes_since(2)


def test_the_feed_reaches_back_to_the_base_of_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphport_memory.file, "SMALL_LOG", 2000)
    with MemoryStorage(path) as storage, MemoryStorage(path) as other:
        for number in range(64):
            storage.upsert_nodes([Node(f"n{number:02d}", "k", "name")])
        known = [since for since in range(65) if other.changes_since(since) is not None]
        assert known == [*range(known[0], 65)]
        assert 0 < known[0] < 64
        changes = other.changes_since(known[0])
        assert changes is not None
        assert sorted(changes.nodes) == [f"n{number:02d}" for number in range(known[0], 64)]


def test_a_flipped_bit_is_an_error_or_changes_nothing(path: Path, tmp_path: Path) -> None:
    expected, chance, noticed = fill(path, 2000), random.Random(4), 0
    content = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(content)
        damaged[chance.randrange(8192, len(content))] ^= 1 << chance.randrange(8)
        copy = tmp_path / "copy.db"
        copy.write_bytes(damaged)
        try:
            with MemoryStorage(copy) as storage:
                assert storage.snapshot().same_as(expected)
        except StorageCorruptError:
            noticed += 1
    assert noticed > 40


def test_half_a_file_is_an_error(path: Path) -> None:
    fill(path, 2000)
    os.truncate(path, path.stat().st_size // 2)
    with pytest.raises(StorageCorruptError), MemoryStorage(path) as storage:
        storage.snapshot()


def test_a_newer_format_is_not_read(path: Path) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageUnavailableError, match="format 99"):
        MemoryStorage(path)


# -- opening -------------------------------------------------------------------------------------------


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="nowhere"):
        MemoryStorage(tmp_path / "nowhere" / "graph.db")
    with pytest.raises(StorageUnavailableError, match="a folder, and a graph of this backend is a file"):
        MemoryStorage(tmp_path)


def test_read_only_wants_a_file_that_is_there(path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="open it once without read_only"):
        MemoryStorage(path, read_only=True)
    assert not path.exists()
    with pytest.raises(UnsupportedError, match="path"):
        open_storage("memory", read_only=True)


def test_read_only_opens_no_graph_that_is_not_there(path: Path) -> None:
    fill(path)
    with MemoryStorage(path, graph="other", read_only=True) as storage:
        assert (storage.counts().nodes, storage.revision(), storage.graphs()) == (0, 0, ["graph"])


def test_options_are_checked() -> None:
    with pytest.raises(ConfigError, match="busy_timeout"):
        open_storage("memory", busy_timeout=-1)
    with pytest.raises(ConfigError, match="its options are busy_timeout, graph, path, read_only"):
        open_storage("memory", file="graph.db")
    with pytest.raises(InvalidIdError):
        open_storage("memory", graph="a\0b")


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    for name in ("two words", "it's", "50%", "a?mode=memory", "a#b", "名前", "a&b=c;d"):
        with MemoryStorage(tmp_path / name) as storage:
            storage.upsert_nodes([Node("a", "k", "a")])
        assert (tmp_path / name).stat().st_size > 0
        with MemoryStorage(tmp_path / name) as storage:
            assert storage.counts().nodes == 1


def open_and_write(path: Path, start: threading.Barrier, number: int) -> None:
    start.wait()
    with MemoryStorage(path, busy_timeout=30) as storage:
        storage.upsert_nodes([Node(f"n{number}", "k", "n")])


def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    for attempt in range(20):
        path, start = tmp_path / f"{attempt}.db", threading.Barrier(8)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(partial(open_and_write, path, start), range(8)))
        with MemoryStorage(path) as storage:
            assert storage.counts().nodes == 8


def test_a_handle_is_not_carried_into_a_fork(path: Path) -> None:
    with MemoryStorage(path) as storage:
        storage.upsert_nodes([Node("a", "k", "a")])
        child = os.fork()
        if child == 0:
            refused = 0
            for call in (storage.counts, lambda: storage.upsert_nodes([Node("b", "k", "b")])):
                try:
                    call()
                except StorageUnavailableError:
                    refused += 1
            os._exit(refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
        storage.upsert_nodes([Node("c", "k", "c")])
        assert storage.counts().nodes == 2


# -- writing -------------------------------------------------------------------------------------------


def test_busy_names_the_file_and_what_to_do(path: Path) -> None:
    with MemoryStorage(path) as first, MemoryStorage(path, busy_timeout=0.05) as second:
        with first.transaction(), pytest.raises(StorageBusyError, match=r"graph\.db.*busy_timeout") as caught:
            second.clear()
        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
        for write in (lambda: second.bulk_load(GraphSnapshot.from_rows([])), lambda: second.drop_graph("graph")):
            with first.transaction(), pytest.raises(StorageBusyError):
                write()
        second.upsert_nodes([Node("a", "k", "a")])


def test_a_full_disk_changes_nothing(path: Path) -> None:
    with MemoryStorage(path) as storage:
        storage.upsert_nodes([Node("a", "k", "a")])
        writer = storage._file._writing  # type: ignore[union-attr]  # it has a file
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
        writer.execute(f"PRAGMA max_page_count = {pages + 2}")
        nodes, edges = grid(3000)
        writes: list[Callable[[], None]] = [
            lambda: storage.upsert_nodes(nodes),
            lambda: storage.bulk_load(GraphSnapshot.from_rows(nodes, edges)),
        ]
        for write in writes:
            with pytest.raises(StorageFullError, match=r"graph\.db"):
                write()
            assert (storage.counts().nodes, storage.revision()) == (1, 1)
        writer.execute("PRAGMA max_page_count = 1000000")
        storage.upsert_nodes([Node("b", "k", "b")])
        assert storage.counts().nodes == 2
    with MemoryStorage(path) as storage:
        assert (storage.counts().nodes, storage.revision()) == (2, 2)


def test_a_limit_of_file_sizes_is_a_lack_of_room(path: Path) -> None:
    code = f"""
import resource, signal
from graphport import Node, open_storage
from graphport.errors import StorageFullError
storage = open_storage("memory", path={str(path)!r})
storage.upsert_nodes([Node("a", "k", "a")])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    storage.upsert_nodes(Node(f"n{{i}}", "k", "x" * 100) for i in range(20_000))
except StorageFullError as error:
    print(error)
print(storage.counts().nodes, storage.revision())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "limit of file sizes" in run.stdout
    assert run.stdout.splitlines()[-1] == "1 1"


@pytest.mark.parametrize("replaced", [False, True], ids=["deleted", "replaced"])
def test_a_file_that_was_taken_away_takes_no_more_writes(path: Path, tmp_path: Path, replaced: bool) -> None:
    """SQLite would go on with the file that has no name any more, and lose what it commits there."""
    with MemoryStorage(tmp_path / "other.db") as other:
        other.upsert_nodes([Node("other", "k", "o")])
    storage = MemoryStorage(path)
    storage.upsert_nodes([Node("a", "k", "a")])
    for file in tmp_path.glob("graph.db*"):
        file.unlink()
    if replaced:
        (tmp_path / "other.db").rename(path)
    calls: list[Callable[[], object]] = [
        lambda: storage.upsert_nodes([Node("b", "k", "b")]),
        lambda: storage.bulk_load(GraphSnapshot.from_rows([])),
        storage.counts,
        storage.revision,
        lambda: storage.get_nodes(["a"]),
    ]
    for call in calls:
        with pytest.raises(StorageUnavailableError, match="deleted or replaced while it was open"):
            call()
    storage.close()
    with MemoryStorage(path) as again:
        assert [node.id for node in again.iter_nodes()] == (["other"] if replaced else [])


def test_a_column_may_be_stored_in_many_parts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphport_memory.file, "PART", 64)
    nodes, edges = grid(100)
    with MemoryStorage(path) as storage:
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
    with MemoryStorage(path) as storage:
        assert list(storage.iter_nodes()) == nodes
        assert list(storage.iter_edges()) == edges
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT max(part) FROM columns").fetchone()[0] > 10


def test_batches_become_a_new_base_and_the_file_stays_small(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphport_memory.file, "SMALL_LOG", 20_000)
    nodes, _ = grid(50)
    with MemoryStorage(path) as storage, MemoryStorage(path) as other:
        for weight in range(300):
            storage.upsert_nodes([Node(node.id, "k", f"name {weight}") for node in nodes])
            if weight % 100 == 0:  # the other handle falls behind by several bases
                assert {node.name for node in other.iter_nodes()} == {f"name {weight}"}
                other.upsert_edges([Edge("n00000", "n00001", f"e{weight}")])
        assert {node.name for node in other.iter_nodes()} == {"name 299"}
        assert other.snapshot().same_as(storage.snapshot())
        assert other.revision() == 303
    assert path.stat().st_size < 300_000
    rows = read_file(path, "graph")
    assert (len(rows.nodes), len(rows.edges)) == (50, 3)


def test_a_batch_too_big_for_the_log_becomes_the_base(path: Path) -> None:
    nodes, edges = grid(20_000)
    with MemoryStorage(path) as storage:
        with storage.transaction():
            storage.upsert_nodes(nodes)
            storage.upsert_edges(edges)
        assert storage.revision() == 1
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT count(*) FROM batches").fetchone() == (0,)
    with MemoryStorage(path) as storage:
        assert storage.snapshot().same_as(GraphSnapshot.from_rows(nodes, edges))


def test_a_dropped_graph_gives_its_room_back_and_never_its_revision(path: Path) -> None:
    fill(path, 2000)
    with MemoryStorage(path) as storage, MemoryStorage(path) as other:
        before = storage.revision()
        assert other.drop_graph("graph")
        assert storage.revision() > before
        with MemoryStorage(path) as again:
            assert again.revision() > before
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT count(*) FROM columns").fetchone() == (0,)
