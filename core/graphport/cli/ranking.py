"""Commands that rank a whole graph for many seed sets at once: rank, communities."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO, Any

import click

from graphport.batch import BatchEngine, Graph, RankedSet, Ranking, read_seed_sets
from graphport.cli.context import Cli, pass_cli
from graphport.cli.sources import opened_graph
from graphport.errors import BackendNotFoundError, BackendUnavailableError
from graphport.parquet import is_export
from graphport.registry import plugins

_ENGINE = click.option("--engine", default="memory", show_default=True, help="memory, or spark for a cluster.")
_SETTINGS = click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting of the engine: any property of Spark's."
)


@click.command()
@click.argument("graph")
@click.argument("file", type=click.File("w", encoding="utf-8", atomic=True), default="-")
@click.option("--seeds", "seeds", type=click.File("r", encoding="utf-8"), required=True, help="Seed sets, JSON lines.")
@click.option("-k", "--top-k", type=int, default=20, show_default=True, help="How many nodes of each set.")
@click.option("--damping", type=float, default=0.5, show_default=True, help="Probability of following an edge.")
@click.option("--kind", "kinds", multiple=True, help="Rank nodes of this kind only (may be repeated).")
@click.option("--tol", type=float, default=1e-6, show_default=True, help="L1 error at which spark stops.")
@click.option("--epsilon", type=float, default=0.0, help="Shares of a walk that spark may leave where they are.")
@_ENGINE
@_SETTINGS
@pass_cli
def rank(
    cli: Cli,
    graph: str,
    file: IO[str],
    seeds: IO[str],
    top_k: int,
    damping: float,
    kinds: tuple[str, ...],
    tol: float,
    epsilon: float,
    engine: str,
    settings: tuple[str, ...],
) -> None:
    """Personalized PageRank of GRAPH for many seed sets, as JSON lines in the order of the seeds.

    GRAPH is a knowledge base, a store with its options ('kuzu {path: g.kuzu}'), or the folder that `graphport export
    --format parquet` wrote (for spark on a cluster: a path or URL that all its machines see). A line of the seeds is
    {"set": "q1", "seeds": ["a", "b"]} or {"set": "q1", "seeds": {"a": 2, "b": 1}}.
    """
    chosen = _engine(engine)
    ranking = Ranking(k=top_k, damping=damping, kinds=kinds or None, tol=tol, epsilon=epsilon)
    seed_sets = read_seed_sets(seeds)
    with _graph(cli, graph) as source:
        for found in chosen.rank(source, seed_sets, ranking, _parsed(settings)):
            file.write(json.dumps(_row(found), ensure_ascii=False) + "\n")


@click.command()
@click.argument("graph")
@click.argument("file", type=click.File("w", encoding="utf-8", atomic=True), default="-")
@click.option("--resolution", type=float, default=1.0, show_default=True, help="Higher gives smaller communities.")
@_ENGINE
@_SETTINGS
@pass_cli
def communities(cli: Cli, graph: str, file: IO[str], resolution: float, engine: str, settings: tuple[str, ...]) -> None:
    """Communities of GRAPH (as for rank) by modularity, one JSON line a node."""
    chosen = _engine(engine)
    with _graph(cli, graph) as source:
        for node_id, community in chosen.communities(source, resolution, _parsed(settings)):
            file.write(json.dumps({"node": node_id, "community": community}, ensure_ascii=False) + "\n")


def _row(found: RankedSet) -> dict[str, Any]:
    nodes = [{"node": node_id, "score": score} for node_id, score in found.nodes]
    return {"set": found.name, "error_bound": found.error_bound, "nodes": nodes}


def _engine(name: str) -> BatchEngine:
    engines = plugins().batch_engines()
    if name not in engines:
        raise BackendNotFoundError(f"no engine {name!r}; installed: {', '.join(engines)}")
    reason = engines[name].missing()
    if reason is not None:
        raise BackendUnavailableError(f"engine {name!r} cannot run here: {reason}; {engines[name].install_hint}")
    return engines[name]


@contextmanager
def _graph(cli: Cli, text: str) -> Generator[Graph]:
    if "://" in text or is_export(text):
        yield text
    else:
        with opened_graph(cli, text) as storage:
            yield storage


def _parsed(settings: tuple[str, ...]) -> dict[str, str]:
    wrong = [setting for setting in settings if "=" not in setting]
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is no KEY=VALUE", param_hint="--set")
    return dict(setting.split("=", 1) for setting in settings)


COMMANDS: list[click.Command] = [rank, communities]
