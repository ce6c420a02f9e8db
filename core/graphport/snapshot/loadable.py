"""What `GraphStorage.bulk_load` takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np

from graphport.errors import InvalidInputError, InvalidRowError
from graphport.snapshot.columns import GraphSnapshot


def check_loadable(graph: object) -> GraphSnapshot:
    """``graph`` if it is a snapshot whose edges differ in their keys, with props of rows it has.

    Else `InvalidRowError` or `InvalidInputError`. Whether the props are JSON is the backend's to check, as it encodes
    them.
    """
    if not isinstance(graph, GraphSnapshot):
        raise InvalidRowError(
            f"expected a GraphSnapshot, got {type(graph).__name__} {graph!r:.80}; make one with GraphSnapshot.from_rows"
        )
    source, target, kind = graph.source_index, graph.target_index, graph.edge_kind  # in order: twins are neighbours
    twin = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & (kind[1:] == kind[:-1])
    if twin.any():
        key = tuple(graph.edge_key(int(twin.argmax())))
        raise InvalidInputError(f"edge {key!r:.200} is there twice; a key (source, target, kind) must be unique")
    for what, props, n in (("node", graph.node_props, graph.n_nodes), ("edge", graph.edge_props, graph.n_edges)):
        for row in cast("Iterable[object]", props):
            if not isinstance(row, int | np.integer) or not 0 <= row < n:
                raise InvalidInputError(f"{what}_props has the row {row!r:.80}; rows are integers in [0, {n})")
    return graph
