"""Derived indexes heal; the truth is never lost or half-written."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphport import Entry
from graphport.errors import (
    InvalidInputError,
    InvalidQueryError,
    InvalidVectorError,
    KnowledgeBaseNotFoundError,
    StorageBusyError,
    StorageClosedError,
    StorageCorruptError,
    StorageUnavailableError,
    UnsupportedError,
)
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.opening import open_knowledge_base

ENTRIES = [
    Entry("a", "Carol manages the Berlin office of Acme Corp.", "Carol"),
    Entry("b", "Bob works at Acme Corp and reports to Carol.", "Bob"),
    Entry("c", "Acme Corp makes anvils.", "Acme Corp"),
]


def opened(folder: Path, **options: object) -> KnowledgeBase:
    return open_knowledge_base(folder, embedder=None, **options)  # type: ignore[arg-type]  # passed through


def answers(kb: KnowledgeBase) -> object:
    hits = [hit.entry for hit in kb.search("who works at Acme", mode="lexical")]
    return hits, list(kb.storage.iter_nodes()), list(kb.storage.iter_edges()), list(kb.entries())


def delete_graph(folder: Path) -> None:
    for found in folder.glob("graph.*"):
        shutil.rmtree(found) if found.is_dir() else found.unlink()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    with opened(tmp_path / "base") as kb:
        kb.add(ENTRIES)
    return tmp_path / "base"


@pytest.fixture
def expected(filled: Path) -> object:
    with opened(filled) as kb:
        return answers(kb)


class TestDerivedIndexes:
    def test_a_deleted_lexical_index_is_built_anew(self, filled: Path, expected: object) -> None:
        shutil.rmtree(filled / "lexical")
        with opened(filled) as kb:
            assert answers(kb) == expected

    def test_a_lexical_index_that_is_deleted_while_in_use_is_built_anew(self, filled: Path, expected: object) -> None:
        with opened(filled) as kb:
            assert answers(kb) == expected
            shutil.rmtree(filled / "lexical")
            assert answers(kb) == expected
            shutil.rmtree(filled / "lexical")
            kb.add([Entry("d", "A narwhal swims.")])
            assert [hit.entry for hit in kb.search("narwhal")] == ["d"]

    @pytest.mark.parametrize("victim", ["meta.json", "graphport.json"])
    def test_a_damaged_lexical_index_is_built_anew(self, filled: Path, expected: object, victim: str) -> None:
        (filled / "lexical" / victim).write_text("{damaged")
        with opened(filled) as kb:
            assert answers(kb) == expected

    def test_a_deleted_graph_is_built_anew(self, filled: Path, expected: object) -> None:
        for file in filled.glob("graph.memory*"):
            file.unlink()
        with opened(filled) as kb:
            assert answers(kb) == expected

    @pytest.mark.parametrize("backend", ["memory", "kuzu"])
    def test_a_graph_that_is_deleted_while_in_use_is_built_anew(self, tmp_path: Path, backend: str) -> None:
        with opened(tmp_path / "base", config={"graph": {"backend": backend}}) as kb:
            kb.add(ENTRIES)
            expected = answers(kb)
            delete_graph(tmp_path / "base")
            kb.add([Entry("d", "A narwhal swims.")])
            assert kb.storage.get_nodes(["entry:d"])
            delete_graph(tmp_path / "base")
            kb.remove(["d"])
            assert answers(kb) == expected

    def test_a_damaged_graph_is_moved_aside_and_built_anew(self, filled: Path, expected: object) -> None:
        for file in filled.glob("graph.memory-*"):
            file.unlink()
        (filled / "graph.memory").write_bytes(b"this is no database" * 100)
        with opened(filled) as kb:
            assert answers(kb) == expected
        assert (filled / "graph.memory.corrupt-1").read_bytes().startswith(b"this is no database")

    def test_a_graph_of_another_version_is_moved_aside_and_built_anew(
        self, filled: Path, expected: object, caplog: pytest.LogCaptureFixture
    ) -> None:
        with sqlite3.connect(filled / "graph.memory") as db:
            db.execute("PRAGMA user_version = 1")
        db.close()
        with opened(filled) as kb:
            assert answers(kb) == expected
        assert (filled / "graph.memory.corrupt-1").exists()
        assert not caplog.records  # an upgrade is nothing to worry about

    def test_a_graph_somebody_else_wrote_to_is_built_anew(self, filled: Path, expected: object) -> None:
        from graphport import Node, open_storage

        with open_storage("memory", path=filled / "graph.memory", graph="base") as graph:
            graph.upsert_nodes([Node("stranger", "x", "x")])
            graph.delete_nodes(["entry:a"])
        with opened(filled) as kb:
            assert answers(kb) == expected

    def test_changed_relation_weights_change_the_graph(self, filled: Path) -> None:
        config = {"vector_dbs": [{"name": "base", "relation_weights": {"mentions": 0.25}}]}
        with opened(filled, config=config) as kb:
            assert {edge.weight for edge in kb.storage.iter_edges(kinds=["mentions"])} == {0.25}
        with opened(filled) as kb:
            assert {edge.weight for edge in kb.storage.iter_edges(kinds=["mentions"])} == {1.0}

    def test_a_process_killed_between_truth_and_indexes_heals(self, filled: Path) -> None:
        with opened(filled) as kb:
            kb.add([Entry("d", "About them.", "anvil works"), Entry("e", "The anvil works are closed.")])
            assert "phrase:anvil works" in {node.id for node in kb.storage.iter_nodes()}
            kb._bring_up_to_date = lambda progress: None  # type: ignore[method-assign]  # dies here
            kb.remove(["d"])
        with opened(filled) as kb:
            assert {hit.entry for hit in kb.search("anvil works")} == {"b", "c", "e"}
            assert "phrase:anvil works" not in {node.id for node in kb.storage.iter_nodes()}

    def test_many_changes_are_loaded_as_a_whole_and_few_as_updates(self, tmp_path: Path) -> None:
        with opened(tmp_path / "many") as kb:
            kb.add(ENTRIES)
            kb.add([Entry(f"n{i}", f"Note {i} on Acme Corp.", f"Note {i}") for i in range(6000)])
            kb.remove([f"n{i}" for i in range(5990)])
            with opened(tmp_path / "few") as few:
                few.add(
                    [*ENTRIES, *(Entry(f"n{i}", f"Note {i} on Acme Corp.", f"Note {i}") for i in range(5990, 6000))]
                )
                assert answers(kb)[1:] == answers(few)[1:]  # type: ignore[index]  # a tuple


class TestErrors:
    def test_an_unknown_name_says_what_there_is(self, tmp_path: Path) -> None:
        config = {"data_dir": str(tmp_path)}
        open_knowledge_base("notes", config=config, embedder=None).close()
        with pytest.raises(KnowledgeBaseNotFoundError, match=r"no knowledge base 'nodes' in .*there are: notes"):
            open_knowledge_base("nodes", config=config, create=False)
        assert not (tmp_path / "nodes").exists()

    def test_a_damaged_truth_is_an_error_and_left_as_it_is(self, filled: Path) -> None:
        (filled / "truth.sqlite3").write_bytes(b"garbage" * 1000)
        for file in filled.glob("truth.sqlite3-*"):
            file.unlink()
        with pytest.raises(StorageCorruptError, match=r"truth\.sqlite3 is damaged or no knowledge base"):
            opened(filled)
        assert (filled / "truth.sqlite3").read_bytes() == b"garbage" * 1000

    def test_another_sqlite_file_is_not_taken_for_a_knowledge_base(self, tmp_path: Path) -> None:
        (tmp_path / "x").mkdir()
        with sqlite3.connect(tmp_path / "x/truth.sqlite3") as other:
            other.execute("CREATE TABLE mine (x)")
        other.close()
        with pytest.raises(StorageCorruptError, match="no knowledge base"):
            opened(tmp_path / "x")

    def test_a_newer_schema_is_refused(self, filled: Path) -> None:
        with sqlite3.connect(filled / "truth.sqlite3") as db:
            db.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
        db.close()
        with pytest.raises(StorageCorruptError, match="schema version 99"):
            opened(filled)

    def test_a_folder_that_cannot_be_made_is_unavailable(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(StorageUnavailableError, match="cannot be made"):
            opened(tmp_path / "file" / "base")

    def test_nothing_is_written_to_a_truth_that_was_deleted_or_replaced(self, filled: Path) -> None:
        with opened(filled) as kb:
            shutil.rmtree(filled)
            assert not kb.is_there
            with pytest.raises(StorageUnavailableError, match="deleted or replaced"):
                kb.add([Entry("d", "A narwhal swims.")])
            with opened(filled) as anew:
                anew.add([Entry("e", "An egret stands.")])
                assert anew.is_there
            with pytest.raises(StorageUnavailableError, match="nothing was written"):
                kb.remove(["a"])
        with opened(filled) as anew:
            assert [entry.id for entry in anew.entries()] == ["e"]

    def test_a_locked_truth_is_busy(self, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("graphport.knowledge.truth.BUSY_SECONDS", 0.1)
        with opened(filled) as kb:
            other = sqlite3.connect(filled / "truth.sqlite3", isolation_level=None)
            kb._truth.db.execute("PRAGMA busy_timeout = 100")
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StorageBusyError, match="written by another process; try again"):
                kb.add([Entry("d", "more")])
            other.execute("ROLLBACK")
            other.close()
            assert kb.add([Entry("d", "more")]) == 1

    @pytest.mark.parametrize("query", ["", "   ", "\n\t"])
    def test_an_empty_query_is_an_error(self, filled: Path, query: str) -> None:
        with opened(filled) as kb, pytest.raises(InvalidQueryError, match="the query is empty"):
            kb.search(query)

    @pytest.mark.parametrize(
        "options",
        [
            {"top_k": 0}, {"top_k": True}, {"top_k": 2.5}, {"mode": "fast"}, {"graph_mode": "jump"},
            {"graph_weight": 1.1}, {"graph_weight": float("nan")}, {"damping": 1.0}, {"damping": -0.1},
        ],
    )  # fmt: skip
    def test_an_option_out_of_range_is_an_error(self, filled: Path, options: dict[str, object]) -> None:
        with opened(filled) as kb, pytest.raises(InvalidQueryError, match=next(iter(options))):
            kb.search("acme", **options)  # type: ignore[arg-type]  # wrong on purpose

    @pytest.mark.parametrize(
        "query", ['"unbalanced', "a AND OR NOT (", "body:x^2~*?[", "\\", "🙂", "a\0b", "\ud800", "' OR 1=1 --"]
    )
    def test_any_other_text_is_a_query(self, filled: Path, query: str) -> None:
        with opened(filled) as kb:
            assert isinstance(kb.search(query, graph=True), list)

    def test_a_bad_entry_refuses_the_whole_batch(self, filled: Path) -> None:
        with opened(filled) as kb:
            before = answers(kb)
            with pytest.raises(InvalidInputError, match="NUL"):
                kb.add([Entry("d", "fine"), Entry("e", "not \0 fine")])
            with pytest.raises(InvalidInputError, match="valid_to"):
                kb.add([Entry("d", "fine", valid_to=float("nan"))])
            assert answers(kb) == before

    def test_dense_search_without_an_embedder_says_what_to_install(self, filled: Path) -> None:
        with opened(filled) as kb, pytest.raises(UnsupportedError, match=r"pip install 'graphport\[embed\]'"):
            kb.search("acme", mode="dense")

    def test_hybrid_search_where_no_embedder_is_installed_is_lexical_and_says_so_once(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("graphport.registry.Plugins.embedders", lambda _: {})
        with open_knowledge_base(tmp_path / "base") as kb:
            kb.add(ENTRIES)
            assert kb.search("acme") == kb.search("acme", mode="lexical")
            kb.search("carol")
        assert [record.message for record in caplog.records] == [
            "no embedder: search is lexical only (pip install 'graphport[embed]' for the dense leg)"
        ]

    def test_without_an_embedder_no_vectors_are_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import numpy as np

        with open_knowledge_base(tmp_path / "base", embedder=lambda texts: np.ones((len(texts), 4), np.float32)) as kb:
            kb.add(ENTRIES)
        monkeypatch.setattr("graphport.knowledge.derived.Derived.dense", None)
        with opened(tmp_path / "base") as kb:
            assert kb.search("acme")

    @pytest.mark.parametrize("config", [None, {"vector_dbs": [{"name": "base", "embedder": "none"}]}])
    def test_who_declined_an_embedder_is_not_told_to_install_one(
        self, filled: Path, caplog: pytest.LogCaptureFixture, config: dict[str, object] | None
    ) -> None:
        with open_knowledge_base(filled, config=config) as kb:
            assert kb.search("acme")
        assert not caplog.records

    def test_vectors_of_another_width_or_with_nan_are_refused_and_nothing_is_written(self, tmp_path: Path) -> None:
        import numpy as np

        answer = np.ones((1, 4), dtype=np.float32)

        def embedder(texts: object) -> object:
            return answer

        with open_knowledge_base(tmp_path / "x", embedder=embedder) as kb:  # type: ignore[arg-type]  # close enough
            kb.add([Entry("a", "text")])
            for wrong, message in (
                (np.ones((1, 5), dtype=np.float32), "5 wide, but this knowledge base holds 4"),
                (np.full((1, 4), np.nan, dtype=np.float32), "NaN"),
                (np.ones((2, 4), dtype=np.float32), "expected \\(1, d\\)"),
            ):
                answer = wrong
                with pytest.raises(InvalidVectorError, match=message):
                    kb.add([Entry("b", "text")])
            assert [entry.id for entry in kb.entries()] == ["a"]

    def test_a_closed_knowledge_base_says_so(self, filled: Path) -> None:
        kb = opened(filled)
        kb.close()
        kb.close()
        with pytest.raises(StorageClosedError, match="open it again"):
            kb.search("acme")


WORKER = """
import sys
from pathlib import Path
from graphport.knowledge.opening import open_knowledge_base
with open_knowledge_base(Path(sys.argv[1]), embedder=None) as kb:
    print("open", flush=True)
    for source in sys.argv[2:]:
        kb.index([source])
