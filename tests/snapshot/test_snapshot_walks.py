"""What is derived from a patched snapshot is what would be made of a new one, to the last bit."""

from __future__ import annotations

import gc
import tempfile
import weakref
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from snapshot_graphs import assert_same

from graphport import Edge, GraphSnapshot, Node, top_personalized_pagerank
from graphport.rank import row_splice, step
from graphport.rank.step import WalkKind
from graphport.rank.walk import walk_of
from graphport.retrieval.pointing import both_ways, pointing_graph, specificity
from graphport.snapshot import IndexArray, Splice, cache, earlier, snapshot_of
from graphport.snapshot.canonical import edge_order
from graphport_memory.storage import MemoryStorage

IDS = [f"n{i:02d}" for i in range(10)]
ALL_KINDS = [WalkKind(*flags) for flags in product((False, True), repeat=2)]

Nodes = list[tuple[str, str | None]]
History = tuple[Nodes, list[Edge], list[tuple[list[str], Nodes, list[Edge], bool]]]

ids = st.sampled_from(IDS)
nodes: st.SearchStrategy[tuple[str, str | None]] = st.tuples(ids, st.sampled_from((None, "entry")))
usual = st.sampled_from((0.0, 0.1, 0.3, 1.0, 1.0, 2.5, 1e6))
extreme = st.sampled_from((0.0, 5e-324, 1e-200, 0.1, 1.0, 1e140, 1e150, 1.7e308))
tiny, huge = st.sampled_from((1e-160, 1e-151, 1e-148)), st.sampled_from((1e268, 1e272, 1e280))
hard = st.sampled_from((usual, usual, tiny, huge, extreme))


