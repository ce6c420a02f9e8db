"""The tables of docs/retrieval.md: every mode on every question set.

    python benchmarks/question_sets.py DATA [SET ...] [--embedder NAME] [--ablations] [--untitled] [--cache DIR]

DATA holds a folder per question set in BEIR's layout: ``corpus.jsonl``, ``queries.jsonl``,
``qrels/test.tsv``, and for one with extracted triples ``triples.jsonl`` (``_id``, ``triples``). Prints
Markdown: one table of all modes and one by type of question, and with triples a table of what they add;
``--ablations`` adds what each rule of the walk brings; ``--untitled`` takes the passages' titles away.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from graphport import GraphSnapshot, KnowledgeBase, open_knowledge_base
from graphport.errors import InvalidIdError
from graphport.evaluation.measures import measure
from graphport.evaluation.questions import Question, QuestionSet, load_questions
from graphport.evaluation.run import DEPTH, MODES, evaluate, summaries
from graphport.evaluation.vectors import KeptVectors
from graphport.knowledge.embeddings import choose_embedder
from graphport.knowledge.search import SearchOptions, run_legs
from graphport.retrieval import pointing
from graphport.retrieval.linking import link_query
from graphport.retrieval.names import phrase_id
from graphport.retrieval.walk import walk

MEASURES = ("recall@2", "recall@5", "recall@10", "ndcg@10", "mrr")


def question_sets(data: Path, chosen: Sequence[str]) -> Iterator[tuple[Path, QuestionSet]]:
    """The question sets there are in folders of ``data``, by name; of those ``chosen`` alone, if any are."""
    for folder in sorted(data.iterdir()):
        judged = folder / "qrels" / "test.tsv"
        if judged.exists() and (not chosen or folder.name in chosen):
            yield folder, load_questions(folder / "corpus.jsonl", folder / "queries.jsonl", judged)


def main() -> None:
    arguments = _arguments()
    chosen = choose_embedder(arguments.embedder)
    kept = None if chosen is None else KeptVectors(chosen, arguments.cache)
    for folder, found in question_sets(arguments.data, arguments.sets):
        corpus = [replace(entry, title="") for entry in found.corpus] if arguments.untitled else found.corpus
        if kept is not None:
            kept([question.text for question in found.questions])
        with open_knowledge_base(":memory:", embedder=kept) as kb:
            kb.add(corpus)
            if kept is not None:
                kept.save()
            told = summaries(evaluate(kb, found.questions, [mode for mode in MODES if kept or mode != "dense"]))
            print(f"### {folder.name}: {len(found.questions)} questions, {len(found.corpus)} passages\n")
            _print_modes(told)
            _print_types(told)
            if arguments.ablations:
                _print_ablations(kb, found.questions)
            if (folder / "triples.jsonl").exists():
                _print_triples(kb, found.questions, folder / "triples.jsonl")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--ablations", action="store_true", help="what each rule of the walk brings")
    parser.add_argument("--untitled", action="store_true", help="take the passages' titles away")
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/.vectors"))
    return parser.parse_args()


def _print_modes(told: Mapping[str, Mapping[str, Any]]) -> None:
    print("| mode | R@2 | R@5 | R@10 | nDCG@10 | MRR | R@5 to hybrid (95 %) | won / lost | ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    for mode, values in told.items():
        compared = against_hybrid(values)
        figures = [f"{100 * values[name]:.1f}" for name in MEASURES]
        _print_row(mode, *figures, *compared, f"{values['ms_per_query']:.1f}")
    print()


def against_hybrid(values: Mapping[str, Any]) -> tuple[str, str]:
    """The difference to hybrid with its interval, and questions won and lost; empty for hybrid itself."""
    against = values.get("against_hybrid")
    if against is None:
        return "", ""
    low, high = against["interval"]
    delta = f"{100 * against['delta']:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})"
    return delta, f"{against['wins']} / {against['losses']}"


def _print_types(told: Mapping[str, Mapping[str, Any]]) -> None:
    kinds = sorted({kind for values in told.values() for kind in values["by_type"]})
    if kinds:
        _print_row("R@5 by type", *told, "walk to hybrid (95 %)", "won / lost")
        print(f"|---|{'---|' * (len(told) + 2)}")
        for kind in kinds:
            rows = [values["by_type"][kind] for values in told.values()]
            figures = [f"{100 * row['recall@5']:.1f}" for row in rows]
            walk_of_kind = told["walk"]["by_type"][kind]
            _print_row(f"{kind} ({rows[0]['questions']})", *figures, *against_hybrid(walk_of_kind))
        print()


def _print_row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


def _print_triples(kb: KnowledgeBase, questions: Sequence[Question], file: Path) -> None:
    """The walk with and without triples, and with triples alone instead of titles and names."""
    graph = kb.snapshot()
    triples = _triples(file)
    alone = _with_triples(_without_names(graph), triples)
    print("| walk over | R@2 | R@5 | R@10 | nDCG@10 | MRR |\n|---|---|---|---|---|---|")
    for label, one in (
        ("titles and names", graph),
        ("titles, names and triples", _with_triples(graph, triples)),
        ("triples alone", alone),
    ):
        ranked = [_walked(kb, one, question.text) for question in questions]
        values = measure(questions, ranked)
        _print_row(label, *(f"{100 * values[name].mean():.1f}" for name in MEASURES))
    print()


def _print_ablations(kb: KnowledgeBase, questions: Sequence[Question]) -> None:
    graph = kb.snapshot()
    changes: dict[str, Callable[[str], list[str]]] = {
        "as it is": lambda query: _walked(kb, graph, query),
        "the walk's order alone (graph_weight 1)": lambda query: _walked(kb, graph, query, graph_weight=1.0),
        "hits are no seeds": lambda query: _walked(kb, graph, query, passage_node_weight=0.0),
        "damping 0.85": lambda query: _walked(kb, graph, query, damping=0.85),
        "question in lower case": lambda query: _walked(kb, graph, query.lower()),
    }
    told = {label: _recall(questions, ask) for label, ask in changes.items()}
    titles = _without_names(graph, keep=_titled(graph))
    told["no proper names, titles only"] = _recall(questions, lambda query: _walked(kb, titles, query))
    before, pointing.AGAINST = pointing.AGAINST, 1.0
    both = _with_triples(graph, [])  # a copy: arcs are kept with their snapshot
    told["arcs back weigh as much as along"] = _recall(questions, lambda query: _walked(kb, both, query))
    pointing.AGAINST = before
    print("| walk | R@5 |\n|---|---|")
    for label, recall in told.items():
        _print_row(label, f"{100 * recall:.1f}")
    print()


def _recall(questions: Sequence[Question], ask: Callable[[str], list[str]]) -> float:
    return float(measure(questions, [ask(question.text) for question in questions])["recall@5"].mean())


def _walked(kb: KnowledgeBase, graph: GraphSnapshot, query: str, **options: float) -> list[str]:
    legs = run_legs(kb, query, SearchOptions.of(kb.config.retrieval, {"top_k": DEPTH}))
    entities = link_query(query, graph, kb.vocabulary().matcher)
    return [entry for entry, _ in walk(graph, entities, legs.found, legs.fused, limit=DEPTH, **options).ranked]  # type: ignore[arg-type]  # all of them are numbers


def _triples(file: Path) -> list[tuple[str, str, str]]:
    """``(entry, subject, object)`` of every triple whose ends can be named."""
    found: list[tuple[str, str, str]] = []
    for line in file.read_text("utf-8").split("\n"):
        row = json.loads(line) if line.strip() else {"triples": []}
        found += [(row["_id"], triple[0], triple[2]) for triple in row["triples"] if len(triple) == 3]
    return found


def _titled(graph: GraphSnapshot) -> set[int]:
    """Rows of the names that some entry carries."""
    naming = [kind == pointing.NAMING for kind in graph.edge_kinds]
    return {int(row) for row, kind in zip(graph.target_index, graph.edge_kind, strict=True) if naming[int(kind)]}


def _without_names(graph: GraphSnapshot, keep: Set[int] = frozenset()) -> GraphSnapshot:
    """The entries' nodes and those in ``keep``, with the edges between them."""
    kept = [row for row, entry in enumerate(graph.entries) if entry is not None or row in keep]
    place = np.full(graph.n_nodes, -1)
    place[kept] = np.arange(len(kept))
    inside = (place[graph.source_index] >= 0) & (place[graph.target_index] >= 0)
    return GraphSnapshot.from_arrays(
        [graph.ids[row] for row in kept],
        place[graph.source_index[inside]],
        place[graph.target_index[inside]],
        graph.weight[inside],
        edge_kind=graph.edge_kind[inside],
        edge_kinds=graph.edge_kinds,
        names=[graph.names[row] for row in kept],
        entries=[graph.entries[row] for row in kept],
    )


