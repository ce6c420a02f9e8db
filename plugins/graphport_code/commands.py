"""``graphport code``: the code tools on the command line."""

from __future__ import annotations

import click
from rich.markup import escape

from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import show_hits
from graphport_code.symbols import SYMBOL_KINDS
from graphport_code.tools import MAX_FOUND, Callers, find_callers, find_similar, find_symbol, get_call_graph


@click.group()
def code() -> None:
    """Ask an indexed code base: symbols, callers, call graphs, similar code."""


@code.command("find-symbol")
@click.argument("name")
@click.argument("symbol")
@click.option("--file", help="Only in files whose path ends so.")
@click.option("--kind", type=click.Choice(SYMBOL_KINDS), help="Only symbols of this kind.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@pass_cli
def find_symbol_command(cli: Cli, name: str, symbol: str, file: str | None, kind: str | None, as_json: bool) -> None:
    """Where SYMBOL is defined, in the knowledge base NAME."""
    with cli.open(name) as kb:
        found = find_symbol(kb.storage, symbol, file, kind)
    if as_json:
        cli.print_json(found)
        return
    for item in found:
        _line(cli, item.file, item.line, f"{item.kind} {item.qualified}", item.signature)
    if not found:
        cli.console.print(f"no symbol {symbol!r}", markup=False)


@code.command()
@click.argument("name")
@click.argument("symbol")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@pass_cli
def callers(cli: Cli, name: str, symbol: str, as_json: bool) -> None:
    """Who calls SYMBOL, in the knowledge base NAME."""
    with cli.open(name) as kb:
        found = find_callers(kb.storage, symbol)
    if as_json:
        cli.print_json(found)
        return
    cli.console.print(_what_is_told(found, symbol), markup=False, end="")
    names = {target.id: target.qualified for target in found.targets}
    for caller in found.callers:
        how = f"{caller.via} {caller.confidence}".strip()
        called = f" -> {names[caller.target]}" if len(names) > 1 else ""
        _line(cli, caller.file, caller.line, f"{caller.symbol.qualified}{called}", how)


def _what_is_told(found: Callers, symbol: str) -> str:
    """A line before callers that are not all calls of one symbol; "" for those that are."""
    if not found.callers:
        return f"no call is known, and nothing mentions {symbol!r}\n"
    if all(caller.via == "uses" for caller in found.callers):
        return "no call is known: where its name is mentioned\n"
    if len(found.targets) > 1:
        rest = "" if found.precise else "; of those without a known call, where their name is mentioned"
        most = "or more " if len(found.targets) >= MAX_FOUND else ""
        return f"{len(found.targets)} {most}symbols are called {symbol!r}{rest}\n"
    return ""


@code.command()
@click.argument("name")
@click.argument("symbol")
@click.option("--depth", default=2, show_default=True, help="How many calls away.")
@click.option("--max-nodes", default=100, show_default=True, help="How many symbols at most.")
@click.option("--direction", type=click.Choice(["out", "in", "both"]), default="out", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@pass_cli
def callgraph(cli: Cli, name: str, symbol: str, depth: int, max_nodes: int, direction: str, as_json: bool) -> None:
    """What SYMBOL calls, who calls it, or both, in the knowledge base NAME."""
    with cli.open(name) as kb:
        found = get_call_graph(kb.storage, symbol, depth=depth, max_nodes=max_nodes, direction=direction)
    if as_json:
        cli.print_json(found)
        return
    names = {node.symbol.id: node.symbol.qualified for node in found.nodes}
    for edge in found.edges:
        _line(cli, edge.file, edge.line, f"{names[edge.source]} -> {names[edge.target]}", edge.confidence)
    if found.truncated:
        limit = f"--max-nodes {max_nodes}" if found.cut_by_nodes else f"--depth {depth}"
        cli.console.print(f"there is more: cut by {limit}")


@code.command()
@click.argument("name")
@click.argument("symbol")
@click.option("-k", "--top-k", default=5, show_default=True, help="How many.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@pass_cli
def similar(cli: Cli, name: str, symbol: str, top_k: int, as_json: bool) -> None:
    """Code most like SYMBOL, in the knowledge base NAME."""
    with cli.open(name) as kb:
        found = find_similar(kb, symbol, top_k)
    if as_json:
        cli.print_json(found)
    else:
        show_hits(cli.console, found, symbol, explain=False, names={})


def _line(cli: Cli, file: str, line: int, what: str, detail: str) -> None:
    cli.console.print(f"[cyan]{escape(file)}:{line}[/]  {escape(what)}  [dim]{escape(detail)}[/]")
