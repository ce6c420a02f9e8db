"""Whether the graph costs anything where it is not needed: questions that one passage answers.

    python benchmarks/question_sets_single.py DATA [SET ...] [--embedder NAME] [--untitled] [--cache DIR]

DATA is that of question_sets.py. A question is a sentence of a passage, or the first six words of it, that is
not the passage's first and does not hold its title; the answer is that passage, one of 200 drawn by a fixed
seed. Prints a Markdown table: hybrid, and the walk compared with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from question_sets import question_sets

from graphport import Entry, open_knowledge_base
from graphport.evaluation.measures import compare
from graphport.evaluation.questions import Question
from graphport.evaluation.run import evaluate
from graphport.evaluation.vectors import KeptVectors
from graphport.knowledge.embeddings import choose_embedder
from graphport.retrieval.report import sentences

SEED = 3
PASSAGES = 200
LEAST_WORDS = 8
WORDS = 6
MEASURES = ("recall@2", "recall@5", "mrr")


def main() -> None:
    arguments = _arguments()
    chosen = choose_embedder(arguments.embedder)
    kept = None if chosen is None else KeptVectors(chosen, arguments.cache)
    print("| set | questions | measure | hybrid | walk | walk to hybrid (95 %) | won / lost |")
    print("|---|---|---|---|---|---|---|")
    for folder, asked in question_sets(arguments.data, arguments.sets):
        found = asked.corpus
        whole = single_passage_questions(found)
        begun = [replace(question, text=" ".join(question.text.split()[:WORDS])) for question in whole]
        with open_knowledge_base(":memory:", embedder=kept) as kb:
            kb.add(replace(entry, title="") if arguments.untitled else entry for entry in found)
            for label, questions in (("a sentence", whole), ("six words of it", begun)):
                told = evaluate(kb, questions, ["hybrid", "walk"])
                for name in MEASURES:
                    ours, theirs = told["walk"].values[name], told["hybrid"].values[name]
                    against = compare(ours, theirs)
                    low, high = 100 * against.low, 100 * against.high
                    figures = f"{100 * theirs.mean():.1f} | {100 * ours.mean():.1f} | {100 * against.delta:+.1f}"
                    kind = f"{folder.name} | {len(questions)}: {label} | {name}"
                    print(f"| {kind} | {figures} ({low:+.1f} to {high:+.1f}) | {against.wins} / {against.losses} |")
        if kept is not None:
            kept.save()


def single_passage_questions(corpus: Sequence[Entry]) -> list[Question]:
    """One sentence of each of some passages; those without a fit one are left out."""
    rng = np.random.default_rng(SEED)
    questions: list[Question] = []
    for place in rng.permutation(len(corpus))[:PASSAGES].tolist():
        entry = corpus[place]
        fit = [
            sentence
            for sentence in sentences(entry.text)[1:]
            if len(sentence.split()) >= LEAST_WORDS and entry.title not in sentence
        ]
        if fit:
            questions.append(Question(entry.id, fit[int(rng.integers(len(fit)))], frozenset([entry.id])))
    return questions


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--untitled", action="store_true", help="take the passages' titles away")
    parser.add_argument("--cache", type=Path, default=Path("benchmarks/.vectors"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
