"""Snapshots on disk: what comes back, what is refused, and what a crash leaves."""

from __future__ import annotations

import json
import multiprocessing
import os
import struct
import tempfile
import zlib
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_graphs import assert_same, graphs, hard_graph

from graphport import GraphSnapshot, open_storage, personalized_pagerank, top_personalized_pagerank
from graphport.errors import StorageCorruptError, StorageFullError, StorageUnavailableError
from graphport.snapshot.array_file import read_arrays, write_arrays

BOTH = pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "read"])


@given(graph=graphs, mmap=st.booleans())
@settings(deadline=None, max_examples=60)
def test_a_saved_graph_comes_back_to_the_last_bit(graph: GraphSnapshot, mmap: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "graph")
        assert_same(GraphSnapshot.load(Path(folder) / "graph", mmap=mmap), graph)


@BOTH
def test_rows_are_found_and_iterated_as_before(tmp_path: Path, mmap: bool) -> None:
    graph = hard_graph()
    graph.save(tmp_path)
    found = GraphSnapshot.load(tmp_path, mmap=mmap)
    assert list(found.iter_nodes()) == list(graph.iter_nodes())
    assert list(found.iter_edges()) == list(graph.iter_edges())
    assert [found.index_of(node_id) for node_id in graph.ids] == list(range(graph.n_nodes))
    assert found.index_of("nobody") is None
    assert found.entry_rows() == graph.entry_rows()
    assert found.entry_mask().tolist() == graph.entry_mask().tolist()
    assert (found.ids[-1], list(found.ids[2:4])) == (graph.ids[-1], list(graph.ids[2:4]))
    with pytest.raises(IndexError):
        found.ids[graph.n_nodes]


@BOTH
def test_ranking_on_a_loaded_graph_gives_the_same_scores(tmp_path: Path, mmap: bool) -> None:
    graph = hard_graph()
    graph.save(tmp_path)
    found = GraphSnapshot.load(tmp_path, mmap=mmap)
    for engine in ("igraph", "chebyshev"):
        expected = personalized_pagerank(graph, ["a", "名前"], engine=engine)
        assert np.array_equal(personalized_pagerank(found, ["a", "名前"], engine=engine).scores, expected.scores)
    assert top_personalized_pagerank(found, ["a"], 4).top(4) == top_personalized_pagerank(graph, ["a"], 4).top(4)


@BOTH
def test_the_columns_of_a_loaded_graph_are_read_only(tmp_path: Path, mmap: bool) -> None:
    hard_graph().save(tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        GraphSnapshot.load(tmp_path, mmap=mmap).weight[0] = 1.0


@BOTH
def test_a_loaded_graph_can_be_put_into_a_store(tmp_path: Path, mmap: bool) -> None:
    graph = hard_graph()
    graph.save(tmp_path)
    with open_storage("memory") as storage:
        storage.bulk_load(GraphSnapshot.load(tmp_path, mmap=mmap))
        assert list(storage.iter_nodes()) == list(graph.iter_nodes())
        assert list(storage.iter_edges()) == list(graph.iter_edges())
        assert isinstance(storage.snapshot().ids, tuple)


def test_a_loaded_graph_can_be_saved_again(tmp_path: Path) -> None:
    graph = hard_graph()
    graph.save(tmp_path / "one")
    GraphSnapshot.load(tmp_path / "one").save(tmp_path / "two")
    GraphSnapshot.load(tmp_path / "two").save(tmp_path / "two")
    assert_same(GraphSnapshot.load(tmp_path / "two"), graph)


@BOTH
def test_what_was_derived_is_saved_and_not_built_again(tmp_path: Path, mmap: bool) -> None:
    graph = hard_graph()
    graph.derived_arrays("half:the weight", lambda it: {"half": it.weight / 2})
    graph.save(tmp_path)
    found = GraphSnapshot.load(tmp_path, mmap=mmap)
    half = found.derived_arrays("half:the weight", lambda _: pytest.fail("built again"))["half"]
    assert half.tolist() == (graph.weight / 2).tolist()


def test_what_was_derived_from_another_graph_is_built_again(tmp_path: Path) -> None:
    graph = hard_graph()
    graph.derived_arrays("half", lambda it: {"half": it.weight / 2})
    graph.save(tmp_path)
    GraphSnapshot.from_arrays(["a", "b"], [0], [1], [8.0]).save(tmp_path)
    assert GraphSnapshot.load(tmp_path).derived_arrays("half", lambda it: {"half": it.weight / 2})["half"] == [4.0]


def test_a_torn_derived_file_is_built_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    graph = hard_graph()
    graph.derived_arrays("half", lambda it: {"half": it.weight / 2})
    graph.save(tmp_path)
    os.truncate(tmp_path / "half", 100)
    found = GraphSnapshot.load(tmp_path).derived_arrays("half", lambda it: {"half": it.weight / 2})
    assert found["half"].tolist() == (graph.weight / 2).tolist()
    assert "is made anew" in caplog.text


def test_loading_writes_nothing(tmp_path: Path) -> None:
    hard_graph().save(tmp_path)
    before = sorted(tmp_path.iterdir())
    top_personalized_pagerank(GraphSnapshot.load(tmp_path), ["a"], 3)
    assert sorted(tmp_path.iterdir()) == before


# -- what is refused ---------------------------------------------------------------------------------


@BOTH
def test_a_file_that_ends_early_is_refused(tmp_path: Path, mmap: bool) -> None:
    hard_graph().save(tmp_path)
    whole = (tmp_path / "columns").read_bytes()
    for size in [0, 5, 23, 24, 100, *range(200, len(whole), 97), len(whole) - 1]:
        (tmp_path / "columns").write_bytes(whole[:size])
        with pytest.raises(StorageCorruptError):
            GraphSnapshot.load(tmp_path, mmap=mmap)
    (tmp_path / "columns").write_bytes(whole + b"more")
    with pytest.raises(StorageCorruptError):
        GraphSnapshot.load(tmp_path, mmap=mmap)


def test_any_changed_byte_is_noticed_when_all_is_read(tmp_path: Path) -> None:
    hard_graph().save(tmp_path)
    file = tmp_path / "columns"
    whole = file.read_bytes()
    start = 24 + struct.unpack("<Q", whole[16:24])[0]
    counts = np.zeros(len(whole), dtype=bool)
    counts[:start] = True
    for name, dtype, items, offset, _ in json.loads(whole[24:start])["arrays"]:
        assert name
        counts[start + offset : start + offset + items * np.dtype(dtype).itemsize] = True
    assert counts.mean() > 0.8, "the rest is padding between arrays"
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        if counts[at]:
            with pytest.raises((StorageCorruptError, StorageUnavailableError)):
                GraphSnapshot.load(tmp_path, mmap=False)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "columns").write_bytes(b"PK\x03\x04" * 100)
    with pytest.raises(StorageCorruptError, match="not a file of arrays"):
        GraphSnapshot.load(tmp_path)
    write_arrays(tmp_path / "columns", {"what": "else"}, {"weight": np.ones(3)})
    with pytest.raises(StorageCorruptError, match="holds no snapshot"):
        GraphSnapshot.load(tmp_path)
    write_arrays(tmp_path / "columns", {"snapshot": 1}, {"weight": np.ones(3)})
    with pytest.raises(StorageCorruptError, match="lacks"):
        GraphSnapshot.load(tmp_path)


