"""`snapshot_of`: kept, patched, mapped from a folder, and never stale."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from snapshot_graphs import assert_same

from graphport import (
    Edge,
    GraphSnapshot,
    GraphStorage,
    Node,
    load_config,
    open_knowledge_base,
    top_personalized_pagerank,
)
from graphport.builders import Entry
from graphport.changes import ChangeFeed, GraphChanges
from graphport.pending import PendingWrites
from graphport.rank.walk import walk_of
from graphport.snapshot import snapshot_of
from graphport_memory.storage import MemoryStorage


class Counted(MemoryStorage):
    """Counts how often the whole graph is read."""

    reads = 0

    def snapshot(self, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
        self.reads += 1
        return super().snapshot(kinds=kinds)


def chain(storage: GraphStorage, n: int = 60) -> None:
    storage.upsert_nodes([Node(f"n{i:03d}", "k", f"name {i}", f"entry {i}" if i % 3 else None) for i in range(n)])
    storage.upsert_edges([Edge(f"n{i:03d}", f"n{(i * 7 + 1) % n:03d}", "e" if i % 4 else "f", i / 3) for i in range(n)])


@pytest.fixture
def storage() -> Counted:
    storage = Counted()
    chain(storage)
    return storage


# -- in the process ----------------------------------------------------------------------------------


def test_a_small_write_is_patched_and_the_graph_is_not_read(storage: Counted) -> None:
    first = snapshot_of(storage)
    storage.upsert_edges([Edge("n001", "n002", "new", 5.0)])
    storage.delete_nodes(["n007"])
    patched = snapshot_of(storage)
    assert storage.reads == 1
    assert patched is not first
    assert_same(patched, storage.snapshot())
    assert first.index_of("n007") is not None, "the old one stays as it was"


def test_columns_that_a_write_does_not_touch_are_shared(storage: Counted) -> None:
    first = snapshot_of(storage)
    storage.upsert_edges([Edge("n001", "n002", "new", 5.0)])
    patched = snapshot_of(storage)
    assert patched.ids is first.ids
    assert patched.names is first.names
    assert patched.entries is first.entries


def test_a_large_write_is_read(storage: Counted) -> None:
    snapshot_of(storage)
    storage.upsert_nodes([Node(f"m{i}", "k", "m") for i in range(13)])  # of 120 rows
    assert_same(snapshot_of(storage), storage.snapshot())
    assert storage.reads == 3


def test_a_snapshot_of_some_kinds_is_patched_with_those(storage: Counted) -> None:
    snapshot_of(storage, kinds=["f"])
    storage.upsert_edges([Edge("n001", "n002", "e", 5.0), Edge("n001", "n002", "f", 5.0), Edge("n001", "n003", "g")])
    storage.delete_edges([("n000", "n001", "f"), ("n001", "n008", "e")])
    patched = snapshot_of(storage, kinds=["f"])
    assert storage.reads == 1
    assert_same(patched, storage.snapshot(kinds=["f"]))


def test_changes_of_another_graph_do_not_spoil_a_snapshot(storage: Counted) -> None:
    class Astray(Counted):
        def changes_since(self, revision: int, /) -> GraphChanges | None:
            edge = Edge("nobody", "n001", "e")
            return GraphChanges(self.revision(), {}, {edge.key: edge})

    astray = Astray()
    chain(astray)
    snapshot_of(astray)
    astray.upsert_nodes([Node("new", "k", "new")])
    assert_same(snapshot_of(astray), astray.snapshot())


def test_threads_that_come_at_once_get_one_snapshot(storage: Counted) -> None:
    found: list[GraphSnapshot] = []
    barrier = threading.Barrier(4)

    def ask() -> None:
        barrier.wait()
        found.append(snapshot_of(storage))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert storage.reads == 1
    assert len({id(graph) for graph in found}) == 1


def test_the_feed_of_a_process_is_bounded() -> None:
    feed = ChangeFeed(most_keys=10)
    for revision in range(1, 9):
        batch = PendingWrites()
        batch.upsert_nodes({f"n{revision}": Node(f"n{revision}", "k", "n")})
        feed.add(revision, batch)
    assert [since for since in range(9) if feed.between(since, 8) is not None] == [3, 4, 5, 6, 7, 8]
    batch = PendingWrites()
    batch.upsert_nodes({f"m{i}": Node(f"m{i}", "k", "m") for i in range(20)})
    feed.add(9, batch)
    assert feed.between(8, 9) is None, "what alone is too much is not remembered"


# -- from a folder -----------------------------------------------------------------------------------


def opened(path: Path, **options: Any) -> Counted:
    return Counted(path / "graph.db", **options)


def test_a_cold_start_maps_the_graph_and_reads_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        first = snapshot_of(storage, folder=tmp_path / "cache")
        assert storage.reads == 1
    with opened(tmp_path) as storage:
        assert_same(snapshot_of(storage, folder=tmp_path / "cache"), first)
        assert storage.reads == 0
        assert storage._state.revision == 0, "not even the store's own file was read"


def test_a_cold_start_after_small_writes_patches_what_it_maps(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        snapshot_of(storage, folder=tmp_path / "cache")
        storage.upsert_nodes([Node("a", "k", "a"), Node("n003", "other", "other")])
        storage.delete_nodes(["n005"])
    with opened(tmp_path) as storage:
        found = snapshot_of(storage, folder=tmp_path / "cache")
        assert storage.reads == 0
        assert_same(found, storage.snapshot())


def test_a_cold_start_after_a_large_write_reads_and_writes_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        snapshot_of(storage, folder=tmp_path / "cache")
        chain(storage, 90)
    for reads in (1, 0):
        with opened(tmp_path) as storage:
            assert snapshot_of(storage, folder=tmp_path / "cache").n_nodes == 90
            assert storage.reads == reads
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_graph_that_was_made_anew_gets_nothing_of_the_old_one(tmp_path: Path) -> None:
    for name in ("old", "new"):
        with opened(tmp_path) as storage:
            storage.upsert_nodes([Node(name, "k", name)])
            assert storage.revision() == 1
            assert list(snapshot_of(storage, folder=tmp_path / "cache").ids) == [name]
        for file in tmp_path.glob("graph.db*"):
            file.unlink()


def test_a_copy_of_a_store_is_another_graph(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        identity = storage.identity()
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "graph.db", tmp_path / "copy")
    for folder, name in ((tmp_path, "mine"), (tmp_path / "copy", "theirs")):
        with opened(folder) as storage:
            storage.upsert_nodes([Node(name, "k", name)])
            assert snapshot_of(storage, folder=tmp_path / "cache").index_of(name) is not None
    with opened(tmp_path / "copy") as storage:
        assert storage.identity() != identity
        assert snapshot_of(storage, folder=tmp_path / "cache").index_of("mine") is None


def test_graphs_and_kinds_have_places_of_their_own(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with opened(tmp_path) as storage, opened(tmp_path, graph="other") as other:
        chain(storage)
        chain(other, 30)
        for _ in range(2):
            assert snapshot_of(storage, folder=cache).n_nodes == 60
            assert snapshot_of(other, folder=cache).n_nodes == 30
            assert snapshot_of(storage, folder=cache, kinds=["f"]).n_edges == 15
            assert snapshot_of(storage, folder=cache, kinds=[]).n_edges == 0
    with opened(tmp_path) as storage:
        assert snapshot_of(storage, folder=cache, kinds=["f"]).n_edges == 15
        assert snapshot_of(storage, folder=cache, kinds=[]).n_edges == 0
        assert storage.reads == 0


def test_a_graph_that_ends_with_its_handle_is_not_written(storage: Counted, tmp_path: Path) -> None:
    assert_same(snapshot_of(storage, folder=tmp_path / "cache"), storage.snapshot())
    assert not (tmp_path / "cache").exists()


def test_what_a_transaction_sees_of_itself_is_not_written(tmp_path: Path) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        with storage.transaction():
            storage.upsert_nodes([Node("mine", "k", "mine")])
            assert snapshot_of(storage, folder=tmp_path / "cache").index_of("mine") is not None
        assert not (tmp_path / "cache").exists()


def test_a_broken_file_is_read_anew_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        first = snapshot_of(storage, folder=tmp_path / "cache")
        (columns,) = (tmp_path / "cache").glob("*/columns")
    half = columns.read_bytes()[:1000]
    columns.unlink()  # `first` has it mapped
    columns.write_bytes(half)
    for reads in (1, 0):
        with opened(tmp_path) as storage:
            assert snapshot_of(storage, folder=tmp_path / "cache").same_as(first)
            assert storage.reads == reads
    assert caplog.text.count("is read anew") == 1


def test_a_folder_that_cannot_be_written_costs_the_next_cold_start_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("a file")
    with opened(tmp_path) as storage:
        chain(storage)
        assert_same(snapshot_of(storage, folder=tmp_path / "cache"), storage.snapshot())
    assert "is not kept in" in caplog.text


def test_the_walk_of_a_kept_graph_is_mapped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as storage:
        chain(storage)
        expected = top_personalized_pagerank(snapshot_of(storage, folder=tmp_path / "cache"), ["n001"], 5).top(5)
    monkeypatch.setattr("graphport.rank.step.symmetric_matrix", lambda *_: pytest.fail("built again"))
    with opened(tmp_path) as storage:
        graph = snapshot_of(storage, folder=tmp_path / "cache")
        assert top_personalized_pagerank(graph, ["n001"], 5).top(5) == expected


def test_the_walk_of_a_patched_graph_is_that_of_a_new_one(storage: Counted) -> None:
    top_personalized_pagerank(snapshot_of(storage), ["n001"], 5)
    storage.upsert_nodes([Node("a", "k", "a")])
    storage.upsert_edges([Edge("a", "n003", "e", 0.7), Edge("n001", "n008", "e", 3.0)])
    storage.delete_nodes(["n007"])
    patched, fresh = walk_of(snapshot_of(storage)), walk_of(storage.snapshot())
    assert storage.reads == 2
    assert np.array_equal(patched.degree, fresh.degree)
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(patched.step, part), getattr(fresh.step, part))


def test_a_knowledge_base_maps_its_graph_from_the_folder_in_its_config(tmp_path: Path) -> None:
    (tmp_path / "graphport.yaml").write_text("data_dir: bases\nembedder: none\ngraph: {snapshot_dir: snapshots}\n")
    config = load_config(tmp_path / "graphport.yaml")
    assert config.knowledge_base("any").graph == config.graph
    with open_knowledge_base("office", config=config) as kb:
        kb.add([Entry("a", "Carol manages the Berlin office.", title="Carol")])
        expected = kb.snapshot()
    (columns,) = (tmp_path / "snapshots").glob("*/columns")
    written = columns.stat().st_mtime_ns
    with open_knowledge_base("office", config=config) as kb:
        assert_same(kb.snapshot(), expected)
        assert kb.search("Carol", graph=True)[0].entry == "a"
        assert isinstance(kb.storage, MemoryStorage)
        assert kb.storage._state.revision == 0, "the store's own file was not read"
    assert columns.stat().st_mtime_ns == written
