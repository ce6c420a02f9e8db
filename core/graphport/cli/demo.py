"""``graphport demo``: the main job on real input, so that a person sees what the graph changes and why."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape

import graphport
from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import path_text, show_report, snippet, table
from graphport.config import load_config
from graphport.registry import plugins
from graphport.retrieval.hits import explained_names

if TYPE_CHECKING:
    from graphport import Hit, KnowledgeBase


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and why no single passage answers it."""

    text: str
    why: str


QUESTIONS = (
    Question(
        "What was the trade of the couple who taught Apollos?",
        "Who taught him stands in Acts 18:26, their trade in 18:3, where Apollos is not named.",
    ),
    Question(
        "Which city did the eunuch's teacher Philip come to, and who visited him there years later?",
        "Philip comes to Caesarea in Acts 8:40; the visit is in 21:8, thirteen chapters on.",
    ),
    Question(
        "What does graph_rerank do when no hit has a node?",
        "The page that explains it and the code that does it are two files; a name in the page joins them.",
    ),
)
FAST_EMBEDDER = "wordllama"


@click.command()
@click.option("--keep", is_flag=True, help="Keep the knowledge base (as 'demo') for questions of your own.")
@click.option("--embedder", help=f"auto, none, or the name of one; by default {FAST_EMBEDDER}, for it is fast.")
@pass_cli
def demo(cli: Cli, keep: bool, embedder: str | None) -> None:
    """Index graphport's own source and docs and the Acts of the Apostles, and ask three questions, with and
    without the graph.
    """
    config = load_config({"graph": {"backend": "memory"}})
    fast = plugins().embedders().get(FAST_EMBEDDER)
    embedder = embedder or (FAST_EMBEDDER if fast is not None and fast.missing() is None else "auto")
    with tempfile.TemporaryDirectory(prefix="graphport-demo-") as scratch:
        folder = cli.config.home / "demo" if keep else Path(scratch) / "demo"
        with graphport.open_knowledge_base(folder, config=config, embedder=embedder) as kb:
            with cli.progress() as progress:
                report = kb.index(sources(), progress=progress)
            status = kb.status()
            show_report(cli.console, report, status.entries)
            assert status.graph is not None
            cli.console.print(f"graph: {status.graph.nodes} nodes, {status.graph.edges} edges")
            for question in QUESTIONS:
                _ask(cli, kb, question)
    if keep:
        cli.console.print("\nask more with: graphport search demo QUESTION --graph --explain")


def sources() -> list[Path]:
    """Graphport's own packages as installed here, with the text that comes with it, and the docs."""
    specs = [find_spec(name) for name in ("graphport", "graphport_memory", "graphport_code")]
    packages = [Path(spec.submodule_search_locations[0]) for spec in specs if spec and spec.submodule_search_locations]
    docs = Path(__file__).parents[3] / "docs"  # in a checkout; an installed graphport has them inside
    return [*packages, docs] if (docs / "library.md").exists() else packages


def _ask(cli: Cli, kb: KnowledgeBase, question: Question) -> None:
    plain = kb.search(question.text, top_k=5, graph=False)
    hits = kb.search(question.text, top_k=5, graph=True, explain=True)
    cli.console.print(f"\n[bold]{escape(question.text)}[/]\n[dim]{escape(question.why)}[/]")
    before = {hit.entry: rank for rank, hit in enumerate(plain, 1)}
    shown = table("", "without the graph", "with the graph", "moved")
    for rank in range(max(len(plain), len(hits))):
        left = escape(plain[rank].location) if rank < len(plain) else ""
        right = escape(hits[rank].location) if rank < len(hits) else ""
        shown.add_row(str(rank + 1), left, right, _moved(hits[rank], rank + 1, before) if rank < len(hits) else "")
    cli.console.print(shown)
    _why(cli, kb, question, hits, before)


def _moved(hit: Hit, rank: int, before: dict[str, int]) -> str:
    old = before.get(hit.entry)
    if old is None:
        return "[green]new[/]"
    return f"[green]up {old - rank}[/]" if old > rank else f"down {rank - old}" if old < rank else ""


def _why(cli: Cli, kb: KnowledgeBase, question: Question, hits: Sequence[Hit], before: dict[str, int]) -> None:
    """The hits that the graph brought up furthest, with their text and the path to each."""
    gains = {hit.entry: before.get(hit.entry, 100) - rank for rank, hit in enumerate(hits, 1)}
    for hit in sorted(hits, key=lambda hit: -gains[hit.entry])[:2]:
        told = hit.explanation
        if gains[hit.entry] > 0 and told is not None and told.path:
            cli.console.print(f"  [cyan]{escape(hit.location)}[/] {escape(snippet(hit.text, question.text))}")
            cli.console.print(
                f"  because: {escape(path_text(told.path_from, told.path, explained_names(kb.storage, [hit])))}"
            )


COMMANDS: list[click.Command] = [demo]
