"""A knowledge base stays with the embedder it was made with, none included, until it is embedded again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from graphport import Entry, open_knowledge_base
from graphport.cli.main import main
from graphport.errors import ConfigError, GraphportError


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([[text.count(letter) for letter in "abcde"] for text in texts], dtype=np.float32)


def backwards(texts: Sequence[str]) -> NDArray[np.float32]:
    return letters(texts)[:, ::-1].copy()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "base"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    file = tmp_path / "notes.md"
    file.write_text("# Anvils\n\nThe anvil costs ten shillings.\n")
    return file


def graphport(tmp_path: Path, *arguments: str) -> str:
    answer = CliRunner().invoke(main, ["--home", str(tmp_path / "home"), *arguments])
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_a_base_made_without_vectors_gets_none_when_it_is_indexed_again(tmp_path: Path, notes: Path) -> None:
    graphport(tmp_path, "index", str(notes), "--db", "shop", "--embedder", "none")
    notes.write_text("# Anvils\n\nThe anvil costs twelve shillings.\n")
    graphport(tmp_path, "index", str(notes), "--db", "shop")
    status = graphport(tmp_path, "status", "shop")
    assert "none: search is lexical" in status
    assert "to have vectors: graphport reembed shop --embedder auto\n" in status


def test_reembed_changes_the_choice_both_ways(tmp_path: Path, notes: Path) -> None:
    graphport(tmp_path, "index", str(notes), "--db", "shop", "--embedder", "none")
    assert graphport(tmp_path, "reembed", "shop", "--embedder", "wordllama") == "1 entries embedded\n"
    graphport(tmp_path, "index", str(notes), "--db", "shop")
    assert "1 (wordllama/1)" in graphport(tmp_path, "status", "shop")
    assert graphport(tmp_path, "reembed", "shop", "--embedder", "none") == "0 entries embedded\n"
    graphport(tmp_path, "index", str(notes), "--db", "shop")
    assert "none: search is lexical" in graphport(tmp_path, "status", "shop")


def test_an_embedder_that_cannot_be_used_takes_no_vectors_away(tmp_path: Path, notes: Path) -> None:
    graphport(tmp_path, "index", str(notes), "--db", "shop", "--embedder", "wordllama")
    answer = CliRunner().invoke(main, ["--home", str(tmp_path / "home"), "reembed", "shop", "--embedder", "nosuch"])
    assert answer.exit_code == 1
    assert "no embedder 'nosuch'" in answer.stderr
    assert "1 (wordllama/1)" in graphport(tmp_path, "status", "shop")


@pytest.mark.parametrize("asked", ["wordllama", letters], ids=["a name", "a callable"])
def test_an_embedder_for_a_base_made_without_is_refused_and_the_way_is_told(folder: Path, asked: object) -> None:
    with open_knowledge_base(folder, embedder=None) as kb:
        kb.add([Entry("a", "anvil")])
    with pytest.raises(ConfigError, match=r"made without vectors.*graphport reembed NAME") as refused:
        open_knowledge_base(folder, embedder=asked)  # type: ignore[arg-type]  # one of each kind
    assert refused.value.problem == "embedder-changed"


def test_an_embedder_of_another_name_is_refused(folder: Path) -> None:
    with open_knowledge_base(folder, embedder=letters) as kb:
        kb.add([Entry("a", "anvil")])
    with pytest.raises(ConfigError, match="the vectors were made by callable, and wordllama/1 is asked for"):
        open_knowledge_base(folder, embedder="wordllama")


def test_another_callable_of_the_same_width_is_told_by_its_vectors(folder: Path) -> None:
    with open_knowledge_base(folder, embedder=letters) as kb:
        kb.add([Entry("a", "abba")])
    with open_knowledge_base(folder, embedder=backwards) as kb:
        with pytest.raises(ConfigError, match="embedder-changed"):
            kb.add([Entry("b", "bead")])
        assert [entry.id for entry in kb.entries()] == ["a"]
        with pytest.raises(ConfigError, match="embedder-changed"):
            kb.search("bead")
    with open_knowledge_base(folder, embedder=letters) as kb:
        kb.add([Entry("b", "bead")])
        assert [hit.entry for hit in kb.search("bead", mode="dense")] == ["b", "a"]


def test_one_who_is_open_while_all_is_embedded_anew_mixes_nothing(folder: Path) -> None:
    with open_knowledge_base(folder, embedder="wordllama") as before:
        before.add([Entry("a", "anvil")])
        with open_knowledge_base(folder, embedder=None) as kb:
            kb.forget_vectors()
        with open_knowledge_base(folder, embedder=letters) as kb:
            assert kb.embed_missing() == 1
        with pytest.raises(ConfigError, match="embedder-changed"):
            before.search("anvil")
        with pytest.raises(GraphportError):
            before.add([Entry("b", "bead")])
    with open_knowledge_base(folder, embedder=letters) as kb:
        assert kb.status().vectors == 1


def test_vectors_of_one_width_are_not_mixed_either(folder: Path) -> None:
    with open_knowledge_base(folder, embedder=letters) as kb:
        kb.add([Entry("a", "anvil")])
        kb._truth.set_meta("embedder", "other/1")  # as another process leaves it that embedded everything anew
        with pytest.raises(ConfigError, match="the vectors were made by other/1, and callable is asked for"):
            kb.add([Entry("b", "bead")])
        assert [entry.id for entry in kb.entries()] == ["a"]


def test_a_choice_against_vectors_is_no_embedder_that_is_missing(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with open_knowledge_base(folder, embedder="none") as kb:
        kb.add([Entry("a", "anvil")])
    with open_knowledge_base(folder) as kb:
        kb.add([Entry("b", "bead")])
        assert (kb.status().vectors, kb.status().embedder) == (0, None)
    assert [record.message for record in caplog.records] == []


def test_a_base_opened_without_an_embedder_keeps_its_vectors_and_its_choice(folder: Path) -> None:
    with open_knowledge_base(folder, embedder=letters) as kb:
        kb.add([Entry("a", "anvil")])
    with open_knowledge_base(folder, embedder=None) as kb:
        kb.add([Entry("b", "bead")])
        assert kb.status().vectors == 1
    with open_knowledge_base(folder, embedder=letters) as kb:
        assert kb.embed_missing() == 2
