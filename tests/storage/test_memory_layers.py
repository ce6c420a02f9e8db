"""A base with several layers of writes on it reads, counts and merges like the plain rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphport_memory.view
from graphport import Direction, Edge, EdgeKey, GraphSnapshot, Node
from graphport.pending import PendingWrites
from graphport.testing.contract.graphs import incident, random_graph, walk
from graphport_memory.base import Base
from graphport_memory.merge import merge
from graphport_memory.view import View, settled
from graphport_memory.walk import neighborhood

IDS = ("a", "b", "c", "d", "e", "é", "😀")
KINDS = ("k", "l", "m")
ids, kinds = st.sampled_from(IDS), st.sampled_from(KINDS)
keys = st.builds(EdgeKey, ids, ids, kinds)
props = st.sampled_from(({}, {"x": 1}, {"y": [1.0]}))
nodes = st.builds(Node, ids, kinds, ids, st.none() | ids, props)
edges = st.builds(Edge, ids, ids, kinds, st.sampled_from((0.5, 1.0)), props)


class Batch(NamedTuple):
    clear: bool
    gone: list[str]
    cut: list[EdgeKey]
    new: list[Node]
    more: list[Edge]


batches = st.builds(
    Batch,
    st.sampled_from((False, False, False, True)),
    st.lists(ids, max_size=2),
    st.lists(keys, max_size=4),
    st.lists(nodes, max_size=4),
    st.lists(edges, max_size=6),
)

Rows = tuple[dict[str, Node], dict[EdgeKey, Edge]]
NONE: Rows = ({}, {})


def apply(rows: Rows, batch: Batch) -> tuple[Rows, PendingWrites]:
    """The rows after a batch, and the batch as a layer; edges without ends are left out."""
    old_nodes, old_edges = NONE if batch.clear else rows
    gone = set(batch.gone)
    after = {key: node for key, node in old_nodes.items() if key not in gone} | {node.id: node for node in batch.new}
    kept = {key: edge for key, edge in old_edges.items() if key not in batch.cut and gone.isdisjoint(key[:2])}
    fit = {edge.key: edge for edge in batch.more if edge.source in after and edge.target in after}
    writes = PendingWrites()
    if batch.clear:
        writes.clear()
    writes.delete_edges(batch.cut)
    writes.delete_nodes(batch.gone)
    writes.upsert_nodes({node.id: node for node in batch.new})
    writes.upsert_edges(fit)
    return (after, kept | fit), writes


def assert_is(view: View, rows: Rows) -> None:
    known, linked = rows
    assert list(view.iter_nodes(None, None, None)) == [known[key] for key in sorted(known)]
    assert list(view.iter_edges(None)) == [linked[key] for key in sorted(linked)]
    assert list(view.iter_edges(frozenset({"k"}))) == [linked[key] for key in sorted(linked) if key.kind == "k"]
    assert list(view.iter_nodes("k", None, None)) == [known[key] for key in sorted(known) if known[key].kind == "k"]
    assert list(view.iter_nodes(None, "a", "b")) == [
        known[key] for key in sorted(known) if (known[key].name, known[key].entry) == ("a", "b")
    ]
    for node_id in IDS:
        assert view.node(node_id) == known.get(node_id)
        assert view.has_node(node_id) == (node_id in known)
        for way in Direction:
            assert view.incident(node_id, way, None, 2) == incident(linked.values(), node_id, way)[:2]
            assert view.incident(node_id, way, frozenset({"l"}), None) == incident(linked.values(), node_id, way, ["l"])
    for source in IDS:
        for target in IDS:
            key = EdgeKey(source, target, "k")
            assert view.edge(key) == linked.get(key)
    counts = view.counts()
    assert (counts.nodes, counts.edges) == (len(known), len(linked))
    assert counts.edge_kinds == count(edge.kind for edge in linked.values())
    assert counts.node_kinds == count(node.kind for node in known.values())


def count(found: Iterable[str]) -> Mapping[str, int]:
    listed = sorted(found)
    return {kind: listed.count(kind) for kind in listed}


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(batches, max_size=5))
def test_layers_read_like_the_rows_they_make(
    history: list[Batch],
) -> None:
    rows = NONE
    view = View(Base.empty())
    for batch in history:
        rows, writes = apply(rows, batch)
        view = View(view.base, (*view.layers, writes))
        assert_is(view, rows)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(batches, max_size=5))
def test_a_merged_base_is_the_one_its_rows_would_make(
    history: list[Batch],
) -> None:
    rows = NONE
    base = Base.empty()
    for batch in history:
        rows, writes = apply(rows, batch)
        base = merge(base, writes)
        assert_is(View(base), rows)
        expected = GraphSnapshot.from_rows(rows[0].values(), rows[1].values())
        assert base.graph.same_as(expected)
        assert base.graph.source_index.dtype == expected.source_index.dtype


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(batches, max_size=12), st.integers(1, 30))
def test_settling_changes_nothing_and_keeps_layers_few(history: list[Batch], small: int) -> None:
    rows = NONE
    view = View(Base.empty())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphport_memory.view, "SMALL", small)
        for batch in history:
            rows, writes = apply(rows, batch)
            view = settled(view, writes)
            assert all(len(older) > 2 * len(newer) for older, newer in zip(view.layers, view.layers[1:], strict=False))
            assert sum(map(len, view.layers)) <= max(small, (len(rows[0]) + len(rows[1])))
        assert_is(view, rows)


def test_a_walk_on_columns_agrees_with_brute_force() -> None:
    known, linked = random_graph(150, 500, seed=3)
    base = merge(Base.empty(), apply(NONE, Batch(False, [], [], known, linked))[1])
    for direction in Direction:
        for wanted in (None, frozenset({"cites"}), frozenset[str]()):
            for depth, most in ((0, 3), (1, 10), (2, 1000), (3, 20), (50, 10_000)):
                seeds = ["n00001", "n00140", "n00141", "nobody"]
                found = neighborhood(base, seeds, depth, most, direction, wanted)
                depths, inside, cut = walk(
                    known, linked, seeds, depth=depth, max_nodes=most, direction=direction, kinds=wanted
                )
                assert list(found.depths.items()) == list(depths.items())
                assert [node.id for node in found.nodes] == list(depths)
                assert list(found.edges) == inside
                assert found.truncated == cut