def test_columns_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    hard_graph().save(tmp_path)
    meta, arrays = read_arrays(tmp_path / "columns", mapped=False)
    write_arrays(tmp_path / "columns", meta, {**arrays, "weight": np.ones(3)})
    with pytest.raises(StorageCorruptError, match="different lengths"):
        GraphSnapshot.load(tmp_path)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    hard_graph().save(tmp_path)
    whole = (tmp_path / "columns").read_bytes()
    (tmp_path / "columns").write_bytes(whole[:8] + struct.pack("<I", 2) + whole[12:])
    with pytest.raises(StorageUnavailableError, match="format 2"):
        GraphSnapshot.load(tmp_path)


def test_an_unknown_type_of_numbers_is_refused(tmp_path: Path) -> None:
    hard_graph().save(tmp_path)
    whole = (tmp_path / "columns").read_bytes()
    length = struct.unpack("<Q", whole[16:24])[0]
    header = whole[24 : 24 + length].replace(b'"<f8"', b'"|O8"')
    head = whole[:12] + struct.pack("<IQ", zlib.crc32(header), length)
    (tmp_path / "columns").write_bytes(head + header + whole[24 + length :])
    with pytest.raises(StorageCorruptError, match="makes no sense"):
        GraphSnapshot.load(tmp_path)
    with pytest.raises(ValueError, match="one-dimensional"):
        write_arrays(tmp_path / "x", {}, {"x": np.array([None])})


def test_no_snapshot_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailableError, match="No such file"):
        GraphSnapshot.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageUnavailableError):
        hard_graph().save(tmp_path / "file")


# -- crashes, and several processes ------------------------------------------------------------------


def test_a_save_that_fails_leaves_the_old_snapshot_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = hard_graph()
    old.save(tmp_path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageFullError, match="make room"):
        GraphSnapshot.from_arrays(["a"], [], []).save(tmp_path)
    assert_same(GraphSnapshot.load(tmp_path), old)
    assert [file.name for file in tmp_path.iterdir()] == ["columns"]


def _save_and_die(folder: Path) -> None:
    def die(_: object) -> None:
        os._exit(9)

    with patch("os.fsync", die):
        GraphSnapshot.from_arrays(["a"], [], []).save(folder)


def test_a_process_that_dies_while_saving_leaves_the_old_snapshot(tmp_path: Path) -> None:
    old = hard_graph()
    old.save(tmp_path)
    child = multiprocessing.get_context("spawn").Process(target=_save_and_die, args=(tmp_path,))
    child.start()
    child.join(60)
    assert child.exitcode == 9
    assert_same(GraphSnapshot.load(tmp_path), old)
    (left,) = tmp_path.glob(".*.tmp")
    os.utime(left, (0, 0))
    old.save(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["columns"], "what is old enough is swept"


def test_who_has_mapped_a_snapshot_keeps_it_when_it_is_replaced(tmp_path: Path) -> None:
    old = hard_graph()
    old.save(tmp_path)
    mapped = GraphSnapshot.load(tmp_path)
    GraphSnapshot.from_arrays(["a"], [], []).save(tmp_path)
    assert_same(mapped, old)
    assert GraphSnapshot.load(tmp_path).ids[0] == "a"


def _chain(n: int) -> GraphSnapshot:
    return GraphSnapshot.from_arrays([f"n{i:04d}" for i in range(n)], range(n - 1), range(1, n), revision=n)


def _save_often(folder: Path, n: int) -> None:
    for _ in range(5):
        _chain(n).save(folder)


def test_processes_that_save_at_once_leave_one_whole_snapshot(tmp_path: Path) -> None:
    _chain(500).save(tmp_path)
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=_save_often, args=(tmp_path, n)) for n in (500, 700)]
    for child in children:
        child.start()
    seen = 0
    while any(child.is_alive() for child in children) or not seen:
        found = GraphSnapshot.load(tmp_path, mmap=False)
        assert found.same_as(_chain(found.n_nodes))
        assert found.n_nodes == found.revision
        seen += 1
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert [file.name for file in tmp_path.iterdir()] == ["columns"]
