"""Small graphs of hard texts, for the tests of snapshots."""

from __future__ import annotations

from hypothesis import strategies as st

from graphport import Edge, GraphSnapshot, Node

IDS = ("a", "A", "é", "e\u0301", "名前", "😀", "it's", "z" * 300)
KINDS = ("e", "E", "$$", "名")

texts = st.sampled_from(IDS)
kinds = st.sampled_from(KINDS)
props = st.sampled_from(({}, {"x": 1}, {"x": 1.0, "y": [None, "名"]}))
nodes = st.builds(Node, texts, kinds, texts, st.none() | texts, props)
edges = st.builds(Edge, texts, texts, kinds, st.sampled_from((0.0, 0.1, 1.0, 1e308)), props)


def graph_of(rows: list[Node], more: list[Edge]) -> GraphSnapshot:
    """The graph of these rows, the last of equal keys, edges only where both ends are."""
    by_id = {node.id: node for node in rows}
    by_key = {edge.key: edge for edge in more if edge.source in by_id and edge.target in by_id}
    return GraphSnapshot.from_rows(by_id.values(), by_key.values(), revision=7)


graphs = st.builds(graph_of, st.lists(nodes, max_size=8), st.lists(edges, max_size=10))


def hard_graph() -> GraphSnapshot:
    """Every id, with props on some rows, parallel edges and self-loops."""
    rows = [
        Node(text, KINDS[i % 4], text if i % 2 else "name", text if i % 3 else None, {"i": i} if i % 2 else {})
        for i, text in enumerate(IDS)
    ]
    ends = [(source, target) for source in IDS for target in IDS[:4]]
    more = [Edge(*pair, KINDS[i % 3], i / 7, {"i": i} if i % 5 == 0 else {}) for i, pair in enumerate(ends)]
    return GraphSnapshot.from_rows(rows, more, revision=3)


def assert_same(found: GraphSnapshot, expected: GraphSnapshot) -> None:
    """Equal to the last bit, revision, props and dtypes too."""
    assert found.same_as(expected)
    for column in ("node_kind", "edge_kind", "source_index", "target_index", "weight"):
        assert getattr(found, column).dtype == getattr(expected, column).dtype
        assert getattr(found, column).tobytes() == getattr(expected, column).tobytes()
    assert dict(found.node_props) == dict(expected.node_props)
    assert dict(found.edge_props) == dict(expected.edge_props)
    assert found.revision == expected.revision
