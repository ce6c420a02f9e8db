"""What `GraphSnapshot.from_arrays` makes of columns that come from elsewhere."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from graphport import GraphSnapshot
from graphport.errors import InvalidWeightError


def test_texts_of_numpy_become_plain_ones() -> None:
    ids = cast("list[str]", np.array(["b", "a"]))
    graph = GraphSnapshot.from_arrays(
        ids,
        [0],
        [1],
        names=ids,
        entries=[None, np.str_("e")],
        node_kinds=[np.str_("n")],
        edge_kinds=[np.str_("k")],
    )
    assert (graph.ids, graph.names, graph.entries) == (("a", "b"), ("a", "b"), ("e", None))
    texts = [*graph.ids, *graph.names, graph.entries[0], *graph.node_kinds, *graph.edge_kinds]
    assert {type(text) for text in texts} == {str}


@pytest.mark.parametrize("weight", [["heavy"], [object()]], ids=["text", "object"])
def test_weights_that_are_no_numbers_are_refused_by_type(weight: Any) -> None:
    with pytest.raises(InvalidWeightError, match="weight is"):
        GraphSnapshot.from_arrays(["a"], [0], [0], weight)
