"""What a walk can reach, against networkx, whether it is found around the start or among all components."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport import GraphSnapshot
from graphport.rank import reach
from graphport.rank.among import field_of
from graphport.rank.walk import walk_of

N = 24


@given(
    ends=st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), min_size=1, max_size=24),
    ranked=st.none() | st.lists(st.booleans(), min_size=N, max_size=N),
    most=st.integers(0, N),
    look=st.sampled_from((0, 3, 10, 1000)),
)
@settings(deadline=None, max_examples=150)
def test_what_can_be_reached_is_the_components_of_the_seeds(
    ends: list[tuple[int, int]], ranked: list[bool] | None, most: int, look: int
) -> None:
    source, target = zip(*ends, strict=True)
    graph = GraphSnapshot.from_arrays([f"n{i:02d}" for i in range(N)], source, target)
    starts = np.unique([source[0], target[-1]])
    mask = None if ranked is None else np.array(ranked)
    expected = {
        node
        for component in nx.connected_components(nx.Graph(ends))
        if component & set(starts.tolist())
        for node in component
        if mask is None or mask[node]
    }
    walk = walk_of(graph)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reach, "LOOK", look)
        found = reach.reachable(graph, walk, starts, field_of(graph, walk, mask), most)
    assert (None if found is None else found.tolist()) == (sorted(expected) if len(expected) <= most else None)


@pytest.mark.parametrize("most, told_by_components", [(20, False), (200, True)])
def test_components_are_worked_out_only_where_the_surroundings_do_not_tell(
    most: int, told_by_components: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = np.arange(1000)
    graph = GraphSnapshot.from_arrays([f"n{i:04d}" for i in range(1000)], ring, (ring + 1) % 1000)
    walk = walk_of(graph)
    monkeypatch.setattr(reach, "LOOK", 100)
    assert reach.reachable(graph, walk, np.array([5]), field_of(graph, walk, None), most) is None
    known = graph.derived("components", lambda _: None)
    assert (known is not None) == told_by_components