def _with_triples(graph: GraphSnapshot, triples: list[tuple[str, str, str]]) -> GraphSnapshot:
    """The graph with the triples' ends as phrases their entry mentions, and an edge from each subject to its object."""
    names = dict(zip(graph.ids, graph.names, strict=True))
    entries = dict(zip(graph.ids, graph.entries, strict=True))
    node_of = {entry: node for node, entry in entries.items() if entry is not None}
    edges: dict[tuple[str, str, str], float] = {
        (*graph.edge_key(row)[:2], graph.edge_key(row).kind): float(graph.weight[row]) for row in range(graph.n_edges)
    }
    for entry, subject, target in triples:
        try:
            ends = [phrase_id(subject), phrase_id(target)]
        except InvalidIdError:
            continue
        for end, name in zip(ends, (subject, target), strict=True):
            names.setdefault(end, name)
            if (node_of[entry], end, "titled") not in edges:
                edges.setdefault((node_of[entry], end, "mentions"), 1.0)
        edges[ends[0], ends[1], "related"] = edges.get((ends[0], ends[1], "related"), 0.0) + 1.0
    ids = sorted(names)
    place = {node: row for row, node in enumerate(ids)}
    kinds = sorted({kind for _, _, kind in edges})
    return GraphSnapshot.from_arrays(
        ids,
        np.array([place[source] for source, _, _ in edges]),
        np.array([place[target] for _, target, _ in edges]),
        np.array(list(edges.values())),
        edge_kind=np.array([kinds.index(kind) for _, _, kind in edges]),
        edge_kinds=kinds,
        names=[names[node] for node in ids],
        entries=[entries.get(node) for node in ids],
    )


if __name__ == "__main__":
    main()
