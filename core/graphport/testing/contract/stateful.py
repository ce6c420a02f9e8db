"""Any sequence of calls does to the graph what it does to a networkx graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import networkx as nx
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from graphport.errors import MissingNodeError
from graphport.model import Direction, Edge, EdgeKey, Node
from graphport.snapshot import GraphSnapshot
from graphport.storage import Capability, GraphStorage
from graphport.testing.contract.base import ContractBase, Open
from graphport.testing.contract.exact import assert_holds, exact_edges, exact_nodes
from graphport.testing.contract.graphs import incident, walk

IDS = ("a", "A", "é", "e\u0301", "it's", "😀")
KINDS = ("e", "E", "$$")

ids = st.sampled_from(IDS)
kinds = st.sampled_from(KINDS)
keys = st.tuples(ids, ids, kinds)
weights = st.sampled_from((0.0, 0.1, 1.0, 1e308))
props = st.sampled_from(({}, {"x": 1}, {"x": 1.0, "y": [None]}))
nodes = st.builds(Node, ids, kinds, ids, st.none() | ids, props)
edges = st.builds(Edge, ids, ids, kinds, weights, props)


class Oracle:
    """The same graph in networkx; ``row`` holds each node's and edge's row."""

    def __init__(self) -> None:
        self.graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()

    def nodes(self) -> list[Node]:
        return [data["row"] for _, data in self.graph.nodes(data=True)]

    def edges(self) -> list[Edge]:
        return [data["row"] for _, _, data in self.graph.edges(data=True)]

    def upsert_nodes(self, batch: list[Node]) -> None:
        for node in batch:
            self.graph.add_node(node.id, row=node)

    def upsert_edges(self, batch: list[Edge]) -> None:
        for edge in batch:
            self.graph.add_edge(edge.source, edge.target, key=edge.kind, row=edge)

    def missing(self, batch: list[Edge]) -> set[str]:
        return {end for edge in batch for end in (edge.source, edge.target)} - set(self.graph)

    def delete_nodes(self, batch: list[str]) -> int:
        gone = set(batch) & set(self.graph)
        self.graph.remove_nodes_from(gone)
        return len(gone)

    def delete_edges(self, batch: list[tuple[str, str, str]]) -> int:
        gone = {key for key in batch if self.graph.has_edge(*key)}
        for key in gone:
            self.graph.remove_edge(*key)
        return len(gone)

    def copy(self) -> Oracle:
        twin = Oracle()
        twin.graph = self.graph.copy()
        return twin


class GraphMachine(RuleBasedStateMachine):
    """Writes, transactions and reopening, on a storage and on the oracle beside it."""

    open_graph: Callable[[], GraphStorage]
    persistent: bool

    def __init__(self) -> None:
        super().__init__()
        self.storage = self.open_graph()
        self.oracle = Oracle()
        self.transaction: Any = None
        self.committed = Oracle()
        self.revision = self.storage.revision()

    @rule(batch=st.lists(nodes, max_size=5))
    def upsert_nodes(self, batch: list[Node]) -> None:
        self.storage.upsert_nodes(batch)
        self.oracle.upsert_nodes(batch)

    @rule(batch=st.lists(edges, max_size=6))
    def upsert_edges(self, batch: list[Edge]) -> None:
        missing = self.oracle.missing(batch)
        try:
            self.storage.upsert_edges(batch)
        except MissingNodeError as error:
            assert set(error.ids) == missing
            assert missing
        else:
            assert not missing
            self.oracle.upsert_edges(batch)

    @rule(batch=st.lists(ids, max_size=3))
    def delete_nodes(self, batch: list[str]) -> None:
        assert self.storage.delete_nodes(batch) == self.oracle.delete_nodes(batch)

    @rule(batch=st.lists(keys, max_size=6))
    def delete_edges(self, batch: list[tuple[str, str, str]]) -> None:
        assert self.storage.delete_edges(batch) == self.oracle.delete_edges(batch)

    @rule()
    def clear(self) -> None:
        self.storage.clear()
        self.oracle = Oracle()

    @precondition(lambda self: self.transaction is None)
    @rule(rows=st.lists(nodes, max_size=6), more=st.lists(edges, max_size=6))
    def bulk_load(self, rows: list[Node], more: list[Edge]) -> None:
        oracle = Oracle()
        oracle.upsert_nodes(rows)
        oracle.upsert_edges([edge for edge in more if not oracle.missing([edge])])
        self.storage.bulk_load(GraphSnapshot.from_rows(oracle.nodes(), oracle.edges()))
        self.oracle = oracle

    @precondition(lambda self: self.transaction is None)
    @rule()
    def begin(self) -> None:
        self.committed = self.oracle.copy()
        self.transaction = self.storage.transaction()
        self.transaction.__enter__()

    @precondition(lambda self: self.transaction is not None)
    @rule()
    def commit(self) -> None:
        self.transaction.__exit__(None, None, None)
        self.transaction = None

    @precondition(lambda self: self.transaction is not None)
    @rule()
    def roll_back(self) -> None:
        error = ZeroDivisionError()
        assert not self.transaction.__exit__(ZeroDivisionError, error, None)
        self.transaction = None
        self.oracle = self.committed

    @precondition(lambda self: self.transaction is None and self.persistent)
    @rule()
    def reopen(self) -> None:
        self.storage.close()
        self.storage = self.open_graph()

    @rule(
        asked=st.lists(ids),
        direction=st.sampled_from(Direction),
        chosen=st.none() | st.sets(kinds),
        limit=st.none() | st.integers(0, 3),
    )
    def read_incident_edges(
        self, asked: list[str], direction: Direction, chosen: set[str] | None, limit: int | None
    ) -> None:
        found = self.storage.incident_edges(asked, direction=direction, kinds=chosen, limit_per_node=limit)
        rows = self.oracle.edges()
        assert list(found) == [node_id for node_id in dict.fromkeys(asked) if node_id in self.oracle.graph]
        for node_id, row in found.items():
            assert exact_edges(row) == exact_edges(incident(rows, node_id, direction, chosen)[:limit])

    @rule(asked=st.lists(keys))
    def read_by_key(self, asked: list[tuple[str, str, str]]) -> None:
        rows = {edge.key: edge for edge in self.oracle.edges()}
        found = self.storage.get_edges(asked)
        assert exact_edges(found.values()) == exact_edges(
            rows[EdgeKey(*key)] for key in dict.fromkeys(asked) if key in rows
        )
        names = {node.id: node for node in self.oracle.nodes()}
        ends = dict.fromkeys(key[0] for key in asked)
        assert exact_nodes(self.storage.get_nodes(ends).values()) == exact_nodes(names[i] for i in ends if i in names)

    @rule(seeds=st.lists(ids, max_size=3), depth=st.integers(0, 3), most=st.integers(1, 4))
    def read_neighborhood(self, seeds: list[str], depth: int, most: int) -> None:
        found = self.storage.neighborhood(seeds, depth=depth, max_nodes=most)
        depths, inside, cut = walk(self.oracle.nodes(), self.oracle.edges(), seeds, depth=depth, max_nodes=most)
        assert (list(found.depths.items()), found.truncated) == (list(depths.items()), cut)
        assert exact_edges(found.edges) == exact_edges(inside)

    @invariant()
    def both_hold_the_same(self) -> None:
        assert_holds(self.storage, self.oracle.nodes(), self.oracle.edges())

    @invariant()
    def the_revision_never_falls(self) -> None:
        assert self.storage.revision() >= self.revision
        self.revision = self.storage.revision()

    @invariant()
    def snapshots_are_the_same(self) -> None:
        assert self.storage.snapshot().same_as(GraphSnapshot.from_rows(self.oracle.nodes(), self.oracle.edges()))

    def teardown(self) -> None:
        if self.transaction is not None:
            self.transaction.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
        self.storage.close()


class StatefulPromises(ContractBase):
    def test_any_sequence_of_calls_agrees_with_networkx(self, open_store: Open) -> None:
        names = count()

        class Machine(GraphMachine):
            persistent = Capability.PERSISTENT in self.capabilities

            def __init__(self) -> None:
                self.name = f"machine {next(names)}"
                super().__init__()

            def open_graph(self) -> GraphStorage:
                return open_store(graph=self.name)

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=25,
                stateful_step_count=30,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            ),
        )
