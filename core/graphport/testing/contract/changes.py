"""The change feed says what was committed, all of it and nothing else, or that it does not know."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from graphport.changes import GraphChanges
from graphport.errors import InvalidQueryError, StorageClosedError, UnsupportedError
from graphport.model import Edge, EdgeKey, Node
from graphport.snapshot import GraphSnapshot, patch, snapshot_of
from graphport.storage import Capability, GraphStorage
from graphport.testing.contract.base import ContractBase, Open
from graphport.testing.contract.exact import exact_edges, exact_nodes
from graphport.testing.contract.graphs import node, sample
from graphport.testing.contract.snapshots import assert_same_columns

IDS = ("a", "A", "é", "b", "名", "it's", "z", "z0")
KINDS = ("e", "E", "$$")


def _fill(storage: GraphStorage) -> None:
    nodes, edges = sample()
    storage.upsert_nodes(nodes)
    storage.upsert_edges(edges)


def _known(changes: GraphChanges | None) -> GraphChanges:
    assert changes is not None, "a small write is in the feed at once"
    return changes


def _random_write(storage: GraphStorage, chance: random.Random) -> None:
    there = [row.id for row in storage.iter_nodes()]
    keys = [edge.key for edge in storage.iter_edges()]
    match chance.randrange(6 if there else 1):
        case 0 | 1:
            some = chance.sample(IDS, 2)
            storage.upsert_nodes(
                [Node(i, chance.choice(KINDS), chance.choice(IDS), chance.choice((None, i))) for i in some]
            )
        case 2 | 3:
            ends = [(chance.choice(there), chance.choice(there)) for _ in range(4)]
            storage.upsert_edges([Edge(*pair, chance.choice(KINDS), chance.random()) for pair in ends])
        case 4:
            storage.delete_nodes([chance.choice(IDS)])
        case _:
            storage.delete_edges(chance.sample(keys, min(2, len(keys))))


class ChangePromises(ContractBase):
    def test_changes_are_told_or_refused(self, storage: GraphStorage) -> None:
        if Capability.CHANGES not in self.capabilities:
            with pytest.raises(UnsupportedError):
                storage.changes_since(storage.revision())
            return
        _fill(storage)
        before = storage.revision()
        assert len(_known(storage.changes_since(before))) == 0
        storage.upsert_nodes([Node("b", "new kind", "new name", "e", {"x": 1.0}), node("e")])
        storage.upsert_edges([Edge("a", "b", "knows", 9.0, {"y": [None]}), Edge("e", "a", "new")])
        storage.delete_edges([("a", "b", "likes"), ("a", "b", "unheard of")])
        storage.delete_nodes(["island", "nobody"])
        changes = _known(storage.changes_since(before))
        assert changes.revision == storage.revision()
        written = [Node("b", "new kind", "new name", "e", {"x": 1.0}), node("e")]
        assert exact_nodes(changes.nodes[key] for key in sorted(changes.nodes)) == exact_nodes(written)
        edges = [Edge("a", "b", "knows", 9.0, {"y": [None]}), Edge("e", "a", "new")]
        assert exact_edges(changes.edges[key] for key in sorted(changes.edges)) == exact_edges(edges)
        assert "island" in changes.deleted_nodes
        assert EdgeKey("a", "b", "likes") in changes.deleted_edges
        assert not {"b", "e"} & set(changes.deleted_nodes)
        storage.close()
        with pytest.raises(StorageClosedError):
            storage.changes_since(before)

    @pytest.mark.parametrize("seed", range(4))
    def test_a_patched_snapshot_is_a_new_one_array_for_array(self, storage: GraphStorage, seed: int) -> None:
        if Capability.CHANGES not in self.capabilities:
            return  # test_changes_are_told_or_refused
        chance = random.Random(seed)  # noqa: S311 - no secret
        kept = storage.snapshot()
        for _ in range(14):
            if chance.random() < 0.3:
                with storage.transaction():
                    for _ in range(chance.randrange(1, 4)):
                        _random_write(storage, chance)
            else:
                _random_write(storage, chance)
            if chance.random() < 0.7:  # else the next changes are those of two steps
                assert kept.revision is not None
                kept = patch(kept, _known(storage.changes_since(kept.revision))).graph
                assert_same_columns(kept, storage.snapshot())
                assert kept.revision == storage.revision()

    def test_a_node_that_was_deleted_and_made_again_lost_its_edges(self, storage: GraphStorage) -> None:
        if Capability.CHANGES not in self.capabilities:
            return  # test_changes_are_told_or_refused
        _fill(storage)
        kept = storage.snapshot()
        storage.upsert_edges([Edge("a", "d", "short-lived")])
        storage.delete_nodes(["a"])
        storage.upsert_nodes([node("a")])
        storage.upsert_edges([Edge("a", "b", "again")])
        assert kept.revision is not None
        assert_same_columns(patch(kept, _known(storage.changes_since(kept.revision))).graph, storage.snapshot())

    def test_what_was_rolled_back_is_not_in_the_feed(self, storage: GraphStorage) -> None:
        if Capability.CHANGES not in self.capabilities:
            return  # test_changes_are_told_or_refused
        _fill(storage)
        before = storage.revision()
        with pytest.raises(ZeroDivisionError), storage.transaction():
            storage.upsert_nodes([node("rolled back")])
            storage.delete_nodes(["a"])
            raise ZeroDivisionError
        assert len(_known(storage.changes_since(before))) == 0
        storage.upsert_nodes([node("kept")])
        changes = _known(storage.changes_since(before))
        assert (list(changes.nodes), changes.deleted_nodes) == (["kept"], ())

    def test_changes_of_an_open_transaction_are_not_told(self, storage: GraphStorage) -> None:
        if Capability.CHANGES not in self.capabilities:
            return  # test_changes_are_told_or_refused
        _fill(storage)
        before = storage.revision()
        with storage.transaction():
            storage.upsert_nodes([node("new")])
            assert storage.changes_since(before) is None
        assert list(_known(storage.changes_since(before)).nodes) == ["new"]

    def test_a_commit_of_another_handle_is_in_the_feed(self, open_store: Open) -> None:
        if not self.capabilities >= {Capability.CHANGES, Capability.PERSISTENT, Capability.CONCURRENT_WRITERS}:
            return  # every handle is a universe of its own, or the only one
        first, second = open_store(), open_store()
        _fill(first)
        kept = second.snapshot()
        first.upsert_nodes([node("new")])
        first.upsert_edges([Edge("new", "a", "e")])
        second.delete_nodes(["b"])
        assert kept.revision is not None
        for handle in (first, second):
            assert_same_columns(patch(kept, _known(handle.changes_since(kept.revision))).graph, first.snapshot())

    def test_the_feed_does_not_reach_over_what_replaced_the_graph(self, storage: GraphStorage) -> None:
        if Capability.CHANGES not in self.capabilities:
            return  # test_changes_are_told_or_refused
        ends: list[Callable[[], object]] = [
            lambda: storage.bulk_load(GraphSnapshot.from_rows(*sample())),
            storage.clear,
            lambda: storage.drop_graph(storage.graph),
        ]
        for end in ends:
            storage.upsert_nodes([node("before")])
            before = storage.revision()
            end()
            assert storage.changes_since(before) is None
            after = storage.revision()
            assert len(_known(storage.changes_since(after))) == 0
            storage.upsert_nodes([node("after")])
            assert list(_known(storage.changes_since(after)).nodes) == ["after"]
            assert storage.changes_since(before) is None

    def test_a_revision_is_an_integer(self, storage: GraphStorage) -> None:
        expected = InvalidQueryError if Capability.CHANGES in self.capabilities else UnsupportedError
        wrong: Any
        for wrong in (None, "0", 0.5, True):
            with pytest.raises(expected):
                storage.changes_since(wrong)

    def test_no_changes_since_a_revision_that_never_was(self, storage: GraphStorage) -> None:
        if Capability.CHANGES not in self.capabilities:
            return  # test_changes_are_told_or_refused
        storage.upsert_nodes([node("a")])
        assert storage.changes_since(storage.revision() + 1) is None
        assert storage.changes_since(-1) is None

    def test_a_kept_snapshot_keeps_up(self, storage: GraphStorage) -> None:
        _fill(storage)
        for write in (
            lambda: storage.upsert_nodes([node("b", "changed"), node("B")]),
            lambda: storage.upsert_edges([Edge("a", "B", "knows", 0.5), Edge("b", "c", "visits", 9.0)]),
            lambda: storage.delete_nodes(["d"]),
            lambda: storage.delete_edges([("a", "b", "knows")]),
            storage.clear,
            lambda: _fill(storage),
        ):
            write()
            assert_same_columns(snapshot_of(storage), storage.snapshot())
            assert_same_columns(snapshot_of(storage, kinds=["knows"]), storage.snapshot(kinds=["knows"]))
            assert snapshot_of(storage) is snapshot_of(storage)
