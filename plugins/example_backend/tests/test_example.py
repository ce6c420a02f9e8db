"""The whole test file of a backend."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from graphport_example.plugin import EXAMPLE

from graphport import Edge, Node
from graphport.testing import GraphStorageContract, Peek, Poke, RoundTripCounter, RoundTrips, Rows


def read_engine(storage: Any) -> Rows:
    return Rows(list(storage._committed.nodes.values()), list(storage._committed.edges.values()))


def write_engine(storage: Any, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    old = storage._committed
    new_nodes, new_edges = {node.id: node for node in nodes}, {edge.key: edge for edge in edges}
    storage._committed = replace(old, nodes=old.nodes | new_nodes, edges=old.edges | new_edges)


class TestExample(GraphStorageContract):
    backend = EXAMPLE
    capabilities = frozenset()

    @pytest.fixture
    def peek(self) -> Peek:
        return read_engine

    @pytest.fixture
    def poke(self) -> Poke:
        return write_engine

    @pytest.fixture
    def round_trips(self) -> RoundTripCounter:
        return lambda _: nullcontext(RoundTrips())
