"""What changed, as this process knows it, and what a graph is called whatever happens to its folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphport import Edge, GraphStorage, Node
from graphport.errors import StorageCorruptError
from graphport.snapshot import snapshot_of

Open = Callable[..., GraphStorage]


def node(node_id: str) -> Node:
    return Node(node_id, "k", node_id)


def test_all_handles_of_the_process_know_what_was_committed(open_graph: Open) -> None:
    with open_graph() as writer, open_graph(read_only=True) as reader:
        writer.upsert_nodes([node("a"), node("b")])
        kept = reader.revision()
        writer.upsert_edges([Edge("a", "b", "e")])
        changes = reader.changes_since(kept)
        assert changes is not None
        assert [edge.target for edge in changes.edges.values()] == ["b"]


def test_what_a_process_did_before_is_not_known(open_graph: Open) -> None:
    with open_graph() as storage:
        storage.upsert_nodes([node("a")])
        storage.upsert_nodes([node("b")])
    with open_graph() as storage:
        assert storage.changes_since(1) is None
        storage.upsert_nodes([node("c")])
        assert storage.changes_since(1) is None
        changes = storage.changes_since(2)
        assert changes is not None
        assert list(changes.nodes) == ["c"]


def test_a_cold_start_maps_what_the_last_process_left(open_graph: Open, tmp_path: Path) -> None:
    with open_graph() as storage:
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges([Edge("a", "b", "e")])
        left = snapshot_of(storage, folder=tmp_path / "cache")
    (columns,) = (tmp_path / "cache").glob("*/columns")
    written = columns.stat().st_mtime_ns
    with open_graph() as storage:
        assert snapshot_of(storage, folder=tmp_path / "cache").same_as(left)
        assert columns.stat().st_mtime_ns == written
        storage.upsert_nodes([node("c")])
        assert list(snapshot_of(storage, folder=tmp_path / "cache").ids) == ["a", "b", "c"]


def test_a_graph_that_begins_anew_after_damage_has_another_identity(open_graph: Open, options: dict[str, Any]) -> None:
    with open_graph() as storage:
        storage.upsert_nodes([node("a")])
        identity = storage.identity()
    (current,) = options["path"].glob("*/CURRENT")
    current.write_text("nonsense")
    with pytest.raises(StorageCorruptError, match="moved to"):
        open_graph()
    with open_graph() as storage:
        assert storage.identity() not in (None, identity)


def test_a_dropped_graph_keeps_its_identity_for_its_revisions_go_on(open_graph: Open) -> None:
    with open_graph() as storage:
        storage.upsert_nodes([node("a")])
        identity, revision = storage.identity(), storage.revision()
        storage.drop_graph(storage.graph)
        storage.upsert_nodes([node("b")])
        assert storage.identity() == identity
        assert storage.revision() > revision


def test_a_copy_of_the_folder_is_another_graph(open_graph: Open, options: dict[str, Any], tmp_path: Path) -> None:
    with open_graph() as storage:
        storage.upsert_nodes([node("a")])
        identity = storage.identity()
    shutil.copytree(options["path"], tmp_path / "copy")
    with open_graph(path=tmp_path / "copy") as storage:
        assert storage.counts().nodes == 1
        assert storage.identity() not in (None, identity)
