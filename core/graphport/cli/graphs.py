"""Commands on graph stores: backends, export, import, migrate."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import table
from graphport.cli.sources import opened, opened_graph
from graphport.errors import InvalidInputError
from graphport.model import Edge, Node
from graphport.parquet import is_export, read_parquet, write_parquet
from graphport.registry import available_backends, plugins
from graphport.storage import GraphStorage

_BATCH = 10_000


@click.command()
@click.option("--json", "as_json", is_flag=True)
@pass_cli
def backends(cli: Cli, as_json: bool) -> None:
    """Graph stores, whether each can be opened here, and what is missing."""
    rows = [
        {
            "name": backend.name,
            "state": "ready" if (reason := backend.missing()) is None else f"missing: {reason}",
            "capabilities": sorted(backend.capabilities),
            "install": "" if reason is None else backend.install_hint,
        }
        for backend in available_backends().values()
    ]
    broken = dict(plugins().broken)
    if as_json:
        cli.print_json({"backends": rows, "broken_plugins": broken})
        return
    shown = table("backend", "state", "capabilities", "install")
    for row in rows:
        cells = str(row["name"]), str(row["state"]), ", ".join(row["capabilities"]), str(row["install"])
        shown.add_row(*map(escape, cells))  # graphport[kuzu] is no markup
    cli.console.print(shown)
    for name, reason in broken.items():
        cli.console.print(f"plugin {name} is left out: {reason}", markup=False)


@click.command("export")
@click.argument("graph")
@click.argument("target", type=click.Path(path_type=Path, allow_dash=True), default="-")
@click.option("--format", "form", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True)
@pass_cli
def export_graph(cli: Cli, graph: str, target: Path, form: str) -> None:
    """Write a graph as JSON lines (nodes, edges, and their numbers at the end) or as a folder of Parquet files.

    GRAPH is a backend and its options in YAML flow style (``'kuzu {path: g.kuzu, graph: notes}'``) or the name of a
    knowledge base. TARGET is a file, or for Parquet a folder that does not exist yet.
    """
    if form == "parquet" and str(target) == "-":
        raise click.UsageError("Parquet is a folder of files: give its TARGET")
    with opened_graph(cli, graph) as storage:
        if form == "parquet":
            written = write_parquet(storage, target)
            _report(cli, (written.nodes, written.edges))
            return
        with click.open_file(str(target), "w", encoding="utf-8", atomic=True) as file:
            for line in graph_lines(storage):
                file.write(line)


@click.command("import")
@click.argument("store")
@click.argument("source", type=click.Path(path_type=Path, allow_dash=True), default="-")
@click.option("--replace", is_flag=True, help="Let the graph's content be replaced.")
@pass_cli
def import_graph(cli: Cli, store: str, source: Path, replace: bool) -> None:
    """Read what ``graphport export`` wrote, JSON lines or a folder of Parquet files, all or nothing."""
    with opened(store) as graph:
        if is_export(source):
            _check_empty(graph, replace=replace)
            loaded = read_parquet(source)
            graph.bulk_load(loaded)
            _report(cli, (loaded.n_nodes, loaded.n_edges))
            return
        with click.open_file(str(source), encoding="utf-8") as file:
            _report(cli, read_lines(graph, file, replace=replace))


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("--replace", is_flag=True, help="Let the target's content be replaced.")
@pass_cli
def migrate(cli: Cli, source: str, target: str, replace: bool) -> None:
    """Copy a graph from one store to another, all or nothing.

    For example ``graphport migrate 'kuzu {path: old.kuzu, driver: kuzu}' 'kuzu {path: new.kuzu}'``. The
    source is read by a process of its own, for two drivers of one engine cannot share one.
    """
    command = [sys.executable, "-m", "graphport.cli.main", "export", source]
    with (
        opened(target) as graph,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as reader,  # noqa: S603 - ourselves
    ):
        assert reader.stdout is not None
        try:
            copied = read_lines(graph, reader.stdout, replace=replace)
        finally:
            reader.stdout.close()
    _report(cli, copied)


def graph_lines(graph: GraphStorage) -> Iterator[str]:
    """A graph as JSON lines."""
    nodes = edges = 0
    for node in graph.iter_nodes():
        nodes += 1
        yield json.dumps({"node": dataclasses.asdict(node)}, ensure_ascii=False) + "\n"
    for edge in graph.iter_edges():
        edges += 1
        yield json.dumps({"edge": dataclasses.asdict(edge)}, ensure_ascii=False) + "\n"
    yield json.dumps({"end": {"nodes": nodes, "edges": edges}}) + "\n"


def read_lines(graph: GraphStorage, lines: Iterable[str], *, replace: bool) -> tuple[int, int]:
    """Put what `graph_lines` wrote into ``graph``, in one transaction; returns numbers of nodes and edges.

    Raises `InvalidInputError` for a line that is none of ours, for lines that end early, and for a graph
    that is not empty unless ``replace``.
    """
    _check_empty(graph, replace=replace)
    numbers = {"node": 0, "edge": 0}
    end: dict[str, int] | None = None
    with graph.transaction():
        graph.clear()
        for batch in _batches(lines):
            nodes = [Node(**row["node"]) for row in batch if "node" in row]
            edges = [Edge(**row["edge"]) for row in batch if "edge" in row]
            graph.upsert_nodes(nodes)
            graph.upsert_edges(edges)
            numbers["node"] += len(nodes)
            numbers["edge"] += len(edges)
            end = batch[-1].get("end", end)
        if end != {"nodes": numbers["node"], "edges": numbers["edge"]}:
            raise InvalidInputError(
                f"the export ends early: {numbers['node']} nodes and {numbers['edge']} edges, the end says {end}; "
                "nothing was imported"
            )
    return numbers["node"], numbers["edge"]


def _check_empty(graph: GraphStorage, *, replace: bool) -> None:
    if graph.counts().nodes and not replace:
        raise InvalidInputError(f"graph {graph.graph!r} holds nodes; empty it first, or pass --replace")


def _batches(lines: Iterable[str]) -> Iterator[list[dict[str, Any]]]:
    rows = iter(lines)
    while batch := list(islice(rows, _BATCH)):
        try:
            yield [json.loads(line) for line in batch]
        except json.JSONDecodeError as error:
            raise InvalidInputError(f"a line is no JSON ({error}); give a file that graphport export wrote") from error


def _report(cli: Cli, copied: tuple[int, int]) -> None:
    cli.console.print(f"{copied[0]} nodes and {copied[1]} edges copied")


COMMANDS: list[click.Command] = [backends, export_graph, import_graph, migrate]
