"""Behind the backend's back: what the engine really holds, and how often it is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from graphport.model import Edge, Node, dump_props
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase, Peek, Poke, RoundTripCounter
from graphport.testing.contract.exact import assert_holds, by_id, by_key, exact_edges, exact_nodes
from graphport.testing.contract.graphs import node, random_graph, sample
from graphport.testing.contract.values import FLOATS, PROPS, TEXTS

MOST_FOR_A_READ = 4
MOST_FOR_A_WRITE = 24
"""Requests a call may cost, however many rows it is given: one answer, and what a lock and a commit need."""


def _assert_engine_holds(peek: Peek, storage: GraphStorage, nodes: list[Node], edges: list[Edge]) -> None:
    found = peek(storage)
    assert exact_nodes(by_id(found.nodes)) == exact_nodes(by_id(nodes))
    assert exact_edges(by_key(found.edges)) == exact_edges(by_key(edges))


def _hard_rows() -> tuple[list[Node], list[Edge]]:
    nodes = [Node(text, TEXTS[-1 - i], text, text if i % 2 else None) for i, text in enumerate(TEXTS)]
    nodes.append(node("all of them", props=PROPS))
    edges = [Edge(text, TEXTS[i - 1], TEXTS[i - 2], FLOATS[i % len(FLOATS)]) for i, text in enumerate(TEXTS)]
    edges.append(Edge("all of them", "all of them", "e", 0.1, PROPS))
    return nodes, edges


class EnginePromises(ContractBase):
    def test_the_engine_holds_what_was_written(self, storage: GraphStorage, peek: Peek) -> None:
        nodes, edges = _hard_rows()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        _assert_engine_holds(peek, storage, nodes, edges)

    def test_the_engine_holds_what_was_bulk_loaded(self, storage: GraphStorage, peek: Peek) -> None:
        nodes, edges = _hard_rows()
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
        _assert_engine_holds(peek, storage, nodes, edges)

    def test_the_engine_forgets_what_was_deleted(self, storage: GraphStorage, peek: Peek) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.delete_nodes(["a"])
        storage.delete_edges([("d", "d", "near")])
        left = [edge for edge in edges if "a" not in (edge.source, edge.target) and edge.key != ("d", "d", "near")]
        _assert_engine_holds(peek, storage, nodes[1:], left)
        storage.clear()
        _assert_engine_holds(peek, storage, [], [])

    def test_the_engine_holds_nothing_of_a_rollback(self, storage: GraphStorage, peek: Peek) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        try:
            with storage.transaction():
                storage.delete_nodes(["a"])
                storage.upsert_nodes([node("new")])
                raise ZeroDivisionError
        except ZeroDivisionError:
            _assert_engine_holds(peek, storage, nodes, edges)

    def test_what_others_wrote_into_the_engine_is_seen(self, storage: GraphStorage, poke: Poke) -> None:
        storage.upsert_nodes([node("mine")])
        nodes, edges = _hard_rows()
        poke(storage, nodes, edges)
        assert_holds(storage, [*nodes, node("mine")], edges)
        assert dump_props(storage.get_nodes(["all of them"])["all of them"].props) == dump_props(PROPS)
        assert storage.snapshot().same_as(GraphSnapshot.from_rows([*nodes, node("mine")], edges))

    def test_a_call_costs_the_same_few_round_trips_for_any_number_of_rows(
        self, storage: GraphStorage, round_trips: RoundTripCounter
    ) -> None:
        nodes, edges = random_graph(1500, 3000)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)

        def cost(call: Callable[[], Any]) -> int:
            with round_trips(storage) as trips:
                call()
            return trips.count

        reads: dict[str, Callable[[int], Any]] = {
            "get_nodes": lambda n: storage.get_nodes(row.id for row in nodes[:n]),
            "get_edges": lambda n: storage.get_edges(edge.key for edge in edges[:n]),
            "incident_edges": lambda n: storage.incident_edges(row.id for row in nodes[:n]),
        }
        writes: dict[str, Callable[[int], Any]] = {
            "upsert_nodes": lambda n: storage.upsert_nodes(nodes[:n]),
            "upsert_edges": lambda n: storage.upsert_edges(edges[:n]),
            "delete_edges": lambda n: storage.delete_edges(edge.key for edge in edges[:n]),
            "delete_nodes": lambda n: storage.delete_nodes(row.id for row in nodes[:n]),
        }
        for most, group in ((MOST_FOR_A_READ, reads), (MOST_FOR_A_WRITE, writes)):
            for name, call in group.items():
                few, many = cost(partial(call, 3)), cost(partial(call, 1500))
                assert max(few, many) <= most, f"{name}: {few} round trips for 3 rows, {many} for 1500"
