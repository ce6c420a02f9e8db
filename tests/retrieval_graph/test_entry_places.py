"""Where entries stand, kept up to date through small writes, against looking at every node."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport import Edge, GraphSnapshot, Node
from graphport.retrieval import entry_rows, ranking
from graphport.retrieval.ranking import entry_places
from graphport.snapshot import cache, snapshot_of
from graphport_memory.storage import MemoryStorage

nodes = st.tuples(st.integers(0, 14), st.sampled_from([None, None, "a", "b", "B", "c", "\u00e9", "z"]))
steps = st.tuples(st.lists(nodes, max_size=3), st.lists(st.integers(0, 14), max_size=2), st.booleans())


def written(storage: MemoryStorage, put: Sequence[tuple[int, str | None]], gone: Sequence[int]) -> None:
    with storage.transaction():
        storage.delete_nodes([f"n{number:02}" for number in gone])
        storage.upsert_nodes([Node(f"n{number:02}", "k", "name", entry) for number, entry in put])


def assert_right(graph: GraphSnapshot) -> None:
    known = entry_places(graph)
    entries = sorted({entry for entry in graph.entries if entry is not None})
    assert known.entries == entries
    assert known.first_row.tolist() == [list(graph.entries).index(entry) for entry in entries]
    assert known.of_row.tolist() == [-1 if entry is None else entries.index(entry) for entry in graph.entries]
    expected = {entry: place for place, entry in enumerate(entries) if entry in ("a", "z")}
    for _ in range(3):  # by bisection, and by the table
        assert known.places(["a", "nobody", "z", ""]) == expected


@given(st.lists(nodes, min_size=1, max_size=12), st.lists(steps, min_size=1, max_size=5))
@settings(deadline=None, max_examples=150)
def test_places_that_keep_up_are_those_of_a_new_snapshot(
    start: list[tuple[int, str | None]], writes: list[tuple[list[tuple[int, str | None]], list[int], bool]]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cache, "PATCHED_UP_TO", 100.0)  # else there are no small writes to so small a graph
        patched.setattr(entry_rows, "WORTH_PATCHING", 1.0)
        patched.setattr(ranking, "_TABLE_PAYS", 2.0)
        storage = MemoryStorage()
        written(storage, start, ())
        assert_right(snapshot_of(storage))
        for put, gone, asked in writes:
            written(storage, put, gone)
            graph = snapshot_of(storage)
            if asked:
                assert_right(graph)
        assert_right(snapshot_of(storage))


def test_a_small_write_does_not_look_at_every_node(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    storage.upsert_nodes([Node(f"n{number:03}", "k", "name", f"entry {number}") for number in range(500)])
    entry_places(snapshot_of(storage))
    monkeypatch.setattr(ranking, "entry_rows", None)
    storage.upsert_nodes([Node("n2000", "k", "name", "entry 77b")])
    storage.upsert_edges([Edge("n2000", "n004", "mentions")])
    storage.delete_nodes(["n100"])
    assert_right(snapshot_of(storage))
