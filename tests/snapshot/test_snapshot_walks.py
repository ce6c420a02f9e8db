"""What is derived from a patched snapshot is what would be made of a new one, to the last bit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport import Edge, GraphSnapshot, Node, top_personalized_pagerank
from graphport.rank import step
from graphport.rank.step import WalkKind
from graphport.rank.walk import walk_of
from graphport.snapshot import cache, snapshot_of
from graphport_memory.storage import MemoryStorage

IDS = [f"n{i:02d}" for i in range(16)]
ALL_KINDS = [WalkKind(*flags) for flags in product((False, True), repeat=2)]

History = tuple[list[str], list[Edge], list[tuple[list[str], list[str], list[Edge], bool]]]

ids = st.sampled_from(IDS)
usual = st.sampled_from((0.0, 0.1, 0.3, 1.0, 1.0, 2.5, 1e6))
extreme = st.sampled_from((0.0, 5e-324, 1e-200, 0.1, 1.0, 1e140, 1e150, 1.7e308))
hard = st.sampled_from((usual, usual, usual, st.sampled_from((1e300, 1.1e300)), st.just(1e-300), extreme))


def edges_of(weights: st.SearchStrategy[float], most: int) -> st.SearchStrategy[list[Edge]]:
    return st.lists(st.builds(Edge, ids, ids, st.sampled_from(("e", "f")), weights), max_size=most)


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Nodes, edges, and writes: nodes to delete, nodes to add, edges to write, and whether someone ranks then."""
    weights = draw(hard)
    writes = st.tuples(
        st.lists(ids, max_size=2, unique=True),
        st.lists(ids, max_size=3, unique=True),
        edges_of(weights, 4),
        st.booleans(),
    )
    start = draw(st.lists(ids, min_size=3, unique=True))
    return start, draw(edges_of(weights, 40)), draw(st.lists(writes, min_size=1, max_size=4))


def write(storage: MemoryStorage, gone: Iterable[str], new: Iterable[str], edges: Iterable[Edge]) -> None:
    with storage.transaction():
        storage.delete_nodes(gone)
        storage.upsert_nodes([Node(node, "k", node) for node in new])
        there = storage.get_nodes(IDS)
        storage.upsert_edges([edge for edge in edges if edge.source in there and edge.target in there])
        storage.delete_edges([edge.key for edge in edges if edge.weight == 0.3])


def assert_same_walks(found: GraphSnapshot, expected: GraphSnapshot) -> None:
    for kind in ALL_KINDS:
        walks = [walk_of(graph, directed=kind.directed, weighted=kind.weighted) for graph in (found, expected)]
        parts = [(w.step.data, w.step.indices, w.step.indptr, w.degree, w.arcs) for w in walks]
        for one, other in zip(*parts, strict=True):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes()
        assert [(w.reversible, w.loops) for w in walks[:1]] == [(w.reversible, w.loops) for w in walks[1:]]


@given(history=histories(), folder=st.booleans())
@settings(deadline=None, max_examples=150)
def test_walks_that_keep_up_are_those_of_a_new_snapshot(history: History, folder: bool) -> None:
    start, edges, writes = history
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as place:
        patched.setattr(cache, "PATCHED_UP_TO", 100.0)  # else there are no small writes to so small a graph
        patched.setattr(step, "WORTH_PATCHING", 1.0)
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
