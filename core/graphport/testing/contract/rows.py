"""What is written comes back, to the last character and bit."""

from __future__ import annotations

import copy
from typing import Any, cast

import pytest

from graphport.errors import GraphportError
from graphport.model import Edge, EdgeKey, Node
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase, Open
from graphport.testing.contract.exact import assert_holds, exact_edge, exact_edges, exact_node, exact_nodes
from graphport.testing.contract.graphs import node, sample
from graphport.testing.contract.values import FLOATS, INTEGERS, PROPS, TEXTS


class RowPromises(ContractBase):
    def test_a_node_comes_back_as_it_was(self, storage: GraphStorage) -> None:
        written = Node("a", "person", "Ada", "entry 1", {"born": 1815, "tags": ["x", None]})
        storage.upsert_nodes([written])
        assert exact_node(storage.get_nodes(["a"])["a"]) == exact_node(written)

    def test_an_edge_comes_back_as_it_was(self, storage: GraphStorage) -> None:
        written = Edge("a", "b", "knows", 0.1, {"since": 1830})
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges([written])
        found = storage.get_edges([("a", "b", "knows")])
        assert exact_edges(found.values()) == [exact_edge(written)]
        assert [type(key) for key in found] == [EdgeKey]

    def test_defaults_come_back(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([Node("a", "k", "A")])
        storage.upsert_edges([Edge("a", "a", "e")])
        assert_holds(storage, [Node("a", "k", "A", None, {})], [Edge("a", "a", "e", 1.0, {})])

    def test_any_text_is_a_node_id(self, storage: GraphStorage) -> None:
        nodes = [Node(text, "k", f"name {i}") for i, text in enumerate(TEXTS)]
        storage.upsert_nodes(nodes)
        assert_holds(storage, nodes)
        assert exact_nodes(storage.get_nodes(TEXTS).values()) == exact_nodes(nodes)

    def test_any_text_is_a_node_kind(self, storage: GraphStorage) -> None:
        nodes = [Node(f"n{i:04d}", text, "name") for i, text in enumerate(TEXTS)]
        storage.upsert_nodes(nodes)
        assert_holds(storage, nodes)
        assert storage.counts().node_kinds == dict.fromkeys(sorted(TEXTS), 1)
        for written in nodes:
            assert exact_nodes(storage.iter_nodes(kind=written.kind)) == [exact_node(written)]

    def test_any_text_is_a_name_or_an_entry(self, storage: GraphStorage) -> None:
        nodes = [Node(f"n{i:04d}", "k", text, TEXTS[-1 - i]) for i, text in enumerate(TEXTS)]
        storage.upsert_nodes(nodes)
        assert_holds(storage, nodes)
        for written in nodes:
            assert exact_nodes(storage.iter_nodes(name=written.name)) == [exact_node(written)]
            assert exact_nodes(storage.iter_nodes(entry=written.entry)) == [exact_node(written)]

    def test_any_text_is_an_edge_kind(self, storage: GraphStorage) -> None:
        edges = [Edge("a", "b", text) for text in TEXTS]
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges(edges)
        assert_holds(storage, [node("a"), node("b")], edges)
        assert storage.counts().edge_kinds == dict.fromkeys(sorted(TEXTS), 1)
        for edge in edges:
            assert exact_edges(storage.iter_edges(kinds=[edge.kind])) == [exact_edge(edge)]
            assert storage.incident_edges(["a"], kinds=[edge.kind])["a"] == [edge]

    def test_any_text_is_an_end_of_an_edge(self, storage: GraphStorage) -> None:
        edges = [Edge(text, TEXTS[i - 1], "e") for i, text in enumerate(TEXTS)]
        storage.upsert_nodes([node(text) for text in TEXTS])
        storage.upsert_edges(edges)
        assert_holds(storage, [node(text) for text in TEXTS], edges)
        assert list(storage.get_edges(edge.key for edge in edges).values()) == edges
        assert all(edge in storage.incident_edges([edge.source])[edge.source] for edge in edges)

    def test_any_text_is_a_prop_key_or_value(self, storage: GraphStorage) -> None:
        nodes = [node("a", props={text: text for text in TEXTS})]
        edges = [Edge("a", "a", "e", props={"texts": list(TEXTS), **dict.fromkeys(TEXTS)})]
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert_holds(storage, nodes, edges)

    def test_props_keep_every_json_value(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a", props=PROPS)])
        storage.upsert_edges([Edge("a", "a", "e", props=PROPS)])
        assert_holds(storage, [node("a", props=PROPS)], [Edge("a", "a", "e", props=PROPS)])

    def test_true_1_and_1_0_are_three_values(self, storage: GraphStorage) -> None:
        nodes = [node("a", props={"x": True}), node("b", props={"x": 1}), node("c", props={"x": 1.0})]
        storage.upsert_nodes(nodes)
        found = storage.get_nodes(["a", "b", "c"])
        assert [type(found[key].props["x"]) for key in "abc"] == [bool, int, float]

    def test_weights_and_floats_keep_every_bit(self, storage: GraphStorage) -> None:
        edges = [Edge("a", "a", f"e{i:02d}", weight, {"w": weight}) for i, weight in enumerate(FLOATS)]
        storage.upsert_nodes([node("a")])
        storage.upsert_edges(edges)
        assert_holds(storage, [node("a")], edges)
        assert [weight.hex() for weight in storage.snapshot().weight.tolist()] == [weight.hex() for weight in FLOATS]

    def test_integers_reach_to_64_bits(self, storage: GraphStorage) -> None:
        nodes = [node(f"n{i}", props={"x": number, "xs": [number]}) for i, number in enumerate(INTEGERS)]
        storage.upsert_nodes(nodes)
        assert_holds(storage, nodes)

    def test_a_weight_given_as_an_integer_comes_back_as_a_float(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        storage.upsert_edges([Edge("a", "a", "e", 2)])
        assert exact_edges(storage.iter_edges()) == [exact_edge(Edge("a", "a", "e", 2.0))]

    def test_rows_of_one_batch_may_have_different_shapes(self, storage: GraphStorage) -> None:
        nodes = [
            node("a"),
            node("b", entry="e", props={"x": 1, "y": "text"}),
            node("c", props={"y": 2.5, "x": None}),
            node("d", props={"z": {"x": []}}),
            node("e", entry="f", props={"x": [1, "a"]}),
        ]
        edges = [
            Edge("a", "b", "e", 1),
            Edge("b", "c", "e", 0.5, {"x": 1}),
            Edge("c", "d", "f", 2.0, {"x": "1", "w": {}}),
        ]
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert_holds(storage, nodes, [Edge("a", "b", "e", 1.0), *edges[1:]])

    def test_the_last_of_duplicates_in_a_batch_wins(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a", props={"n": 1}), node("b"), Node("a", "other", "A", "x", {"m": 2})])
        storage.upsert_edges([Edge("a", "b", "e", 1.0, {"n": 1}), Edge("b", "a", "e"), Edge("a", "b", "e", 2.0)])
        nodes = [Node("a", "other", "A", "x", {"m": 2}), node("b")]
        assert_holds(storage, nodes, [Edge("a", "b", "e", 2.0), Edge("b", "a", "e")])

    def test_an_upsert_replaces_the_whole_row(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([Node("a", "k", "A", "entry", {"old": 1}), node("b")])
        storage.upsert_edges([Edge("a", "b", "e", 2.0, {"old": 1})])
        storage.upsert_nodes([Node("a", "other", "B", None, {"new": 2})])
        storage.upsert_edges([Edge("a", "b", "e", 0.5, {"new": 2})])
        assert_holds(
            storage, [Node("a", "other", "B", None, {"new": 2}), node("b")], [Edge("a", "b", "e", 0.5, {"new": 2})]
        )

    def test_a_replaced_node_keeps_its_edges(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.upsert_nodes([node("a", "other")])
        assert_holds(storage, [node("a", "other"), *nodes[1:]], edges)
        assert len(storage.incident_edges(["a"])["a"]) == 4

    def test_parallel_edges_differ_in_kind(self, storage: GraphStorage) -> None:
        edges = [Edge("a", "b", "e", 1.0), Edge("a", "b", "f", 2.0), Edge("a", "b", "E", 3.0)]
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges(edges)
        assert_holds(storage, [node("a"), node("b")], edges)

    def test_an_edge_and_its_reverse_are_two(self, storage: GraphStorage) -> None:
        edges = [Edge("a", "b", "e", 1.0), Edge("b", "a", "e", 2.0)]
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges(edges)
        assert_holds(storage, [node("a"), node("b")], edges)

    def test_an_edge_to_itself(self, storage: GraphStorage) -> None:
        edges = [Edge("a", "a", "e", 1.0), Edge("a", "a", "f", 2.0)]
        storage.upsert_nodes([node("a")])
        storage.upsert_edges(edges)
        assert_holds(storage, [node("a")], edges)
        assert storage.snapshot().n_edges == 2

    def test_a_batch_is_the_same_as_one_call_per_row(self, open_store: Open) -> None:
        nodes, edges = sample()
        batch, singles = open_store(graph="batch"), open_store(graph="singles")
        batch.upsert_nodes(nodes)
        batch.upsert_edges(edges)
        for row in nodes:
            singles.upsert_nodes([row])
        for edge in edges:
            singles.upsert_edges([edge])
        assert exact_nodes(singles.iter_nodes()) == exact_nodes(batch.iter_nodes())
        assert exact_edges(singles.iter_edges()) == exact_edges(batch.iter_edges())
        assert singles.snapshot().same_as(batch.snapshot())

    def test_a_generator_is_a_batch_too(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(node for node in nodes)
        storage.upsert_edges(edge for edge in edges)
        assert_holds(storage, nodes, edges)
        assert len(storage.get_nodes(node.id for node in nodes)) == len(nodes)
        assert storage.delete_edges(edge.key for edge in edges) == len(edges)
        assert storage.delete_nodes(node.id for node in nodes) == len(nodes)

    def test_an_empty_batch_changes_nothing(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.upsert_nodes([])
        storage.upsert_edges([])
        assert (storage.delete_nodes([]), storage.delete_edges([])) == (0, 0)
        assert_holds(storage, nodes, edges)

    def test_what_the_caller_does_to_props_later_does_not_reach_the_graph(self, storage: GraphStorage) -> None:
        props = {"x": [1]}
        nodes, edges = [node("a", props=props)], [Edge("a", "a", "e", props=props)]
        before = copy.deepcopy((nodes, edges))
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        props["x"].append(2)
        for _ in range(2):
            found = [row.props for row in (*storage.get_nodes(["a"]).values(), *storage.iter_nodes())]
            found += [edge.props for edge in (*storage.iter_edges(), *storage.incident_edges(["a"])["a"])]
            assert found == [{"x": [1]}] * 4
            for answer in found:
                answer["x"].append(3)
        assert_holds(storage, *before)

    def test_props_that_were_empty_are_apart_from_the_graph_too(self, storage: GraphStorage) -> None:
        nodes, edges = [Node("a", "k", "n", props={})], [Edge("a", "a", "e", props={})]
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        cast("dict[str, Any]", nodes[0].props)["x"] = cast("dict[str, Any]", edges[0].props)["x"] = 1
        for _ in range(2):
            found = storage.neighborhood(["a"])
            rows: list[Node | Edge] = [
                *storage.get_nodes(["a"]).values(),
                *storage.iter_nodes(),
                *found.nodes,
                *found.edges,
            ]
            rows += [*storage.get_edges([("a", "a", "e")]).values(), *storage.incident_edges(["a"])["a"]]
            for row in rows:
                assert row.props == {}
                cast("dict[str, Any]", row.props)["x"] = 1

    def test_a_text_of_a_subclass_comes_back_as_a_plain_one(self, storage: GraphStorage) -> None:
        class Name(str):
            def __str__(self) -> str:
                return "not what it holds"

        a, e = Name("a"), Name("e")
        storage.upsert_nodes([Node(a, a, a, a, {a: [a]})])
        storage.upsert_edges([Edge(a, a, e, props={e: e})])
        rows = storage.get_nodes([a])["a"], storage.get_edges([(a, a, e)])[EdgeKey("a", "a", "e")]
        assert rows == (Node("a", "a", "a", "a", {"a": ["a"]}), Edge("a", "a", "e", props={"e": "e"}))
        texts = [rows[0].id, rows[0].kind, rows[0].name, rows[0].entry, *rows[0].props, rows[0].props["a"][0]]
        assert {type(text) for text in (*texts, *rows[1].key, *rows[1].props.values())} == {str}

    def test_get_answers_in_the_order_asked_and_leaves_absent_keys_out(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert list(storage.get_nodes(["d", "nobody", "a", "d", "b"])) == ["d", "a", "b"]
        keys = [
            ("d", "c", "near"),
            ("a", "b", "likes"),
            ("a", "b", "hates"),
            ("a", "nobody", "knows"),
            ("d", "c", "near"),
        ]
        assert list(storage.get_edges(keys)) == [("d", "c", "near"), ("a", "b", "likes")]
        assert storage.get_nodes([]) == {}
        assert storage.get_edges([]) == {}

    def test_an_edge_key_is_looked_up_as_a_whole(self, storage: GraphStorage) -> None:
        # A store that joins the three parts with a separator, or asks for each part on its own, mixes these up.
        edges = [
            Edge("a", "b,c", "d"),
            Edge("a,b", "c", "d"),
            Edge("a", "b", "c"),
            Edge("a", "b", "d"),
            Edge("a", "c", "c"),
        ]
        storage.upsert_nodes([node(text) for text in ("a", "a,b", "b", "b,c", "c")])
        storage.upsert_edges(edges)
        there = [("a", "b,c", "d"), ("a,b", "c", "d"), ("a", "c", "c")]
        assert list(storage.get_edges([*there, ("a", "c", "d"), ("a,b", "b,c", "d")])) == there
        assert storage.delete_edges([("a", "b", "c"), ("a", "c", "d"), ("a,b", "b,c", "d")]) == 1
        assert storage.delete_edges([("a", "b", "d"), ("a", "c", "c")]) == 2
        assert_holds(storage, storage.iter_nodes(), edges[:2])

    def test_an_error_is_one_of_graphports_own(self, storage: GraphStorage) -> None:
        with pytest.raises(GraphportError):
            storage.upsert_edges([Edge("nobody", "nobody", "e")])