def edges_of(weights: st.SearchStrategy[float], least: int, most: int) -> st.SearchStrategy[list[Edge]]:
    edge = st.builds(Edge, ids, ids, st.sampled_from(("e", "titled", "contains")), weights)
    return st.lists(edge, min_size=least, max_size=most)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Nodes, edges, and writes: nodes to delete, nodes to add, edges to write, and whether someone ranks then."""
    weights = draw(hard)
    writes = st.tuples(
        st.lists(ids, max_size=1),
        st.lists(nodes, max_size=2),
        edges_of(weights, 0, 3),
        st.booleans(),
    )
    start = draw(st.lists(nodes, min_size=3, unique_by=lambda node: node[0]))
    return start, draw(edges_of(weights, 10, 50)), draw(st.lists(writes, min_size=1, max_size=4))


def write(
    storage: MemoryStorage, gone: Iterable[str], new: Iterable[tuple[str, str | None]], edges: Iterable[Edge]
) -> None:
    with storage.transaction():
        storage.delete_nodes(gone)
        storage.upsert_nodes([Node(node, "k", node, entry) for node, entry in new])
        there = storage.get_nodes(IDS)
        storage.upsert_edges([edge for edge in edges if edge.source in there and edge.target in there])
        storage.delete_edges([edge.key for edge in edges if edge.weight == 0.3])


def assert_same_walks(found: GraphSnapshot, expected: GraphSnapshot) -> None:
    for kind in ALL_KINDS:
        walks = [walk_of(graph, directed=kind.directed, weighted=kind.weighted) for graph in (found, expected)]
        parts = [(w.step.data, w.step.indices, w.step.indptr, w.degree) for w in walks]
        for one, other in zip(*parts, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
        assert [(w.reversible, w.loops) for w in walks[:1]] == [(w.reversible, w.loops) for w in walks[1:]]
    assert found.entry_mask().tolist() == expected.entry_mask().tolist()
    assert specificity(found).tobytes() == specificity(expected).tobytes()
    for arcs_of in (pointing_graph, both_ways):
        assert_same(arcs_of(found), arcs_of(expected))


@given(history=histories(), folder=st.booleans())
@settings(deadline=None, max_examples=100)
def test_walks_that_keep_up_are_those_of_a_new_snapshot(history: History, folder: bool) -> None:
    start, edges, writes = history
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as place:
        patched.setattr(cache, "PATCHED_UP_TO", 100.0)  # else there are no small writes to so small a graph
        patched.setattr(earlier, "WORTH_KEEPING", 1.0)
        patched.setattr(row_splice, "WORTH_SPLICING", 1.0)
        shelf = Path(place) / "shelf" if folder else None
        storage = MemoryStorage(Path(place) / "graph" if folder else None)
        write(storage, (), start, edges)
        last = snapshot_of(storage, folder=shelf)
        for gone, new, more, ranked in writes:
            if ranked:
                assert_same_walks(last, storage.snapshot())
            write(storage, gone, new, more)
            last = snapshot_of(storage, folder=shelf)
        fresh = storage.snapshot()
        assert_same_walks(last, fresh)
        for node in fresh.ids[:2]:
            answers = [top_personalized_pagerank(graph, [node], 5) for graph in (last, fresh)]
            assert len({(tuple(a.ids), a.bounds.tobytes(), a.work, a.how, tuple(a.ties)) for a in answers}) == 1
        storage.close()


# -- when it is patched, and what that keeps -----------------------------------------------------------------


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[GraphSnapshot]:
    """The snapshots whose walk was made from all their edges."""
    found: list[GraphSnapshot] = []

    def counted(graph: GraphSnapshot, kind: WalkKind) -> step.Arrays:
        found.append(graph)
        return step.step_arrays(graph, kind)

    monkeypatch.setattr("graphport.rank.walk.step_arrays", counted)
    return found


def ring(storage: MemoryStorage, n: int = 600, *, weight: float = 1 / 3) -> None:
    storage.upsert_nodes([Node(f"n{i:03d}", "k", "name") for i in range(n)])
    storage.upsert_edges([Edge(f"n{i:03d}", f"n{(i + hop) % n:03d}", "e", weight) for i in range(n) for hop in (1, 7)])


def test_small_writes_cost_no_new_walk_also_where_nobody_ranks_in_between(built: list[GraphSnapshot]) -> None:
    storage = MemoryStorage()
    ring(storage)
    walk_of(snapshot_of(storage))
    for number in range(3):
        storage.upsert_nodes([Node(f"m{number}", "k", "m")])
        storage.upsert_edges([Edge(f"m{number}", "n005", "e"), Edge("n001", "n003", "e", float(number))])
        storage.delete_nodes([f"n0{number}7"])
        snapshot_of(storage)
    found, fresh = snapshot_of(storage), storage.snapshot()
    assert walk_of(found).step.data.tobytes() == walk_of(fresh).step.data.tobytes()
    assert len(built) == 2, "the first one, and the one to compare with"


def test_a_write_that_touches_much_of_a_graph_costs_a_new_walk(built: list[GraphSnapshot]) -> None:
    storage = MemoryStorage()
    ring(storage)
    walk_of(snapshot_of(storage))
    storage.upsert_edges([Edge("n000", f"n{i:03d}", "new") for i in range(0, 600, 12)])  # a fifth of the edges is there
    assert walk_of(snapshot_of(storage)).n_arcs == walk_of(storage.snapshot()).n_arcs
    assert len(built) == 3


@pytest.mark.parametrize("weight", [1e300, 1e275, 1e130])
def test_other_units_of_weight_cost_a_new_walk(weight: float, built: list[GraphSnapshot]) -> None:
    storage = MemoryStorage()
    ring(storage, weight=1e130)
    storage.upsert_edges([Edge("n000", "n001", "e", 1e275 if weight == 1e130 else 1e130)])
    walk_of(snapshot_of(storage))
    storage.upsert_edges([Edge("n000", "n001", "e", weight)])
    assert_same_walks(snapshot_of(storage), storage.snapshot())
    assert len([graph for graph in built if graph is snapshot_of(storage)]) == len(ALL_KINDS)


def test_a_graph_that_needs_other_types_costs_a_new_walk(
    built: list[GraphSnapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = MemoryStorage()
    ring(storage)
    walk_of(snapshot_of(storage))
    monkeypatch.setattr(step, "MOST_ARCS", 2400)
    storage.upsert_edges([Edge("n000", "n100", "new")])
    walk_of(snapshot_of(storage))
    assert len(built) == 2


def test_a_cold_start_behind_the_storage_costs_no_new_walk(tmp_path: Path, built: list[GraphSnapshot]) -> None:
    shelf, file = tmp_path / "shelf", tmp_path / "graph"
    storage = MemoryStorage(file)
    ring(storage)
    walk_of(snapshot_of(storage, folder=shelf))
    storage.upsert_edges([Edge("n000", "n100", "new")])
    storage.close()
    storage = MemoryStorage(file)
    found = walk_of(snapshot_of(storage, folder=shelf))
    assert len(built) == 1
    assert found.step.data.tobytes() == walk_of(storage.snapshot()).step.data.tobytes()
    storage.close()


def test_of_an_earlier_snapshot_only_the_arrays_are_held_and_only_until_they_are_used() -> None:
    storage = MemoryStorage()
    ring(storage)
    first = snapshot_of(storage)
    data, snapshot = weakref.ref(walk_of(first).degree), weakref.ref(first)
    storage.upsert_edges([Edge("n000", "n100", "new")])
    second = snapshot_of(storage)
    del first
    gc.collect()
    assert snapshot() is None
    assert data() is not None
    walk_of(second)
    gc.collect()
    assert data() is None


def test_arrays_that_are_out_of_use_are_not_held() -> None:
    storage = MemoryStorage()
    ring(storage)
    first = snapshot_of(storage)
    degree = weakref.ref(walk_of(first).degree)
    del first
    for start in range(0, 600, 60):
        storage.upsert_edges([Edge(f"n{i:03d}", f"n{i + 1:03d}", "new") for i in range(start, start + 30)])
        snapshot_of(storage)
    gc.collect()
    assert degree() is None


@given(rows=st.integers(0, 12), data=st.data())
@settings(deadline=None, max_examples=100)
def test_two_splices_are_one(rows: int, data: st.DataObject) -> None:
    def splice(n: int) -> Splice:
        cut = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=4)) if n else []
        return Splice(n, cut, sorted(data.draw(st.lists(st.integers(0, n), max_size=4))))

    column = np.arange(rows)
    first = splice(rows)
    between = first.array(column, [-1] * len(first.new_rows))
    second = splice(len(between))
    after = second.array(between, [-1] * len(second.new_rows))
    both = first.then(second)
    assert both.array(column, [-1] * len(both.new_rows)).tolist() == after.tolist()
    new = np.flatnonzero(after == -1)
    assert both.new_rows == new.tolist()
    old = np.flatnonzero(after >= 0)
    assert both.origin(old).tolist() == after[old].tolist()
    renumbered = after[old].astype(np.int32)
    both.renumber(renumbered)
    assert renumbered.tolist() == old.tolist()
    assert set(both.seams.tolist()) >= {at for at in old.tolist() if at - 1 in old and after[at] != after[at - 1] + 1}


@pytest.mark.parametrize("arcs_of", [pointing_graph, both_ways])
def test_a_small_write_costs_no_new_arcs_for_a_search(
    arcs_of: Callable[[GraphSnapshot], GraphSnapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = MemoryStorage()
    ring(storage)
    arcs_of(snapshot_of(storage))
    storage.upsert_nodes([Node("m", "k", "m", "entry")])
    storage.upsert_edges([Edge("m", "n005", "e"), Edge("n001", "n003", "e")])
    ordered: list[int] = []

    def counted(source: IndexArray, *rest: Any) -> NDArray[np.int64] | None:
        ordered.append(len(source))
        return edge_order(source, *rest)

    monkeypatch.setattr("graphport.retrieval.pointing.edge_order", counted)
    found = arcs_of(snapshot_of(storage))
    assert max(ordered) < 50, "of 2,404 arcs"
    assert_same(found, arcs_of(storage.snapshot()))


def test_a_new_kind_of_edge_costs_new_arcs_with_other_codes() -> None:
    storage = MemoryStorage()
    ring(storage)
    pointing_graph(snapshot_of(storage))
    storage.upsert_edges([Edge("n001", "n003", "a kind before all others")])
    assert_same(pointing_graph(snapshot_of(storage)), pointing_graph(storage.snapshot()))
