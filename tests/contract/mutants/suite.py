"""The contract against every mutant, and against the storage they are made from; run by test_mutants.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graph_file import poke_file, read_file

from graphport import Capability, Edge, GraphStorage, Node
from graphport.pending import PendingWrites
from graphport.testing import GraphStorageContract, Peek, Poke, RoundTripCounter, RoundTrips, Rows
from graphport_memory.plugin import MEMORY
from mutants import MUTANTS, Mutant


def in_memory(mutant: type[Mutant]) -> type[GraphStorageContract]:
    class InMemory(GraphStorageContract):
        backend = replace(
            MEMORY, open=lambda options: mutant(graph=options.graph), capabilities=frozenset({Capability.CHANGES})
        )
        capabilities = frozenset({Capability.CHANGES})

        @pytest.fixture
        def peek(self) -> Peek:
            return read_memory

        @pytest.fixture
        def poke(self) -> Poke:
            return write_memory

        @pytest.fixture
        def round_trips(self) -> RoundTripCounter:
            return count_views

    return InMemory


def in_a_file(mutant: type[Mutant]) -> type[GraphStorageContract]:
    class InAFile(GraphStorageContract):
        backend = replace(MEMORY, open=lambda options: mutant(options.path, **options.model_dump(exclude={"path"})))
        capabilities = MEMORY.capabilities

        @pytest.fixture
        def options(self, tmp_path: Path) -> Mapping[str, Any]:
            return {"path": tmp_path / "graph.db"}

        @pytest.fixture
        def peek(self, options: Mapping[str, Any]) -> Peek:
            return lambda storage: read_file(options["path"], storage.graph)

        @pytest.fixture
        def poke(self, options: Mapping[str, Any]) -> Poke:
            return lambda storage, nodes, edges: poke_file(options["path"], storage.graph, nodes, edges)

        @pytest.fixture
        def round_trips(self) -> RoundTripCounter:
            return count_views

    return InAFile


def read_memory(storage: GraphStorage) -> Rows:
    assert isinstance(storage, Mutant)
    base = storage._state.view.flat()
    nodes = [base.node(node_id) for node_id in base.graph.ids]
    return Rows([node for node in nodes if node], base.edges_at(list(range(base.graph.n_edges))))


def write_memory(storage: GraphStorage, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    assert isinstance(storage, Mutant)
    batch = PendingWrites()
    batch.upsert_nodes({node.id: node for node in nodes})
    batch.upsert_edges({edge.key: edge for edge in edges})
    state = storage._state
    layers = (*state.view.layers, batch)
    storage._state = replace(state, view=replace(state.view, layers=layers), revision=state.revision + 1)


@contextmanager
def count_views(storage: GraphStorage) -> Iterator[RoundTrips]:
    assert isinstance(storage, Mutant)
    trips, before = RoundTrips(), storage.asked
    yield trips
    trips.count = storage.asked - before


EVERY: list[type[Mutant]] = [Mutant, *MUTANTS]
for _mutant in EVERY:
    _class = in_a_file(_mutant) if _mutant.persistent else in_memory(_mutant)
    _class.__name__ = _class.__qualname__ = f"Test{_mutant.__name__}"
    globals()[_class.__name__] = _class
