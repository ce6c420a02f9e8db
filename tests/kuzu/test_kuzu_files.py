"""What is on the disk, and what happens when it is not what was written."""

from __future__ import annotations

import logging
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from graphport import Edge, GraphStorage, Node
from graphport.errors import StorageCorruptError, StorageUnavailableError
from graphport_kuzu.folders import graph_folder, graph_names

Open = Callable[..., GraphStorage]
COMMITS = 8


@pytest.fixture
def folder(options: dict[str, Any]) -> Path:
    return Path(options["path"]) / "graph"


@pytest.fixture
def generation(folder: Path, open_graph: Open) -> Path:
    """A graph of eight commits, each a node and an edge, closed."""
    with open_graph() as graph:
        for number in range(1, COMMITS + 1):
            with graph.transaction():
                graph.upsert_nodes([Node(f"n{number}", "k", f"name {number}")])
                graph.upsert_edges([Edge(f"n{number}", "n1", "e", number)])
    (generation,) = folder.glob("gen-*")
    return generation


def whole_commits(graph: GraphStorage) -> int:
    """How many of the eight commits are there, of which none may be there in part."""
    count = graph.revision()
    assert [node.id for node in graph.iter_nodes()] == [f"n{number}" for number in range(1, count + 1)]
    assert [edge.weight for edge in graph.iter_edges()] == list(range(1, count + 1))
    return count


def test_a_graph_is_a_database_a_log_and_their_seals(generation: Path) -> None:
    assert sorted(file.name for file in generation.iterdir()) == ["SEALS", "graph.db", "graph.db.wal"]
    assert (generation.parent / "CURRENT").read_text() == f"{generation.name} format 1\n"
    assert len((generation / "SEALS").read_text().splitlines()) == 1 + COMMITS


def test_the_database_itself_is_never_written_to(generation: Path, open_graph: Open) -> None:
    before = (generation / "graph.db").read_bytes()
    with open_graph() as graph:
        graph.delete_nodes(["n1", "n2"])
        graph.upsert_nodes([Node("new", "k", "new")])
    assert (generation / "graph.db").read_bytes() == before


@pytest.mark.parametrize("name", ["graph.db", "graph.db.wal"])
@pytest.mark.parametrize("seed", range(5))
def test_a_flipped_bit_is_found_before_the_engine_reads_it(
    generation: Path, open_graph: Open, name: str, seed: int
) -> None:
    damaged, chance = bytearray((generation / name).read_bytes()), random.Random(seed)
    damaged[chance.randrange(8, len(damaged))] ^= 1 << chance.randrange(8)
    (generation / name).write_bytes(damaged)
    with pytest.raises(StorageCorruptError) as caught:
        open_graph()
    (aside,) = generation.parent.glob("corrupt-*")
    assert str(generation / name) in str(caught.value)
    assert str(aside) in str(caught.value)
    assert (aside / generation.name / name).read_bytes() == damaged
    assert (aside / "CURRENT").exists()
    with open_graph() as graph:
        assert graph.counts().nodes == graph.revision() == 0
        graph.upsert_nodes([Node("a", "k", "a")])


@pytest.mark.parametrize(
    "damage",
    [
        lambda generation: (generation / "graph.db").write_bytes(b"no database at all"),
        lambda generation: (generation / "graph.db").write_bytes(b""),
        lambda generation: (generation / "graph.db").write_bytes((generation / "graph.db").read_bytes()[:-1]),
        lambda generation: (generation / "graph.db").unlink(),
        lambda generation: (generation / "SEALS").unlink(),
        lambda generation: (generation / "SEALS").write_bytes(b""),
        lambda generation: (generation / "SEALS").write_text("graph.db 12 abcdefgh 0\n"),
        shutil.rmtree,
        lambda generation: (generation.parent / "CURRENT").write_text("gen-000009 format 1\n"),
        lambda generation: (generation.parent / "CURRENT").write_text("gen-0"),
        lambda generation: (generation.parent / "CURRENT").write_bytes(b"\xff\xfe"),
        lambda generation: (generation.parent / "CURRENT").unlink(),
    ],
    ids=["garbage", "empty", "short", "gone", "no seals", "empty seals", "wrong seals", "no generation",
         "points nowhere", "half a pointer", "no text", "no pointer"],
)  # fmt: skip
def test_what_cannot_be_a_graph_is_moved_aside_and_a_new_one_begins(
    generation: Path, open_graph: Open, damage: Callable[[Path], None]
) -> None:
    damage(generation)
    with pytest.raises(StorageCorruptError, match="moved to"):
        open_graph()
    with open_graph() as graph:
        assert graph.counts().nodes == 0


def test_damage_is_moved_aside_again_and_again(generation: Path, open_graph: Open) -> None:
    for number in (1, 2):
        (database,) = generation.parent.glob("gen-*/graph.db")
        database.write_bytes(b"")
        with pytest.raises(StorageCorruptError, match=f"corrupt-{number}"):
            open_graph()
        open_graph().close()


