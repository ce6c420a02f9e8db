"""The in-process backend against the contract, without a file and with one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graph_file import poke_file, read_file

from graphport import Capability, Edge, GraphStorage, Node
from graphport.pending import PendingWrites
from graphport.testing import GraphStorageContract, Peek, Poke, RoundTripCounter, RoundTrips, Rows
from graphport_memory.plugin import MEMORY
from graphport_memory.storage import MemoryStorage


class TestMemory(GraphStorageContract):
    """Without a path: nothing outlives the handle."""

    backend = replace(MEMORY, capabilities=frozenset({Capability.CHANGES}))
    capabilities = frozenset({Capability.CHANGES})

    @pytest.fixture
    def peek(self) -> Peek:
        def peek(storage: GraphStorage) -> Rows:
            assert isinstance(storage, MemoryStorage)
            base = storage._state.view.flat()
            graph = base.graph
            nodes = [base.node(node_id) for node_id in graph.ids]
            return Rows([node for node in nodes if node], base.edges_at(list(range(graph.n_edges))))

        return peek

    @pytest.fixture
    def poke(self) -> Poke:
        def poke(storage: GraphStorage, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
            assert isinstance(storage, MemoryStorage)
            state = storage._state
            batch = PendingWrites()
            batch.upsert_nodes({node.id: node for node in nodes})
            batch.upsert_edges({edge.key: edge for edge in edges})
            layers = (*state.view.layers, batch)
            storage._state = replace(state, view=replace(state.view, layers=layers), revision=state.revision + 1)

        return poke

    @pytest.fixture
    def round_trips(self) -> RoundTripCounter:
        return lambda storage: nullcontext(RoundTrips())


class TestMemoryFile(GraphStorageContract):
    """With a path: one SQLite file."""

    backend = MEMORY
    capabilities = frozenset(
        {Capability.PERSISTENT, Capability.CONCURRENT_WRITERS, Capability.READ_ONLY, Capability.CHANGES}
    )

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
        @contextmanager
        def counting(storage: GraphStorage) -> Iterator[RoundTrips]:
            assert isinstance(storage, MemoryStorage)
            assert storage._file is not None
            trips = RoundTrips()

            def count(statement: str) -> None:
                trips.count += 1

            for connection in (storage._file._reader, storage._file._writing):
                connection.set_trace_callback(count)
            yield trips
            for connection in (storage._file._reader, storage._file._writing):
                connection.set_trace_callback(None)

        return counting
