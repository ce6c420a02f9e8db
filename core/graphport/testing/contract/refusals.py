"""What cannot be stored is refused by type, before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from graphport.errors import (
    InvalidIdError,
    InvalidInputError,
    InvalidPropsError,
    InvalidQueryError,
    InvalidRowError,
    InvalidWeightError,
    MissingNodeError,
)
from graphport.model import Edge, Node
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.exact import assert_holds
from graphport.testing.contract.graphs import node, sample
from graphport.testing.contract.values import REFUSED_ENTRIES, REFUSED_PROPS, REFUSED_TEXTS, REFUSED_WEIGHTS


def _fill(storage: GraphStorage) -> tuple[list[Node], list[Edge]]:
    nodes, edges = sample()
    storage.upsert_nodes(nodes)
    storage.upsert_edges(edges)
    return nodes, edges


class RefusalPromises(ContractBase):
    def test_no_text_with_nul_or_lone_surrogates_and_none_that_is_empty(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        revision = storage.revision()
        for text in REFUSED_TEXTS:
            rows: list[Any] = [Node(text, "k", "n"), Node("x", text, "n"), Node("x", "k", text)]
            for row in rows:
                with pytest.raises(InvalidIdError):
                    storage.upsert_nodes([node("new"), row])
            for edge in (Edge(text, "a", "e"), Edge("a", text, "e"), Edge("a", "a", text)):
                with pytest.raises(InvalidIdError):
                    storage.upsert_edges([Edge("a", "a", "new"), edge])
        for text in REFUSED_ENTRIES:
            with pytest.raises(InvalidIdError):
                storage.upsert_nodes([node("new"), Node("x", "k", "n", text)])
        assert_holds(storage, nodes, edges)
        assert storage.revision() == revision

    def test_no_props_that_are_not_json(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        for props in REFUSED_PROPS:
            with pytest.raises(InvalidPropsError):
                storage.upsert_nodes([node("new"), node("x", props=props)])
            with pytest.raises(InvalidPropsError):
                storage.upsert_edges([Edge("a", "a", "new"), Edge("a", "b", "e", 1.0, props)])
        assert_holds(storage, nodes, edges)

    def test_no_weight_that_is_not_finite_and_positive(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        for weight in REFUSED_WEIGHTS:
            with pytest.raises(InvalidWeightError):
                storage.upsert_edges([Edge("a", "a", "new"), Edge("a", "b", "e", weight)])
        assert_holds(storage, nodes, edges)

    def test_no_row_of_another_type(self, storage: GraphStorage) -> None:
        wrong: Any = [node("new"), ("x", "k", "n")]
        with pytest.raises(InvalidRowError):
            storage.upsert_nodes(wrong)
        with pytest.raises(InvalidRowError):
            storage.upsert_edges(wrong)
        assert_holds(storage, [])

    def test_an_edge_to_an_absent_node_names_it_and_nothing_is_written(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        revision = storage.revision()
        batch = [Edge("a", "d", "new"), Edge("a", "ghost's", "e"), Edge("phantom", "b", "e"), Edge("a", "c", "new")]
        with pytest.raises(MissingNodeError) as caught:
            storage.upsert_edges(batch)
        assert sorted(caught.value.ids) == ["ghost's", "phantom"]
        assert "phantom" in str(caught.value)
        assert_holds(storage, nodes, edges)
        assert storage.revision() == revision

    def test_a_generator_that_fails_midway_writes_nothing(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)

        def failing(rows: list[Any]) -> Iterator[Any]:
            yield from rows
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            storage.upsert_nodes(failing([node("new"), node("a", "other")]))
        with pytest.raises(ZeroDivisionError):
            storage.upsert_edges(failing([Edge("a", "b", "new"), Edge("a", "b", "knows")]))
        with pytest.raises(ZeroDivisionError):
            storage.delete_nodes(failing(["a", "b"]))
        with pytest.raises(ZeroDivisionError):
            storage.delete_edges(failing([edge.key for edge in edges]))
        assert_holds(storage, nodes, edges)

    def test_a_large_batch_names_every_absent_node_too(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        ids = [f"ghost {number:05d}" for number in range(25_000)]
        with pytest.raises(MissingNodeError) as caught:
            storage.upsert_edges(Edge("a", node_id, "e") for node_id in ids)
        assert sorted(caught.value.ids) == ids
        assert_holds(storage, [node("a")])

    def test_what_cannot_be_iterated_over_is_no_batch(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        calls: list[Any] = [storage.upsert_nodes, storage.upsert_edges, storage.delete_nodes, storage.delete_edges]
        calls += [storage.get_nodes, storage.get_edges, storage.incident_edges, storage.neighborhood]
        for call in calls:
            for batch in (None, 3, "", "ab", b"ab"):
                with pytest.raises(InvalidInputError):
                    call(batch)
        for kinds in cast("list[Any]", [3, "knows"]):
            for read in (storage.iter_edges, storage.snapshot):
                with pytest.raises(InvalidInputError):
                    read(kinds=kinds)
        for wrong in cast("list[Any]", [None, [], "graph"]):
            with pytest.raises(InvalidRowError, match="GraphSnapshot"):
                storage.bulk_load(wrong)
        assert_holds(storage, nodes, edges)

    def test_bulk_load_refuses_props_of_a_row_that_is_not_there(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        for row in cast("list[Any]", [2, -1, "a"]):
            props = {row: {"x": 1}}
            for graph in (
                GraphSnapshot.from_arrays(["a", "b"], [0], [1], node_props=props),
                GraphSnapshot.from_arrays(["a", "b"], [0], [1], edge_props=props),
            ):
                with pytest.raises(InvalidInputError, match="_props has"):
                    storage.bulk_load(graph)
        for wrong in cast("list[Any]", [None, {"x": object()}, [1]]):
            with pytest.raises(InvalidPropsError):
                storage.bulk_load(GraphSnapshot.from_arrays(["a", "b"], [0], [1], node_props={0: wrong}))
        assert_holds(storage, nodes, edges)

    def test_one_string_is_not_several_ids(self, storage: GraphStorage) -> None:
        _fill(storage)
        for call in (storage.get_nodes, storage.delete_nodes, storage.incident_edges, storage.neighborhood):
            with pytest.raises(InvalidInputError):
                call("ab")
        assert storage.counts().nodes == 5

    def test_reads_and_deletes_refuse_what_is_no_id(self, storage: GraphStorage) -> None:
        nodes, edges = _fill(storage)
        for text in REFUSED_TEXTS:
            for call in (storage.get_nodes, storage.delete_nodes, storage.incident_edges, storage.neighborhood):
                with pytest.raises(InvalidIdError):
                    call(["a", text])
            for key in ((text, "a", "e"), ("a", text, "e"), ("a", "b", text)):
                with pytest.raises(InvalidIdError):
                    storage.get_edges([key])
                with pytest.raises(InvalidIdError):
                    storage.delete_edges([("a", "b", "knows"), key])
            with pytest.raises(InvalidIdError):
                list(storage.iter_edges(kinds=[text]))
        for text in REFUSED_ENTRIES:
            for filters in ({"kind": text}, {"name": text}, {"entry": text}):
                with pytest.raises(InvalidIdError):
                    list(storage.iter_nodes(**filters))
        assert_holds(storage, nodes, edges)

    def test_options_of_a_read_are_checked(self, storage: GraphStorage) -> None:
        _fill(storage)
        wrong: list[dict[str, Any]] = [{"direction": "up"}, {"limit_per_node": -1}, {"limit_per_node": 1.5}]
        for options in wrong:
            with pytest.raises(InvalidQueryError):
                storage.incident_edges(["a"], **options)
        wrong = [{"direction": "up"}, {"depth": -1}, {"depth": 1.5}, {"max_nodes": 0}, {"max_nodes": True}]
        for options in wrong:
            with pytest.raises(InvalidQueryError):
                storage.neighborhood(["a"], **options)