"""


@pytest.mark.slow
def test_twenty_kills_while_indexing_lose_nothing(tmp_path: Path) -> None:
    rng = random.Random(7)
    sources = []
    for number in range(4):
        source = tmp_path / f"source-{number}"
        source.mkdir()
        sources.append(str(source))
        for name in range(25):
            links = " ".join(f"[x](f{rng.randrange(25)}.md)" for _ in range(3))
            text = "".join(f"## Part {part}\n\nWords {rng.random()} {links}\n\n" for part in range(5))
            (source / f"f{name}.md").write_text(f"# File {name}\n\n{text}")
    command = [sys.executable, "-c", WORKER]
    with opened(tmp_path / "calm") as kb:
        for folder in sources:
            kb.index([folder])
        calm = answers(kb)
    kills = 0
    while kills < 20:
        with subprocess.Popen([*command, str(tmp_path / "hit"), *sources], stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"open\n"
            time.sleep(rng.random() * 0.3)
            os.kill(worker.pid, signal.SIGKILL)
        kills += 1
        with opened(tmp_path / "hit") as kb:
            kb.search("words", graph=True)
            whole = {row["document"] for row in map(json.loads, _documents(tmp_path / "hit"))}
            assert {entry.document for entry in kb.entries()} == whole
            if kills % 5 == 0:
                kb.remove(rng.sample(sorted(whole), min(30, len(whole))))
    with opened(tmp_path / "hit") as kb:
        for folder in sources:
            kb.index([folder])
        assert answers(kb)[1:] == calm[1:]  # type: ignore[index]  # a tuple
        assert set(answers(kb)[0]) == set(calm[0])  # type: ignore[index]  # as above


def _documents(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "truth.sqlite3") as db:
        rows = [json.dumps({"document": row[0]}) for row in db.execute("SELECT path FROM documents")]
    db.close()
    return rows
