"""The code tier in a knowledge base: found by search, walked by the tools, asked on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphport import KnowledgeBase, open_knowledge_base
from graphport.cli.main import main
from graphport.config import load_config
from graphport.registry import plugins
from graphport_code import find_callers, find_similar, find_symbol, is_code_entry

SOURCE = {
    "src/dates.py": "def parse_date(text):\n    '''Read a date.'''\n    return text\n\n"
    "def parse_time(text):\n    '''Read a time.'''\n    return text\n\n"
    "def report():\n    return parse_date('x')\n",
    "src/cart.py": "class Cart:\n    '''A shopping cart.'''\n    def total(self):\n        return 3\n",
    "notes.md": "# Dates\n\nTo read a date call `parse_date` on its text.\n",
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    for path, text in SOURCE.items():
        (tmp_path / "code" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / path).write_text(text)
    file = tmp_path / "graphport.yaml"
    file.write_text(f"data_dir: {tmp_path / 'home'}\nvector_dbs:\n  - name: code\n    strategy: {{graph: true}}\n")
    return file


@pytest.fixture
def knowledge_base(config: Path, tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_knowledge_base("code", config=load_config(config), embedder="none", create=True) as opened:
        opened.index([tmp_path / "code"])
        yield opened


def test_the_builder_is_found_through_its_entry_point_and_reads_source_files() -> None:
    builder = plugins().builders()["code"]
    assert builder.accepts("a/b.rs")
    assert builder.priority > plugins().builders()["text"].priority


def test_no_parser_is_imported_before_a_file_needs_it() -> None:
    code = (
        "import sys, graphport_code.plugin as p; p.graphport_builders()[0].accepts('a.rs'); p.graphport_commands();"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_code_is_found_by_search_and_leads_to_its_symbol(knowledge_base: KnowledgeBase) -> None:
    hit = knowledge_base.search("shopping cart", top_k=1)[0]
    assert is_code_entry(hit)
    assert hit.location.endswith("src/cart.py:1")
    (symbol,) = find_symbol(knowledge_base.storage, str(hit.meta["symbol"]))
    assert symbol.name == "Cart"


def test_prose_that_names_a_symbol_uses_it_and_does_not_call_it(knowledge_base: KnowledgeBase) -> None:
    (symbol,) = find_symbol(knowledge_base.storage, "parse_date")
    edges = knowledge_base.storage.incident_edges([symbol.id], direction="in", kinds=["uses"])[symbol.id]
    assert any(edge.source.startswith("heading:") for edge in edges)
    assert [caller.symbol.name for caller in find_callers(knowledge_base.storage, "parse_date").callers] == ["report"]


def test_similar_code_leaves_out_the_symbol_itself_and_all_prose(knowledge_base: KnowledgeBase) -> None:
    hits = find_similar(knowledge_base, "parse_date", top_k=2)
    assert hits[0].title == "parse_time"
    assert all(is_code_entry(hit) and hit.meta.get("symbol") is not None for hit in hits[:1])
    assert "parse_date" not in [hit.title for hit in hits]
    assert len(hits) <= 2
    assert all(is_code_entry(hit) for hit in find_similar(knowledge_base, "parse_date", top_k=50))


def test_an_edited_file_changes_the_graph(knowledge_base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "code/src/dates.py").write_text(SOURCE["src/dates.py"].replace("return parse_date('x')", "return 1"))
    knowledge_base.index([tmp_path / "code"])
    assert not find_callers(knowledge_base.storage, "parse_date").precise


@pytest.mark.parametrize(
    "arguments,expected",
    [
        (["find-symbol", "code", "parse_d"], "src/dates.py:1  function parse_date"),
        (["callers", "code", "parse_date"], "src/dates.py:10  report  calls exact"),
        (["callgraph", "code", "report"], "report -> parse_date  exact"),
        (["similar", "code", "parse_date", "-k", "1"], "parse_time"),
        (["callers", "code", "parse_time"], "no call is known, and nothing mentions 'parse_time'"),
    ],
)
def test_the_command_line_asks_the_tools(
    knowledge_base: KnowledgeBase, config: Path, arguments: list[str], expected: str
) -> None:
    knowledge_base.close()
    result = CliRunner().invoke(main, ["--config", str(config), "code", *arguments])
    assert result.exit_code == 0, result.output
    assert expected in result.output


def test_the_command_line_answers_in_json_and_fails_in_one_line(knowledge_base: KnowledgeBase, config: Path) -> None:
    knowledge_base.close()
    answer = CliRunner().invoke(main, ["--config", str(config), "code", "callers", "code", "parse_date", "--json"])
    assert json.loads(answer.output)["callers"][0]["symbol"]["name"] == "report"
    failed = CliRunner().invoke(main, ["--config", str(config), "code", "callers", "code", "zzz"])
    assert (failed.exit_code, failed.output.count("\n")) == (1, 1)
