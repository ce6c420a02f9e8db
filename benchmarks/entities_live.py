"""One entity added to a library of 1,000 chapters against indexing the library again, in one run.

    python benchmarks/entities_live.py [--chapters 1000] [--words 2500] [--backend memory]

The library is books of 50 chapters in plain text, drawn from 20,000 words as natural language draws them (Zipf), with
a capitalised name every 40 words, a few names often and most seldom. Some names of each sort are added, asked for and
removed again, and every step ends with the graph up to date. Seconds are CPU seconds of this process; indexing again
is a new knowledge base over the same files, with the entities declared, without an embedder.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from graphport import KnowledgeBase, open_knowledge_base

T = TypeVar("T")
CHAPTERS_PER_BOOK = 50
WORDS, NAMES = 20_000, 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chapters", type=int, default=1000)
    parser.add_argument("--words", type=int, default=2500, help="words a chapter")
    parser.add_argument("--backend", default="memory")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="entities-live-") as scratch:
        books = Path(scratch) / "books"
        names = write_library(books, options.chapters, options.words)
        graph: dict[str, Any] = {"backend": options.backend}
        with open_knowledge_base(Path(scratch) / "first", config={"graph": graph}, embedder=None) as kb:
            first, _ = timed(lambda: kb.index([books]))
            report(kb, names, first)
            rows = [changed(kb, name) for name in (*names[:5], *names[100:105], *names[-5:])]
            declared = [{"type": "person", "names": [name]} for name in names]
        config = {"graph": graph, "vector_dbs": [{"name": "again", "entities": declared}]}
        with open_knowledge_base(Path(scratch) / "again", config=config, embedder=None) as kb:
            again, _ = timed(lambda: kb.index([books]))
    print(f"{'texts that mention it':>22}{'add s':>9}{'remove s':>10}{'find s':>9}{'again : add':>13}")
    for texts, add, remove, find in sorted(rows, reverse=True):
        print(f"{texts:22}{add:9.3f}{remove:10.3f}{find:9.3f}{again / add:12.0f}x")
    add = statistics.median(row[1] for row in rows)
    print(f"indexing again {again:.1f} s : one add_entity {add:.3f} s (median) = {again / add:.0f} : 1")


def report(kb: KnowledgeBase, names: list[str], seconds: float) -> None:
    status = kb.status()
    assert status.graph is not None
    chapters = status.graph.node_kinds.get("chapter", 0)
    print(
        f"{chapters} chapters, {status.entries} passages, {status.graph.edges} edges, {len(names)} names; "
        f"indexed in {seconds:.1f} s\n"
    )


def changed(kb: KnowledgeBase, name: str) -> tuple[int, float, float, float]:
    """Texts that mention the name, and the seconds of adding it, removing it and asking for it."""
    add, _ = timed(lambda: kb.add_entity("person", name))
    find, found = timed(lambda: kb.find_entity(name, "person"))
    assert found is not None
    remove, _ = timed(lambda: kb.remove_entity("person", name))
    return found.texts, add, remove, find


def timed(step: Callable[[], T]) -> tuple[float, T]:
    begin = time.process_time()
    answer = step()
    return time.process_time() - begin, answer


def write_library(folder: Path, chapters: int, length: int) -> list[str]:
    """Books of plain text; returns the names in them, the most frequent first."""
    chance = np.random.default_rng(11)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    sizes = chance.integers(2, 11, size=WORDS + NAMES)
    words = list(dict.fromkeys("".join(chance.choice(letters, size=size)) for size in sizes))
    names = [f"{word}ion".capitalize() for word in words[:NAMES]]
    folder.mkdir(parents=True)
    for book in range(0, chapters, CHAPTERS_PER_BOOK):
        parts = [f"Title: Book {book}\n"]
        for number in range(min(CHAPTERS_PER_BOOK, chapters - book)):
            parts += [f"\nCHAPTER {number + 1}\n\n", chapter_text(chance, words, names, length), "\n"]
        (folder / f"book-{book:05}.txt").write_text("".join(parts))
    return names


def chapter_text(chance: np.random.Generator, words: list[str], names: list[str], length: int) -> str:
    drawn = [words[rank] for rank in (chance.zipf(1.2, size=length) % len(words)).tolist()]
    for place in range(5, length, 40):
        drawn[place] = names[int(len(names) * chance.random() ** 3)]
    for place in range(11, length, 12):
        drawn[place] += ".\n\n" if place % 96 == 11 else "."
    return " ".join(drawn)


if __name__ == "__main__":
    main()
