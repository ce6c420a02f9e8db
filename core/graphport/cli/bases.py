"""Commands on knowledge bases: index, search, list, status, remove, flag, reembed, rebuild."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from rich.markup import escape

from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import show_hits, show_report, table
from graphport.config import GraphMode, LinkerName, Mode
from graphport.knowledge.embeddings import choose_embedder
from graphport.knowledge.folders import knowledge_bases
from graphport.retrieval.hits import explained_names

_MODES = click.Choice(["hybrid", "lexical", "dense"])
_LINKERS = click.Choice(["containment", "fuzzy", "embedding"])
_GRAPH_MODES = click.Choice(["auto", "rerank", "leg", "walk"])


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--db", "name", required=True, help="Knowledge base to index into; made if there is none.")
@click.option(
    "--embedder", help="Embedder of a new knowledge base: a name, auto or none. It stays; reembed changes it."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@pass_cli
def index(cli: Cli, paths: tuple[Path, ...], name: str, embedder: str | None, as_json: bool) -> None:
    """Index files and folders: what is new, changed or gone, and nothing else."""
    with cli.open(name, create=True, embedder=embedder) as kb:
        with cli.progress() as progress:
            report = kb.index(paths, progress=progress)
        if as_json:
            cli.print_json(report)
        else:
            show_report(cli.console, report, kb.status().entries)


@click.command()
@click.argument("name")
@click.argument("question")
@click.option("--graph/--no-graph", default=None, help="Follow the graph (default: as the config says).")
@click.option("--graph-mode", type=_GRAPH_MODES, help="How the graph is used.")
@click.option("--graph-weight", type=float, help="Share of the graph in the score, 0 to 1.")
@click.option("--linker", "linkers", type=_LINKERS, multiple=True, help="What links the question to names, in order.")
@click.option("--mode", type=_MODES, help="Which legs search.")
@click.option("-k", "--top-k", type=int, help="How many hits.")
@click.option("--explain", is_flag=True, help="Say why each hit is where it is.")
@click.option("--json", "as_json", is_flag=True, help="Print hits as JSON.")
@pass_cli
def search(
    cli: Cli,
    name: str,
    question: str,
    graph: bool | None,
    graph_mode: GraphMode | None,
    graph_weight: float | None,
    linkers: tuple[LinkerName, ...],
    mode: Mode | None,
    top_k: int | None,
    explain: bool,
    as_json: bool,
) -> None:
    """Ask a knowledge base a question."""
    with cli.open(name) as kb:
        hits = kb.search(
            question, graph=graph, graph_mode=graph_mode, graph_weight=graph_weight, linkers=linkers or None, mode=mode,
            top_k=top_k, explain=explain,
        )  # fmt: skip
        if as_json:
            cli.print_json(hits)
        else:
            show_hits(
                cli.console, hits, question, explain=explain, names=explained_names(kb.storage, hits) if explain else {}
            )


@click.command("list")
@click.option("--json", "as_json", is_flag=True)
@pass_cli
def list_bases(cli: Cli, as_json: bool) -> None:
    """Knowledge bases there are."""
    names = knowledge_bases(cli.config)
    if as_json:
        cli.print_json(names)
    elif names:
        cli.console.print("\n".join(names))
    else:
        cli.console.print(f"no knowledge base in {cli.config.home}; make one with: graphport index PATH --db NAME")


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True)
@pass_cli
def status(cli: Cli, name: str, as_json: bool) -> None:
    """What a knowledge base holds."""
    with cli.open(name) as kb:
        found = kb.status()
    if as_json:
        cli.print_json(found)
        return
    rows = table("", "")
    for label, value in (
        ("folder", found.folder),
        ("revision", found.revision),
        ("documents", found.documents),
        ("entries", found.entries),
        ("vectors", f"{found.vectors} ({found.embedder})" if found.embedder else "none: search is lexical"),
        ("graph", found.backend or "none"),
    ):
        rows.add_row(label, escape(str(value)))
    if found.graph is not None:
        rows.add_row("nodes", f"{found.graph.nodes}  {_kinds(found.graph.node_kinds.items())}")
        rows.add_row("edges", f"{found.graph.edges}  {_kinds(found.graph.edge_kinds.items())}")
    cli.console.print(rows)
    if not found.embedder:
        cli.console.print(f"to have vectors: graphport reembed {name} --embedder auto")


def _kinds(counts: Iterable[tuple[str, int]]) -> str:
    return escape(", ".join(f"{kind} {count}" for kind, count in counts))


@click.command()
@click.argument("name")
@click.argument("ids", nargs=-1, required=True)
@pass_cli
def remove(cli: Cli, name: str, ids: tuple[str, ...]) -> None:
    """Remove entries added by hand, or whole documents by path."""
    with cli.open(name) as kb:
        cli.console.print(f"{kb.remove(ids)} removed")


@click.command()
@click.argument("name")
@click.argument("entry")
@click.option("--undo", is_flag=True, help="Show it again.")
@pass_cli
def flag(cli: Cli, name: str, entry: str, undo: bool) -> None:
    """Hide an entry: it is not found, and its facts weigh nothing."""
    with cli.open(name) as kb:
        kb.flag(entry, flagged=not undo)


@click.command()
@click.argument("name")
@click.option("--embedder", help="Embedder to use from now on: a name, auto or none.")
@pass_cli
def reembed(cli: Cli, name: str, embedder: str | None) -> None:
    """Forget all vectors and embed every entry again."""
    choose_embedder(embedder or cli.config.knowledge_base(name).embedder or "auto")  # usable, before anything goes
    with cli.open(name, embedder="none") as kb:
        kb.forget_vectors()
    with cli.open(name, embedder=embedder) as kb, cli.progress() as progress:
        cli.console.print(f"{kb.embed_missing(progress=progress)} entries embedded")


@click.command()
@click.argument("name")
@pass_cli
def rebuild(cli: Cli, name: str) -> None:
    """Build lexical index and graph anew from the truth."""
    with cli.open(name) as kb:
        kb.rebuild()
        cli.console.print(f"built anew at revision {kb.status().revision}")


COMMANDS: list[click.Command] = [index, search, list_bases, status, remove, flag, reembed, rebuild]
