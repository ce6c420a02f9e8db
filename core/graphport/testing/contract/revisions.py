"""The revision moves with every commit, and with nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphport.errors import MissingNodeError
from graphport.model import Edge
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.graphs import node, sample
from graphport.testing.contract.transactions import elsewhere


class RevisionPromises(ContractBase):
    def test_a_new_graph_has_revision_0(self, storage: GraphStorage) -> None:
        assert storage.revision() == 0
        assert type(storage.revision()) is int

    def test_every_committed_write_moves_the_revision(self, storage: GraphStorage) -> None:
        writes: list[Callable[[], object]] = [
            lambda: storage.upsert_nodes([node("a"), node("b")]),
            lambda: storage.upsert_nodes([node("a", "changed")]),
            lambda: storage.upsert_edges([Edge("a", "b", "e"), Edge("a", "a", "e")]),
            lambda: storage.upsert_edges([Edge("a", "b", "e", 2.0)]),
            lambda: storage.delete_edges([("a", "b", "e")]),
            lambda: storage.delete_nodes(["a"]),
            lambda: storage.bulk_load(GraphSnapshot.from_rows(*sample())),
            storage.clear,
            lambda: storage.upsert_nodes([node("a")]),
            lambda: storage.drop_graph(storage.graph),
            lambda: storage.upsert_nodes([node("a")]),
        ]
        seen = [storage.revision()]
        for write in writes:
            write()
            seen.append(storage.revision())
        assert seen == sorted(set(seen))

    def test_reads_do_not_move_the_revision(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        revision = storage.revision()
        storage.get_nodes(["a"])
        storage.get_edges([edges[0].key])
        list(storage.iter_nodes())
        list(storage.iter_edges())
        storage.incident_edges(["a"])
        storage.neighborhood(["a"], depth=2)
        storage.snapshot()
        storage.counts()
        storage.graphs()
        assert storage.revision() == revision

    def test_what_was_refused_or_rolled_back_does_not_move_the_revision(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        revision = storage.revision()
        with pytest.raises(MissingNodeError):
            storage.upsert_edges([Edge("a", "ghost", "e")])
        with pytest.raises(ZeroDivisionError), storage.transaction():
            storage.upsert_nodes([node("b")])
            storage.delete_nodes(["a"])
            raise ZeroDivisionError
        assert storage.revision() == revision

    def test_the_revision_moves_at_the_commit_and_not_before(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        revision = storage.revision()
        with storage.transaction():
            storage.upsert_nodes([node("b")])
            assert storage.revision() == revision
            assert elsewhere(storage.revision) == revision
        assert storage.revision() > revision
        assert elsewhere(storage.revision) == storage.revision()

    def test_a_snapshot_knows_its_revision(self, storage: GraphStorage) -> None:
        assert storage.snapshot().revision == 0
        storage.upsert_nodes([node("a")])
        assert storage.snapshot().revision == storage.revision()
        assert storage.snapshot(kinds=[]).revision == storage.revision()

    def test_a_snapshot_of_uncommitted_writes_has_no_revision(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        with storage.transaction():
            storage.upsert_nodes([node("b")])
            assert storage.snapshot().revision is None
