"""``graphport eval``: how well questions are answered, mode by mode."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import platformdirs
from rich.table import Table

from graphport.cli.context import Cli, pass_cli

if TYPE_CHECKING:
    from graphport.embedding import Embedder

_MODES = "lexical,dense,hybrid,rerank,leg,walk"


@click.command("eval")
@click.option(
    "--corpus", required=True, type=click.Path(path_type=Path), help="corpus.jsonl (BEIR) or .json (HippoRAG)."
)
@click.option("--queries", required=True, type=click.Path(path_type=Path), help="queries.jsonl or .json.")
@click.option("--qrels", type=click.Path(path_type=Path), help="qrels/test.tsv; not for HippoRAG's layout.")
@click.option("--modes", default=_MODES, show_default=True, help="Modes to run, with commas between.")
@click.option("--embedder", help="Name of an embedder, auto or none.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder that keeps vectors between runs.")
@click.option("--json", "as_json", is_flag=True, help="Print {mode: {measure: value}}.")
@pass_cli
def evaluate_command(
    cli: Cli,
    corpus: Path,
    queries: Path,
    qrels: Path | None,
    modes: str,
    embedder: str | None,
    cache: Path | None,
    as_json: bool,
) -> None:
    """Index a corpus in memory, ask all questions in each mode, and measure.

    The time is the median of a search, without the embedding of the question. Options of retrieval and
    the graph's backend are as the config says for a knowledge base "memory".
    """
    from graphport.evaluation.questions import load_questions
    from graphport.evaluation.run import check_modes, evaluate, summaries
    from graphport.evaluation.vectors import KeptVectors
    from graphport.knowledge.embeddings import choose_embedder
    from graphport.knowledge.opening import MEMORY, open_knowledge_base

    wanted = [mode.strip() for mode in modes.split(",") if mode.strip()]
    check_modes(wanted)
    found = load_questions(corpus, queries, qrels)
    chosen = choose_embedder(embedder or cli.config.embedder)
    folder = cache or platformdirs.user_cache_path("graphport") / "vectors"
    kept = None if chosen is None else KeptVectors(chosen, folder)
    if kept is None and modes == _MODES:
        wanted.remove("dense")
    vectors: Embedder | None = kept
    if kept is not None:
        kept([question.text for question in found.questions])  # so that no mode is charged for it
    with open_knowledge_base(MEMORY, config=cli.config, embedder=vectors) as kb, cli.progress() as progress:
        kb.add(found.corpus)
        results = evaluate(kb, found.questions, wanted, progress=progress)
    if kept is not None:
        kept.save()
    told = summaries(results)
    if as_json:
        cli.print_json(told)
    else:
        _show(cli, told, len(found.questions), len(found.corpus))


def _show(cli: Cli, told: Mapping[str, Mapping[str, Any]], questions: int, entries: int) -> None:
    columns = {"recall@2": "R@2", "recall@5": "R@5", "recall@10": "R@10", "ndcg@10": "nDCG@10", "mrr": "MRR"}
    table = Table(
        "mode", *columns, "ms", "won/lost", "recall@5 against hybrid", title=f"{questions} questions, {entries} entries"
    )
    for mode, values in told.items():
        row = [f"{100 * values[name]:.1f}" for name in columns]
        table.add_row(mode, *row, f"{values['ms_per_query']:.1f}", *_compared(values))
    cli.console.print(table)
    kinds = sorted({kind for values in told.values() for kind in values["by_type"]})
    if kinds:
        last = list(told)[-1]
        types = Table("R@5 by type", *told)
        against = Table(f"{last} against hybrid", "R@5", "won/lost")
        for kind in kinds:
            shown = [f"{100 * values['by_type'][kind]['recall@5']:.1f}" for values in told.values()]
            of_last = told[last]["by_type"][kind]
            types.add_row(f"{kind} ({of_last['questions']})", *shown)
            against.add_row(kind, *reversed(_compared(of_last)))
        cli.console.print(types)
        if "against_hybrid" in told[last]:
            cli.console.print(against)


def _compared(values: Mapping[str, Any]) -> tuple[str, str]:
    """Questions won and lost against hybrid, and the difference with its interval; "" where nothing is compared."""
    against = values.get("against_hybrid")
    if against is None:
        return "", ""
    low, high = against["interval"]
    delta = f"{100 * against['delta']:+.1f} ({100 * low:+.1f}..{100 * high:+.1f})"
    return f"{against['wins']}/{against['losses']}", delta
