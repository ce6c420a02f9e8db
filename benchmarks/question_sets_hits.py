"""What a graph brings to the hits of a vector database, when nothing but the hits says where to start.

    python benchmarks/question_sets_hits.py DATA [SET ...] [--embedder NAME] [--cache DIR]

DATA is that of question_sets.py. The hits are those of the dense leg, by cosine; the graph is that of titles and
names. Prints the Markdown table of docs/vector-database.md, whose `seeds` are those here.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from question_sets import question_sets

from graphport import Hit, KnowledgeBase, graph_rerank, open_knowledge_base, top_personalized_pagerank
from graphport import reciprocal_rank_fusion as rrf
from graphport.evaluation.measures import compare, measure
from graphport.evaluation.vectors import KeptVectors
from graphport.knowledge.embeddings import choose_embedder

FOUND = 50
"""Hits asked of the vector database."""
DEPTH = 10
MEASURES = ("recall@2", "recall@5", "recall@10", "ndcg@10")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/.vectors"))
    arguments = parser.parse_args()
    chosen = choose_embedder(arguments.embedder)
    assert chosen is not None, "vectors are what this is about"
    kept = KeptVectors(chosen, arguments.cache)
    print("| questions | ranking | R@2 | R@5 | R@10 | nDCG@10 | R@10 to the hits (95 %) | won / lost |")
    print("|---|---|---|---|---|---|---|---|")
    for folder, found in question_sets(arguments.data, arguments.sets):
        kept([question.text for question in found.questions])
        with open_knowledge_base(":memory:", embedder=kept) as kb:
            kb.add(found.corpus)
            kept.save()
            hits = [_dense(kb, question.text) for question in found.questions]
            base = measure(found.questions, [_ids(each)[:DEPTH] for each in hits])
            for label, ranked in rankings(kb).items():
                values = measure(found.questions, [ranked(each)[:DEPTH] for each in hits])
                against = compare(values["recall@10"], base["recall@10"])
                change = f"{100 * against.delta:+.1f} ({100 * against.low:+.1f} to {100 * against.high:+.1f})"
                figures = " | ".join(f"{100 * values[name].mean():.1f}" for name in MEASURES)
                print(f"| {folder.name} | {label} | {figures} | {change} | {against.wins} / {against.losses} |")


def rankings(kb: KnowledgeBase) -> dict[str, Callable[[list[Hit]], list[str]]]:
    """Ways to order entries by hits, best first; each gets the hits of one question."""
    graph = kb.snapshot()
    entries = dict(zip(graph.ids, graph.entries, strict=True))
    node_of = {entry: graph.ids[rows[0]] for entry, rows in graph.entry_rows().items()}
    passages = graph.entry_mask()

    def walk(hits: list[Hit]) -> list[str]:
        starts = {node_of[entry]: weight for entry, weight in seeds(hits).items()}
        return [str(entries[node]) for node in top_personalized_pagerank(graph, starts, DEPTH, among=passages).ids]

    return {
        "the hits": _ids,
        "graph_rerank of ten, 0.5": lambda hits: _ids(graph_rerank(hits[:DEPTH], graph, 0.5)),
        "graph_rerank of ten, 0.1": lambda hits: _ids(graph_rerank(hits[:DEPTH], graph, 0.1)),
        "the walk from the hits": walk,
        "RRF of the hits and the walk": lambda hits: [item for item, _ in rrf([_ids(hits), walk(hits)])],
    }


def seeds(hits: list[Hit]) -> dict[str, float]:
    """Hits as seeds: the nearest weighs e^10 of the farthest."""
    near, far = hits[0].score, hits[-1].score
    return {hit.entry: math.exp(10 * (hit.score - far) / ((near - far) or 1)) for hit in hits}


def _dense(kb: KnowledgeBase, question: str) -> list[Hit]:
    found = kb.search(question, mode="dense", graph=False, top_k=FOUND, explain=True)
    return [Hit(hit.entry, hit.explanation.scores["dense"]) for hit in found if hit.explanation is not None]


def _ids(hits: list[Hit]) -> list[str]:
    return [hit.entry for hit in hits]


if __name__ == "__main__":
    main()
