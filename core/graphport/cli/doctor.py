"""``graphport doctor``: what is here, what is missing, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.markup import escape

import graphport
from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import table
from graphport.config import Config, GraphConfig, check_graph
from graphport.errors import GraphportError
from graphport.knowledge.folders import knowledge_bases
from graphport.registry import available_backends, plugins
from graphport.storage import Check


@click.command()
@click.option("--json", "as_json", is_flag=True)
@pass_cli
@click.pass_context
def doctor(ctx: click.Context, cli: Cli, as_json: bool) -> None:
    """Look at plugins, drivers, embedders, the config's databases and the knowledge bases; change nothing.

    Exits with 1 if something that the config asks for does not work.
    """
    checks = [*_installed(), *_configured(cli.config), *_bases(cli.config)]
    if as_json:
        cli.print_json([check._asdict() for check in checks])
    else:
        shown = table("", "what", "found")
        for check in checks:
            shown.add_row("ok" if check.ok else "[red]!![/]", escape(check.check), escape(check.detail))
        cli.console.print(shown)
    ctx.exit(0 if all(check.ok for check in checks) else 1)


def _installed() -> Iterator[Check]:
    """What is here; a driver or model that is not installed is no fault until a config asks for it."""
    for name, backend in available_backends().items():
        reason = backend.missing()
        yield Check(f"backend {name}", True, "ready" if reason is None else f"{reason}; {backend.install_hint}")
    for name, spec in plugins().embedders().items():
        reason = spec.missing()
        yield Check(f"embedder {name}", True, "ready" if reason is None else f"{reason}; {spec.install_hint}")
    for name, engine in plugins().batch_engines().items():
        reason = engine.missing()
        yield Check(f"engine {name}", True, "ready" if reason is None else f"{reason}; {engine.install_hint}")
    for name, reason in plugins().broken.items():
        yield Check(f"plugin {name}", False, reason)


def _configured(config: Config) -> Iterator[Check]:
    places: list[tuple[str, GraphConfig]] = [("graph", config.graph)]
    places += [(f"graph of {base.name}", base.graph) for base in config.vector_dbs if base.graph is not None]
    for label, graph in places:
        backend, options = check_graph(graph, "graph", folder=config.home)
        reason = backend.missing()
        if reason is not None:
            yield Check(label, False, f"backend {backend.name}: {reason}; {backend.install_hint}")
        elif backend.diagnose is None:
            yield Check(label, True, f"backend {backend.name}")
        else:
            yield from (Check(f"{label}: {check}", ok, detail) for check, ok, detail in backend.diagnose(options))


def _bases(config: Config) -> Iterator[Check]:
    for name in knowledge_bases(config):
        try:
            with graphport.open_knowledge_base(name, config=config, create=False) as kb:
                found = kb.status()
        except GraphportError as error:
            yield Check(f"knowledge base {name}", False, str(error))
            continue
        graph = "no graph" if found.graph is None else f"{found.graph.nodes} nodes, {found.graph.edges} edges"
        yield Check(f"knowledge base {name}", True, f"{found.entries} entries at revision {found.revision}, {graph}")


COMMANDS: list[click.Command] = [doctor]
