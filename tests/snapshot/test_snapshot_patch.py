"""A patched snapshot is the one that would be read: whatever changed, packed texts or not."""

from __future__ import annotations

import tempfile
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_graphs import assert_same, edges, graph_of, graphs, nodes, texts

from graphport import Edge, EdgeKey, GraphSnapshot, Node
from graphport.changes import GraphChanges
from graphport.errors import MissingNodeError
from graphport.snapshot import Splice, edge_row, patch
from graphport.snapshot.packed import packed
from graphport.snapshot.splice import MANY_PIECES

changes = st.tuples(
    st.lists(nodes, max_size=4),
    st.lists(edges, max_size=5),
    st.lists(texts, max_size=3, unique=True),
    st.lists(st.tuples(texts, texts, st.sampled_from(("e", "E", "$$", "名"))), max_size=5, unique=True),
)


def without_props(graph: GraphSnapshot) -> GraphSnapshot:
    plain = [Node(node.id, node.kind, node.name, node.entry) for node in graph.iter_nodes()]
    return GraphSnapshot.from_rows(
        plain, [Edge(*edge.key, edge.weight) for edge in graph.iter_edges()], revision=graph.revision
    )


def applied(graph: GraphSnapshot, made: GraphChanges) -> GraphSnapshot:
    """The changes made on dicts, in the order they promise."""
    rows = {node.id: node for node in graph.iter_nodes()}
    more = {edge.key: edge for edge in graph.iter_edges() if edge.key not in made.deleted_edges}
    for gone in made.deleted_nodes:
        rows.pop(gone, None)
        more = {key: edge for key, edge in more.items() if gone not in (key.source, key.target)}
    rows.update(made.nodes)
    more.update(made.edges)
    return without_props(GraphSnapshot.from_rows(rows.values(), more.values(), revision=made.revision))


@given(graph=graphs, change=changes, mapped=st.booleans())
@settings(deadline=None, max_examples=80)
def test_patching_is_changing_the_rows(
    graph: GraphSnapshot,
    change: tuple[list[Node], list[Edge], list[str], list[tuple[str, str, str]]],
    mapped: bool,
) -> None:
    upserted, more, gone, keys = change
    by_id = {node.id: node for node in upserted}
    there = (set(graph.ids) - set(gone)) | set(by_id)
    by_key = {edge.key: edge for edge in more if edge.source in there and edge.target in there}
    made = GraphChanges(8, by_id, by_key, tuple(gone), tuple(EdgeKey(*key) for key in keys))
    with tempfile.TemporaryDirectory() as folder:
        graph.save(folder)
        start = GraphSnapshot.load(folder) if mapped else graph
        assert_same(patch(start, made).graph, applied(graph, made))


def test_an_edge_that_ends_in_no_node_is_refused() -> None:
    edge = Edge("a", "nobody", "e")
    with pytest.raises(MissingNodeError, match="nobody"):
        patch(graph_of([Node("a", "k", "a")], []), GraphChanges(1, {}, {edge.key: edge}))


def test_a_patch_says_where_the_written_rows_are() -> None:
    graph = graph_of([Node("b", "k", "b"), Node("d", "k", "d")], [Edge("b", "d", "e"), Edge("d", "b", "e")])
    new = {node.id: node for node in (Node("a", "k", "a"), Node("d", "K", "D"))}
    edge = Edge("d", "a", "e", 2.0)
    made = patch(graph, GraphChanges(1, new, {edge.key: edge}))
    assert made.written_nodes == {0: new["a"], 2: new["d"]}
    assert made.written_edges == {1: edge}
    assert edge_row(made.graph, edge.key) == 1
    assert edge_row(made.graph, EdgeKey("d", "a", "E")) is None
    assert edge_row(made.graph, EdgeKey("z", "a", "e")) is None


def test_a_snapshot_does_not_change_with_the_arrays_it_was_made_from() -> None:
    ends, weight, kinds = np.array([0, 0, 1], np.int32), np.array([1.0, 2.0, 3.0]), np.zeros(3, np.int32)
    buffer, node_kind = array("i", [0, 1, 1]), np.zeros(2, np.int32)
    graph = GraphSnapshot.from_arrays(["a", "b"], ends, buffer, weight, edge_kind=kinds, node_kind=node_kind)
    for given_array in (ends, weight, kinds, node_kind):
        given_array[:] = 1
    buffer[0] = 1
    assert (graph.source_index.tolist(), graph.target_index.tolist()) == ([0, 0, 1], [0, 1, 1])
    assert (graph.weight.tolist(), graph.edge_kind.tolist()) == ([1.0, 2.0, 3.0], [0, 0, 0])
    assert graph.node_kind.tolist() == [0, 0]


@given(
    column=st.lists(st.integers(0, 99), max_size=12),
    data=st.data(),
)
@settings(deadline=None, max_examples=100)
def test_a_splice_cuts_and_puts_rows_in_their_place(column: list[int], data: st.DataObject) -> None:
    rows = st.integers(0, max(len(column) - 1, 0))
    cut = data.draw(st.lists(rows, unique=True, max_size=5)) if column else []
    places = sorted(data.draw(st.lists(st.integers(0, len(column)), max_size=5)))
    expected: list[int] = []
    for row in range(len(column) + 1):
        expected += [100 + i for i, place in enumerate(places) if place == row]
        expected += [column[row]] if row < len(column) and row not in cut else []
    splice = Splice(len(column), cut, places)
    values = [100 + i for i in range(len(places))]
    assert splice.array(np.array(column, dtype=np.int32), values).tolist() == expected
    assert [expected[row] for row in splice.new_rows] == values
    kept = [row for row in range(len(column)) if row not in cut]
    assert [expected[row] for row in splice.moved(np.array(kept, dtype=np.int64)).tolist()] == [column[r] for r in kept]
    texts_of, new = [str(item) for item in column], [str(item) for item in values]
    for before in (tuple(texts_of), packed(texts_of)):
        assert list(splice.texts(before, new)) == [str(item) for item in expected]


def test_many_rows_are_spliced_in_one_pass_with_the_same_result() -> None:
    n = 3 * MANY_PIECES
    places = list(range(1, n, 3))
    expected: list[float] = []
    for row in range(n):
        expected += [-1.0] * (row % 3 == 1) + [float(row)] * (row % 2 == 1)
    splice = Splice(n, range(0, n, 2), places)
    assert splice.array(np.arange(n, dtype=np.float64), [-1.0] * len(places)).tolist() == expected


@given(st.lists(st.none() | texts, max_size=20), st.integers(-3, 22), st.integers(-3, 22))
@settings(deadline=None, max_examples=100)
def test_packed_texts_are_a_tuple(items: list[str | None], first: int, last: int) -> None:
    found = packed(items)
    assert (len(found), list(found)) == (len(items), items)
    assert [found[row] for row in range(-len(items), len(items))] == items + items
    assert list(found[first:last]) == items[first:last]
    assert list(found[::-1]) == items[::-1]
    assert found.present().tolist() == [item is not None for item in items]
    assert packed(found) is found
    assert list(packed(found[first:last])[0:2]) == items[first:last][0:2]
