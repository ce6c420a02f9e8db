"""A snapshot as the tables that COPY takes, with no Python loop per row that has no props."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graphport.model import Props, check_props, dump_props
from graphport.snapshot import GraphSnapshot, check_loadable
from graphport_kuzu.arrow import Table, pa
from graphport_kuzu.schema import EDGES, NODES


def snapshot_tables(graph: GraphSnapshot) -> tuple[Table, Table]:
    """The nodes and edges of a snapshot as `schema.NODES` and `schema.EDGES`, with the props it has.

    Raises `InvalidInputError` if two edges have one key, or for props in a row that is not there.
    """
    check_loadable(graph)
    ids = pa.array(graph.ids, pa.string())
    nodes = pa.table(
        [
            ids,
            _texts(graph.node_kinds, graph.node_kind),
            pa.array(graph.names, pa.string()),
            pa.array(graph.entries, pa.string()),
            _props(graph.node_props, graph.n_nodes, "node"),
        ],
        schema=NODES,
    )
    edges = pa.table(
        [
            ids.take(pa.array(graph.source_index)),
            ids.take(pa.array(graph.target_index)),
            _texts(graph.edge_kinds, graph.edge_kind),
            pa.array(graph.weight, pa.float64()),
            _props(graph.edge_props, graph.n_edges, "edge"),
        ],
        schema=EDGES,
    )
    return nodes, edges


def _texts(table: Sequence[str], codes: Any) -> Any:
    return pa.array(table, pa.string()).take(pa.array(codes))


def _props(props: Mapping[int, Props], n: int, what: str) -> Any:
    """(n,) the props of each row as JSON."""
    if not props:
        return pa.repeat("{}", n)
    texts = np.full(n, "{}", dtype=object)
    for row, value in props.items():
        texts[row] = dump_props(check_props(value, f"{what} row {row}"))
    return pa.array(texts, pa.string())
