"""Indexing folders: what is read, what is left out, and that a second run does only what changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphport.errors import SourceError, UnsupportedError
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.opening import open_knowledge_base

GUIDE = """# Guide

Start here, then read [the setup](setup.md#install) and `parse_date`.

## Install

Use pip.

## Run

See [nothing](missing.md) and [home](https://example.org).
"""
SETUP = "Setup\n=====\n\nIntro.\n\n## Install\n\nRun it.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "guide.md").write_text(GUIDE)
    (root / "setup.md").write_text(SETUP)
    (root / "notes.txt").write_text("First paragraph.\n\nSecond paragraph.\n")
    return root


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    with open_knowledge_base(":memory:", embedder=None) as opened:
        yield opened


def edges(kb: KnowledgeBase, kind: str) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in kb.storage.iter_edges(kinds=[kind])}


class TestMarkdown:
    def test_headings_nest_follow_and_cite_as_the_text_does(self, kb: KnowledgeBase, folder: Path) -> None:
        kb.index([folder])
        guide, install, run = ("heading:guide.md#guide", "heading:guide.md#install", "heading:guide.md#run")
        assert {("file:guide.md", guide), (guide, install), (guide, run)} <= edges(kb, "contains")
        assert {(guide, install), (install, run)} <= edges(kb, "next")
        assert edges(kb, "cites") == {(guide, "heading:setup.md#install")}

    def test_a_link_to_a_file_that_comes_later_is_an_edge_once_it_is_there(
        self, kb: KnowledgeBase, folder: Path
    ) -> None:
        kb.index([folder])
        (folder / "missing.md").write_text("# Found\n\nHere.\n")
        kb.index([folder])
        assert ("heading:guide.md#run", "file:missing.md") in edges(kb, "cites")
        (folder / "missing.md").unlink()
        kb.index([folder])
        assert ("heading:guide.md#run", "file:missing.md") not in edges(kb, "cites")
        assert "file:missing.md" not in {node.id for node in kb.storage.iter_nodes()}

    def test_fenced_code_holds_no_headings(self, kb: KnowledgeBase, tmp_path: Path) -> None:
        (tmp_path / "a.md").write_text("# A\n\n```\n# not a heading\n```\n\n# A\n")
        kb.index([tmp_path / "a.md"])
        assert sorted(entry.id for entry in kb.entries()) == ["a.md#a", "a.md#a-1"]

    def test_hits_name_file_and_line(self, kb: KnowledgeBase, folder: Path) -> None:
        kb.index([folder])
        hit = kb.search("use pip", top_k=1)[0]
        assert (hit.document, hit.start_line, hit.title) == ("guide.md", 5, "Install")


class TestWhatIsRead:
    def test_gitignore_is_obeyed_at_every_level_with_exceptions(self, kb: KnowledgeBase, tmp_path: Path) -> None:
        for name in ("a.log", "keep.log", "build/x.txt", "sub/b.log", "sub/deep/c.txt", "sub/d.txt"):
            file = tmp_path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"text of {name}")
        (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n")
        (tmp_path / "sub/.gitignore").write_text("!b.log\ndeep/\n")
        report = kb.index([tmp_path])
        paths = {entry.document for entry in kb.entries()}
        assert paths == {"keep.log", "sub/b.log", "sub/d.txt", ".gitignore", "sub/.gitignore"}
        assert report.skipped["ignored"] == 3

    def test_rules_of_the_repository_around_a_folder_hold_in_it(self, kb: KnowledgeBase, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".gitignore").write_text("/pkg/generated.py\n*.tmp\n")
        (tmp_path / "pkg").mkdir()
        for name in ("generated.py", "x.tmp", "kept.py"):
            (tmp_path / "pkg" / name).write_text("x = 1\n")
        kb.index([tmp_path / "pkg"])
        assert {entry.document for entry in kb.entries()} == {"kept.py"}

    def test_binary_oversized_empty_and_unreadable_files_are_counted(
        self, kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "a.bin2").write_bytes(b"\x00\x01\x02text")
        (tmp_path / "b.png").write_bytes(b"\x89PNG")
        (tmp_path / "c.json").write_bytes(b"x" * 2_000_001)
        (tmp_path / "d.txt").touch()
        (tmp_path / "e.txt").write_text("fine")
        (tmp_path / "f.txt").write_text("secret")
        read = Path.read_bytes
        monkeypatch.setattr(
            Path,
            "read_bytes",
            lambda self: read(self) if self.name != "f.txt" else (_ for _ in ()).throw(OSError("no")),
        )
        report = kb.index([tmp_path])
        assert report.skipped == {"binary": 2, "oversized": 1, "empty": 1, "unreadable": 1}
        assert [entry.document for entry in kb.entries()] == ["e.txt"]

    def test_a_text_as_long_as_a_bible_is_read(self, kb: KnowledgeBase, tmp_path: Path) -> None:
        (tmp_path / "long.txt").write_text("In the beginning was the word.\n\n" * 140_000 + "The end was Amen.\n")
        assert kb.index([tmp_path]).skipped == {}
        assert kb.search("Amen", mode="lexical")[0].document == "long.txt"

    @pytest.mark.parametrize(
        "data",
        [b"\xef\xbb\xbfna\xc3\xafve caf\xc3\xa9", "naïve café".encode("utf-16"), "naïve café".encode("latin-1")],
        ids=["utf-8 with BOM", "utf-16", "latin-1"],
    )
    def test_common_encodings_are_text(self, kb: KnowledgeBase, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "a.txt").write_bytes(data)
        kb.index([tmp_path])
        assert [entry.text for entry in kb.entries()] == ["naïve café"]

    def test_a_path_that_does_not_exist_is_an_error_and_changes_nothing(self, kb: KnowledgeBase, folder: Path) -> None:
        kb.index([folder])
        before = kb.status()
        with pytest.raises(SourceError, match=r"nowhere does not exist; give a file or a folder"):
            kb.index([folder, folder / "nowhere"])
        assert kb.status() == before

    def test_two_folders_with_equal_paths_stay_apart(self, kb: KnowledgeBase, tmp_path: Path) -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "readme.md").write_text(f"# {name}\n")
        kb.index([tmp_path / "one", tmp_path / "two"])
        assert {entry.document for entry in kb.entries()} == {"readme.md", "two/readme.md"}
        (tmp_path / "two/readme.md").unlink()
        assert kb.index([tmp_path / "two"]).removed == 1
        assert {entry.document for entry in kb.entries()} == {"readme.md"}

    def test_a_folder_inside_an_indexed_one_is_a_part_of_it(self, kb: KnowledgeBase, tmp_path: Path) -> None:
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs/a.md").write_text("# A\n")
        (tmp_path / "b.md").write_text("# B\n")
        kb.index([tmp_path])
        (tmp_path / "docs/a.md").write_text("# Changed\n")
        (tmp_path / "b.md").write_text("# Changed as well\n")
        report = kb.index([tmp_path / "docs"])
        assert (report.added, report.changed, report.removed) == (0, 1, 0)
        assert {entry.title for entry in kb.entries()} == {"Changed", "B"}


class TestAgain:
    def test_an_unchanged_folder_costs_nothing(self, kb: KnowledgeBase, folder: Path) -> None:
        kb.index([folder])
        before = kb.status()
        report = kb.index([folder])
        assert (report.added, report.changed, report.removed, report.unchanged) == (0, 0, 0, 3)
        assert kb.status() == before

    def test_only_what_changed_is_embedded_again(self, folder: Path) -> None:
        import numpy as np

        asked: list[str] = []

        def embedder(texts: object) -> object:
            asked.extend(texts)  # type: ignore[arg-type]  # a list of str
            return np.ones((len(asked[-len(texts) :]), 3), dtype=np.float32)  # type: ignore[arg-type]  # as above

        with open_knowledge_base(":memory:", embedder=embedder) as kb:  # type: ignore[arg-type]  # close enough
            kb.index([folder])
            asked.clear()
            (folder / "guide.md").write_text(GUIDE.replace("Use pip.", "Use uv."))
            kb.index([folder])
        assert asked == ["Install\n## Install\n\nUse uv."]

    def test_flags_survive_a_change_of_the_file(self, kb: KnowledgeBase, folder: Path) -> None:
        kb.index([folder])
        kb.flag("guide.md#install")
        (folder / "guide.md").write_text(GUIDE.replace("Use pip.", "Use uv."))
        kb.index([folder])
        assert kb.get(["guide.md#install"])["guide.md#install"].flagged

    def test_an_entry_of_a_file_cannot_be_removed_alone(self, kb: KnowledgeBase, folder: Path) -> None:
        kb.index([folder])
        with pytest.raises(UnsupportedError, match=r"part of the file guide\.md; flag it, or remove the file"):
            kb.remove(["guide.md#install"])
        assert kb.remove(["guide.md"]) == 1
        assert "guide.md" not in {entry.document for entry in kb.entries()}


FILES = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "c.txt", "d.md"]),
    st.lists(
        st.sampled_from(
            [
                "# One\n",
                "## Two\n",
                "See [b](b.md#two).\n",
                "See [c](c.txt).\n",
                "`other_name` is used.\n",
                "Plain.\n\n",
            ]
        ),
        min_size=1,
        max_size=6,
    ).map("".join),
    max_size=4,
)


@given(history=st.lists(FILES, min_size=2, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_indexing_edits_gives_the_graph_of_indexing_from_nothing(
    history: list[dict[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("edits")
    with open_knowledge_base(":memory:", embedder=None) as kb:
        for files in history:
            shutil.rmtree(root)
            root.mkdir()
            for name, text in files.items():
                (root / name).write_text(text)
            kb.index([root])
        with open_knowledge_base(":memory:", embedder=None) as fresh:
            fresh.index([root])
            assert list(kb.entries()) == list(fresh.entries())
            assert list(kb.storage.iter_nodes()) == list(fresh.storage.iter_nodes())
            assert list(kb.storage.iter_edges()) == list(fresh.storage.iter_edges())


def test_a_change_within_the_clock_tick_of_the_file_system_is_seen(kb: KnowledgeBase, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    kb.index([tmp_path])
    stamp = file.stat().st_mtime_ns
    file.write_text("two")
    os.utime(file, ns=(stamp, stamp))
    kb.index([tmp_path])
    assert [entry.text for entry in kb.entries()] == ["two"]
