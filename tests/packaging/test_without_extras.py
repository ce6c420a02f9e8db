"""`pip install graphport` and nothing else: what works, and that the rest names its extra."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphport_code import languages
from graphport_code.builder import CodeBuilder

Bare = Callable[[str], dict[str, object]]

LIBRARY = """
import json, sys
import graphport
heavy = [name for name in ("igraph", "scipy", "tantivy") if name in sys.modules]
from graphport import *
graph = open_storage("memory")
graph.upsert_nodes([Node("a", "document", "a", entry="a"), Node("b", "document", "b", entry="b")])
graph.upsert_edges([Edge("a", "b", "links_to")])
with open_knowledge_base(":memory:", embedder=None) as kb:
    kb.add([Entry("film", "Directed by Jane Roe.", title="Harbour"), Entry("she", "Born in Bergen.", title="Jane Roe")])
    found = [hit.entry for hit in kb.search("Where was the director of Harbour born?", graph=True)]
print(json.dumps({
    "heavy": heavy,
    "reranked": graph_rerank([Hit("a", 0.5)], graph)[0].score,
    "communities": [louvain_communities(graph), leiden_communities(graph)],
    "found": found,
}))
"""

COMMANDS = """
import json, pathlib
from click.testing import CliRunner
from graphport.cli.main import main

folder = pathlib.Path("folder")
folder.mkdir()
(folder / "a.py").write_text("def f(): g()")
(folder / "b.ts").write_text("function f() { g(); }")
(folder / "c.md").write_text("Some text.")
(folder / "d.pdf").write_bytes(b"%PDF-1.4")

def run(*arguments):
    done = CliRunner().invoke(main, arguments)
    return [done.exit_code, done.output, repr(done.exception)]

print(json.dumps({
    "help": run("--help"),
    "backends": run("backends"),
    "doctor": run("doctor"),
    "index": run("index", "folder", "--db", "base"),
    "search": run("search", "base", "f", "--graph"),
    "fuzzy": run("search", "base", "f", "--graph", "--linker", "fuzzy"),
    "serve": run("serve"),
    "mcp": run("mcp"),
    "spark": run("rank", "base", "--seeds", "folder/a.py", "--engine", "spark"),
    "parquet": run("export", "base", "out", "--format", "parquet"),
}))
"""

ERRORS = """
import importlib, json
from graphport import open_knowledge_base, open_storage

def message(ask):
    try:
        ask()
    except ImportError as error:
        return str(error)

print(json.dumps({
    "kuzu": message(lambda: open_storage("kuzu", path="g.kuzu")),
    "age": message(lambda: open_storage("age", dsn="dbname=g")),
    "postgres": message(lambda: open_storage("postgres", dsn="dbname=g")),
    "embed": message(lambda: open_knowledge_base(":memory:", embedder="minilm")),
    "testing": message(lambda: importlib.import_module("graphport.testing")),
}))
"""


def test_the_library_and_a_knowledge_base_without_embedder_work(bare: Bare) -> None:
    did = bare(LIBRARY)
    assert did["heavy"] == []  # `import graphport` loads no engine
    assert did["reranked"] == 0.75
    assert did["communities"] == [{"a": 0, "b": 0}] * 2
    assert did["found"] == ["film", "she"]


@pytest.fixture(scope="module")
def told(bare: Bare) -> dict[str, object]:
    return bare(COMMANDS)


@pytest.mark.parametrize("command", ["help", "backends", "doctor", "index", "search"])
def test_commands_that_need_no_extra_work(told: dict[str, list[object]], command: str) -> None:
    code, output, error = told[command]
    assert code == 0, (output, error)


@pytest.mark.parametrize(
    "command, extras",
    [
        ("backends", ["age", "kuzu", "postgres"]),
        ("doctor", ["age", "kuzu", "postgres", "embed", "spark"]),
        ("index", ["code", "books"]),
        ("fuzzy", ["fuzzy"]),
        ("serve", ["serve"]),
        ("mcp", ["mcp"]),
        ("spark", ["spark"]),
        ("parquet", ["parquet"]),
    ],
)
def test_what_lacks_an_extra_says_how_to_get_it(told: dict[str, list[str]], command: str, extras: list[str]) -> None:
    output = told[command][1]
    assert [extra for extra in extras if f"pip install 'graphport[{extra}]'" not in output] == [], output
    assert "Traceback" not in output


def test_errors_of_missing_extras_name_them(bare: Bare) -> None:
    for extra, message in bare(ERRORS).items():
        assert f"pip install 'graphport[{extra}]'" in str(message)


def test_code_is_read_again_once_its_parsers_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with_parsers = CodeBuilder().version
    monkeypatch.setattr(languages, "find_spec", lambda _: None)
    assert CodeBuilder().version != with_parsers  # another version reads every file anew
