from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.errors import InvalidQueryError
from graphport_serve.answers import GraphAnswer, GraphEdge, GraphNode
from graphport_serve.paging import Bounds, page_of
from graphport_serve.questions.graphs import paged


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=30), max_size=40), st.integers(1, 7), st.one_of(st.none(), st.integers(1, 60)))
def test_the_pages_make_up_the_list_and_each_keeps_its_bounds(
    rows: list[str], items: int, characters: int | None
) -> None:
    bounds = Bounds(items, characters)
    seen: list[str] = []
    cursor = None
    while True:
        page = page_of(rows, cursor, bounds, question=("q", 1), size=len)
        assert len(page.items) <= items
        if characters is not None and len(page.items) > 1:
            assert sum(map(len, page.items)) <= characters
        seen += page.items
        cursor = page.next
        if cursor is None:
            break
        assert page.items
    assert seen == rows


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=40))
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidQueryError):
        page_of([1, 2, 3], cursor, Bounds(1), question=("q",), size=lambda _: 1)


def test_pages_of_a_graph_build_on_each_other() -> None:
    nodes = [GraphNode(id=str(n), kind="k", name=str(n), entry=None, depth=n, degree=1) for n in range(7)]
    edges = [
        GraphEdge(source=str(a), target=str(b), kind="k", weight=1) for a, b in [(0, 1), (1, 0), (2, 6), (3, 3), (5, 4)]
    ]
    whole = GraphAnswer(nodes=nodes, edges=edges, truncated=True)
    known: set[str] = set()
    found: list[GraphEdge] = []
    cursor = None
    while True:
        page = paged(whole, cursor, Bounds(3), question=("g",))
        assert len(page.nodes) + len(page.edges) <= 3
        assert page.truncated
        known |= {node.id for node in page.nodes}
        assert all(edge.source in known and edge.target in known for edge in page.edges)
        found += page.edges
        cursor = page.next_cursor
        if cursor is None:
            break
    assert known == {node.id for node in nodes}
    assert sorted(map(str, found)) == sorted(map(str, edges))
