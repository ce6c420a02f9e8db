"""A command loads what it uses: ranking, indexes and drivers cost half a second that help need not take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("scipy", "igraph", "tantivy", "onnxruntime", "ladybug", "kuzu", "psycopg", "fastapi", "mcp", "tree_sitter")
_RUN = """
import sys
from graphport.cli.main import main
try:
    main(sys.argv[2:])
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", *[name for name in sys.argv[1].split(",") if name in sys.modules])
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imports")
    (folder / "notes.md").write_text("# Anvils\n\nThe Anvil Company of Geneva sells anvils.\n")
    loaded(folder, "index", str(folder / "notes.md"), "--db", "notes", "--embedder", "none")
    return folder


def loaded(home: Path, *arguments: str) -> set[str]:
    """Which of the heavy packages a command has loaded when it ends."""
    command = [sys.executable, "-c", _RUN, ",".join(HEAVY), "--home", str(home / "bases"), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)
    assert answer.returncode == 0, answer.stderr
    return set(answer.stdout.rpartition("loaded:")[2].split())


@pytest.mark.parametrize("arguments", [["--help"], ["backends"], ["list"], ["search", "--help"]], ids=" ".join)
def test_what_opens_no_knowledge_base_loads_nothing_heavy(home: Path, arguments: list[str]) -> None:
    assert loaded(home, *arguments) == set()


def test_a_search_without_the_graph_loads_no_ranking(home: Path) -> None:
    assert loaded(home, "search", "notes", "anvils in Geneva", "--no-graph") == {"tantivy"}


def test_a_search_with_the_graph_loads_no_engine_it_does_not_use(home: Path) -> None:
    assert loaded(home, "search", "notes", "anvils in Geneva", "--graph") == {"tantivy", "scipy"}
