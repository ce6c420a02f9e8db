"""The command line, over real folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphport.cli.main import main


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def graphport(home: Path, *arguments: str, status: int = 0) -> Result:
    """Run the command with its own home, in this process; stdout and stderr are no terminals."""
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["--home", str(home), *arguments])
    if shown.exception is not None and not isinstance(shown.exception, SystemExit):
        raise shown.exception
    assert shown.exit_code == status, shown.stderr
    return shown


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "readme.md").write_text("# Anvils\n\nAcme makes anvils. See [prices](prices.md).\n")
    (root / "prices.md").write_text("# Prices\n\nAn anvil costs nine shillings.\n")
    (root / "logo.png").write_bytes(b"\x89PNG")
    return root


class TestIndexAndSearch:
    def test_index_reports_searches_and_is_quiet_when_piped(self, home: Path, project: Path) -> None:
        shown = graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
        assert shown.stdout.splitlines()[0].startswith("2 added, 0 changed, 0 removed, 0 unchanged in ")
        assert shown.stdout.splitlines()[1] == "skipped: 1 binary"
        assert shown.stderr == ""
        found = graphport(home, "search", "shop", "what does an anvil cost", "--explain")
        assert "prices.md:1" in found.stdout.splitlines()[0]
        assert "found by: lexical rank 1" in found.stdout

    def test_a_second_index_does_nothing(self, home: Path, project: Path) -> None:
        graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
        report = json.loads(graphport(home, "index", str(project), "--db", "shop", "--json").stdout)
        assert (report["added"], report["changed"], report["unchanged"]) == (0, 0, 2)

    def test_json_hits_carry_place_score_and_explanation(self, home: Path, project: Path) -> None:
        graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
        shown = graphport(home, "search", "shop", "anvil", "--json", "--explain", "--graph", "-k", "1")
        (hit,) = json.loads(shown.stdout)
        assert hit["document"] in ("readme.md", "prices.md")
        assert 0 <= hit["score"] <= 1
        assert hit["explanation"]["ranks"]["lexical"] == 1

    def test_text_from_files_is_printed_as_it_is(self, home: Path, tmp_path: Path) -> None:
        (tmp_path / "odd.txt").write_text("[bold]not markup[/bold] and [red]")
        graphport(home, "index", str(tmp_path / "odd.txt"), "--db", "odd", "--embedder", "none")
        assert "[bold]not markup[/bold] and [red]" in graphport(home, "search", "odd", "markup").stdout


class TestErrors:
    @pytest.mark.parametrize(
        "arguments, message",
        [
            (["search", "nope", "x"], "no knowledge base 'nope' in"),
            (["index", "/no/such/folder", "--db", "x"], "/no/such/folder does not exist; give a file or a folder"),
            (["--config", "/no/such.yaml", "list"], "[unreadable-config]"),
            (["export", "kuzo {path: x}"], "no backend 'kuzo'; installed:"),
            (["export", "memory {path: ["], "are not YAML"),
        ],
    )
    def test_an_error_is_one_line_on_stderr_and_exit_code_1(
        self, home: Path, arguments: list[str], message: str
    ) -> None:
        shown = graphport(home, *arguments, status=1)
        assert message in shown.stderr
        assert "Traceback" not in shown.stderr
        assert shown.stdout == ""

    def test_an_empty_query_is_an_error(self, home: Path, project: Path) -> None:
        graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
        assert "the query is empty" in graphport(home, "search", "shop", " ", status=1).stderr


class TestGraphs:
    def test_backends_lists_each_with_its_state(self, home: Path) -> None:
        rows = json.loads(graphport(home, "backends", "--json").stdout)["backends"]
        states = {row["name"]: row["state"] for row in rows}
        assert states["memory"] == "ready"
        assert {"kuzu", "age", "postgres"} <= states.keys()

    def test_migrate_copies_a_graph_and_refuses_to_overwrite(self, home: Path, project: Path, tmp_path: Path) -> None:
        graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
        source = f"memory {{path: {home}/shop/graph.memory, graph: shop}}"
        target = f"memory {{path: {tmp_path}/copy.memory}}"
        graphport(home, "migrate", source, target)
        assert "pass --replace" in graphport(home, "migrate", source, target, status=1).stderr
        graphport(home, "migrate", source, target, "--replace")
        assert graphport(home, "export", source).stdout == graphport(home, "export", target).stdout

    def test_an_export_cut_short_is_refused_whole(self, home: Path, project: Path, tmp_path: Path) -> None:
        graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
        lines = graphport(home, "export", f"memory {{path: {home}/shop/graph.memory, graph: shop}}").stdout
        (tmp_path / "cut.jsonl").write_text("".join(lines.splitlines(keepends=True)[:-2]))
        target = f"memory {{path: {tmp_path}/target.memory}}"
        shown = graphport(home, "import", target, str(tmp_path / "cut.jsonl"), status=1)
        assert "the export ends early" in shown.stderr
        assert json.loads(graphport(home, "export", target).stdout) == {"end": {"nodes": 0, "edges": 0}}


def test_the_gazetteer_is_curated_live(home: Path, project: Path) -> None:
    graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
    graphport(home, "gazetteer", "add", "shop", "company", "Acme", "Acme Corp")
    rows = json.loads(graphport(home, "gazetteer", "list", "shop", "--json").stdout)
    assert [(row["id"], row["origin"], row["names"]) for row in rows] == [
        ("entity:company:Acme", "runtime", ["Acme", "Acme Corp"])
    ]
    graphport(home, "gazetteer", "remove", "shop", "company", "Acme")
    assert json.loads(graphport(home, "gazetteer", "list", "shop", "--json").stdout) == []


def test_a_removed_and_a_flagged_entry_are_not_found(home: Path, project: Path) -> None:
    graphport(home, "index", str(project), "--db", "shop", "--embedder", "none")
    graphport(home, "flag", "shop", "prices.md#prices")
    assert "prices.md" not in graphport(home, "search", "shop", "shillings").stdout
    graphport(home, "flag", "shop", "prices.md#prices", "--undo")
    assert "prices.md" in graphport(home, "search", "shop", "shillings").stdout
    assert graphport(home, "remove", "shop", "prices.md").stdout == "1 removed\n"
    assert graphport(home, "search", "shop", "shillings").stdout == "nothing found\n"


def test_rebuild_and_reembed_end_where_they_began(home: Path, project: Path) -> None:
    graphport(home, "index", str(project), "--db", "shop", "--embedder", "wordllama")
    before = graphport(home, "search", "shop", "price of anvils", "--json").stdout
    graphport(home, "rebuild", "shop")
    assert graphport(home, "reembed", "shop", "--embedder", "wordllama").stdout == "2 entries embedded\n"
    assert graphport(home, "search", "shop", "price of anvils", "--json").stdout == before
    assert "2 (wordllama/1)" in graphport(home, "status", "shop").stdout


def test_as_a_process_it_prints_hits_and_no_progress_when_piped(home: Path, project: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-W", "error", "-m", "graphport.cli.main", "--home", str(home), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})

    indexed = run("index", str(project), "--db", "shop", "--embedder", "none")
    assert (indexed.returncode, indexed.stderr) == (0, "")
    assert "prices.md:1" in run("search", "shop", "what does an anvil cost").stdout
    failed = run("search", "nope", "x")
    assert (failed.returncode, failed.stdout) == (1, "")
