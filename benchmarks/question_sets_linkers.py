"""What the linkers bring, on questions as they are and with a letter wrong in every name.

    python benchmarks/question_sets_linkers.py DATA [SET ...] [--embedder NAME] [--cache DIR]

DATA is that of question_sets.py. Each name that containment links is perturbed once (a letter replaced, left
out, added, or swapped with its neighbour, by a fixed seed). Prints a Markdown table: recall@5 of the walk
with each choice of linkers, compared with containment alone, what was linked beside it, and what linking took.
"""

from __future__ import annotations

import argparse
import string
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from question_sets import question_sets

from graphport import KnowledgeBase, open_knowledge_base
from graphport.config import LinkerName
from graphport.evaluation.measures import compare, measure
from graphport.evaluation.questions import Question
from graphport.evaluation.vectors import KeptVectors
from graphport.knowledge.embeddings import choose_embedder
from graphport.retrieval.linking import CONTAINMENT, link, link_query

SEED = 7
DEPTH = 10
CHOICES: dict[str, tuple[LinkerName, ...]] = {
    "containment": ("containment",),
    "+ fuzzy": ("containment", "fuzzy"),
    "+ embedding": ("containment", "embedding"),
    "+ fuzzy + embedding": ("containment", "fuzzy", "embedding"),
}


def main() -> None:
    arguments = _arguments()
    chosen = choose_embedder(arguments.embedder)
    if chosen is None:
        raise SystemExit("the embedding linker needs an embedder")
    kept = KeptVectors(chosen, arguments.cache)
    print("| set | questions | linkers | R@5 | to containment (95 %) | won / lost | linked beside | ms to link |")
    print("|---|---|---|---|---|---|---|---|")
    for folder, found in question_sets(arguments.data, arguments.sets):
        with open_knowledge_base(":memory:", embedder=kept) as kb:
            kb.add(found.corpus)
            for label, questions in (
                ("as they are", found.questions),
                ("a letter wrong", misspelt(kb, found.questions)),
            ):
                kept([question.text for question in questions])
                _print_choices(kb, f"{folder.name} | {label}", questions)
                kept.save()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/.vectors"))
    return parser.parse_args()


def _print_choices(kb: KnowledgeBase, label: str, questions: Sequence[Question]) -> None:
    baseline = None
    for name, linkers in CHOICES.items():
        chosen = kb.linkers(linkers, kb.snapshot())
        link(questions[0].text, chosen)  # what is made once is no question's time
        spent, beside, ranked = [], 0, []
        for question in questions:
            started = time.perf_counter()
            entities = link(question.text, chosen)
            spent.append(time.perf_counter() - started)
            beside += sum(entity.linker != CONTAINMENT for entity in entities)
            hits = kb.search(question.text, graph=True, graph_mode="walk", linkers=linkers, top_k=DEPTH)
            ranked.append([hit.entry for hit in hits])
        values = measure(questions, ranked)["recall@5"]
        baseline = values if baseline is None else baseline
        against = compare(values, baseline)
        delta = f"{100 * against.delta:+.1f} ({100 * against.low:+.1f} to {100 * against.high:+.1f})"
        compared = ["", ""] if values is baseline else [delta, f"{against.wins} / {against.losses}"]
        cells = [label, name, f"{100 * values.mean():.1f}", *compared, str(beside), f"{1e3 * np.median(spent):.1f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def misspelt(kb: KnowledgeBase, questions: Sequence[Question]) -> list[Question]:
    """The questions with one letter wrong in each name that containment links in them."""
    rng = np.random.default_rng(SEED)
    graph, matcher = kb.snapshot(), kb.vocabulary().matcher
    changed: list[Question] = []
    for question in questions:
        text = question.text
        places = {(entity.start, entity.end) for entity in link_query(text, graph, matcher)}
        for start, end in sorted(places, reverse=True):
            text = text[:start] + _misspelt(text[start:end], rng) + text[end:]
        changed.append(replace(question, text=text))
    return changed


def _misspelt(name: str, rng: np.random.Generator) -> str:
    """One letter, not the first of a word, replaced, left out, put before it, or swapped with the one before."""
    inner = [at for at in range(1, len(name)) if name[at].isalpha() and name[at - 1].isalpha()]
    if not inner:
        return name
    at = int(rng.choice(inner))
    letter = string.ascii_lowercase[int(rng.integers(26))]
    ways = (
        name[:at] + letter + name[at + 1 :],
        name[:at] + name[at + 1 :],
        name[:at] + letter + name[at:],
        name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :],
    )
    return ways[int(rng.integers(len(ways)))]


if __name__ == "__main__":
    main()