@pytest.mark.parametrize("seed", range(6))
def test_a_log_that_lost_its_end_is_read_as_far_as_it_goes(
    generation: Path, open_graph: Open, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    log, chance = generation / "graph.db.wal", random.Random(seed)
    torn = log.read_bytes()[: chance.randrange(log.stat().st_size)]
    log.write_bytes(torn)
    with caplog.at_level(logging.WARNING), open_graph() as graph:
        left = whole_commits(graph)
        assert left < COMMITS
        graph.upsert_nodes([Node(f"n{left + 1}", "k", "n")])
        graph.upsert_edges([Edge(f"n{left + 1}", f"n{left + 1}", "e", left + 1)])
    assert "lost its end" in caplog.text
    assert (generation / "torn-1").read_bytes() == torn
    with open_graph() as graph:
        assert graph.counts().nodes == left + 1


def test_a_log_that_is_gone_is_read_as_empty(generation: Path, open_graph: Open) -> None:
    (generation / "graph.db.wal").unlink()
    with open_graph() as graph:
        assert whole_commits(graph) == 0


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"half a record"])
def test_what_a_crash_left_behind_the_last_commit_is_cut_off(generation: Path, open_graph: Open, tail: bytes) -> None:
    log = generation / "graph.db.wal"
    whole = log.read_bytes()
    log.write_bytes(whole + tail)
    with open_graph() as graph:
        assert whole_commits(graph) == COMMITS
    assert log.read_bytes() == whole


def test_a_commit_counts_when_its_seal_is_on_the_disk(generation: Path, open_graph: Open) -> None:
    seals = generation / "SEALS"
    lines = seals.read_bytes().splitlines(keepends=True)
    seals.write_bytes(b"".join(lines[:-1]))
    with open_graph() as graph:
        assert whole_commits(graph) == COMMITS - 1
    seals.write_bytes(b"".join(lines[:-2]) + lines[-2][:20])
    with open_graph() as graph:
        assert whole_commits(graph) == COMMITS - 2


def test_what_killed_builds_left_is_swept_away(generation: Path, open_graph: Open) -> None:
    folder = generation.parent
    shutil.copytree(generation, folder / "gen-000002")
    (folder / "new-000003").mkdir()
    (folder / "new-000003" / "graph.db").write_bytes(b"half")
    with open_graph() as graph:
        assert whole_commits(graph) == COMMITS
    assert [place.name for place in folder.iterdir() if place.is_dir()] == [generation.name]


def test_a_reader_that_has_an_old_generation_open_keeps_its_bytes(generation: Path, open_graph: Open) -> None:
    before = (generation / "graph.db").read_bytes()
    with (generation / "graph.db").open("rb") as held:
        with open_graph() as graph:
            graph.clear()
        assert not generation.exists()
        assert held.read() == before


def test_a_process_killed_before_the_first_pointer_leaves_no_alarm(folder: Path, open_graph: Open) -> None:
    open_graph().close()
    (folder / "CURRENT").unlink()
    with open_graph() as graph:
        assert graph.counts().nodes == 0


def test_a_reader_moves_and_repairs_nothing(generation: Path, open_graph: Open) -> None:
    log = generation / "graph.db.wal"
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.raises(StorageUnavailableError, match="without read_only"):
        open_graph(read_only=True)
    (generation / "graph.db").write_bytes(b"")
    before = sorted(generation.parent.rglob("*"))
    with pytest.raises(StorageCorruptError):
        open_graph(read_only=True)
    assert sorted(generation.parent.rglob("*")) == before


def test_a_newer_format_is_refused_and_left_alone(generation: Path, open_graph: Open) -> None:
    pointer = generation.parent / "CURRENT"
    pointer.write_text(f"{generation.name} format 2\n")
    with pytest.raises(StorageUnavailableError, match="format 2"):
        open_graph()
    assert pointer.read_text() == f"{generation.name} format 2\n"


def test_one_damaged_graph_leaves_the_others(generation: Path, open_graph: Open) -> None:
    (generation / "graph.db").write_bytes(b"")
    with open_graph(graph="other") as other:
        other.upsert_nodes([Node("a", "k", "a")])
        assert other.graphs() == ["graph", "other"]
        with pytest.raises(StorageCorruptError):
            open_graph()
        assert other.counts().nodes == 1
        assert other.graphs() == ["other"]


def test_a_path_that_is_a_file_is_refused(options: dict[str, Any], open_graph: Open) -> None:
    Path(options["path"]).write_text("something else")
    for read_only in (False, True):
        with pytest.raises(StorageUnavailableError, match="folder"):
            open_graph(read_only=read_only)
    assert Path(options["path"]).read_text() == "something else"


def test_reading_where_nothing_is_makes_nothing(options: dict[str, Any], open_graph: Open) -> None:
    with pytest.raises(StorageUnavailableError):
        open_graph(read_only=True)
    assert not Path(options["path"]).exists()
    with open_graph(graph="other"), open_graph(read_only=True) as graph:
        assert graph.counts().nodes == graph.revision() == 0
        assert graph.graphs() == ["other"]


NAMES = ["graph", "UPPER", "a/b", "..", ".", "~", "é", "e\u0301", "名" * 80, "%61", "x" * 9_000]


@pytest.mark.parametrize("name", NAMES)
def test_folder_names_are_plain_and_lead_back_to_the_graph(name: str, tmp_path: Path, open_graph: Open) -> None:
    folder = graph_folder(tmp_path / "store", name)
    assert folder.parent == tmp_path / "store"
    assert set(folder.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-%~")
    open_graph(graph=name).close()
    assert graph_names(tmp_path / "store") == [name]


def test_a_folder_that_may_not_be_used_is_unavailable(open_graph: Open) -> None:
    denied = PermissionError(13, "Permission denied")
    with patch("graphport_kuzu.locks.os.open", side_effect=denied), pytest.raises(StorageUnavailableError):
        open_graph()
    open_graph().close()
