"""Search with the graph on against off, and indexing of a folder, in one run.

    python benchmarks/knowledge_base.py [--entries 100000] [--queries 100] [--folder PATH]

Prints one table. Entries are synthetic: 60 words of a Zipf vocabulary, a title each, and the titles of two others in
the text, so that the graph has passages, phrases and some three edges an entry. Vectors are random, so that the dense
leg costs what it costs. Times are of this process; graph on and off take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import numpy as np

from graphport import Entry, open_knowledge_base
from graphport.knowledge.base import KnowledgeBase

WIDTH = 384


def entries(count: int, rng: np.random.Generator) -> list[Entry]:
    vocabulary = np.array([f"word{rank}" for rank in range(20_000)])
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    words = rng.choice(vocabulary, size=(count, 60), p=weights / weights.sum())
    others = rng.integers(count, size=(count, 2))
    return [
        Entry(f"e{row}", f"{' '.join(words[row])} {title(others[row, 0])} and {title(others[row, 1])}.", title(row))
        for row in range(count)
    ]


def title(row: int) -> str:
    return f"Topic{row % 997} Number{row}"


def search_table(count: int, queries: int) -> list[tuple[str, str]]:
    rng = np.random.default_rng(1)

    def embedder(texts: list[str]) -> np.ndarray:
        return rng.standard_normal((len(texts), WIDTH), dtype=np.float32)

    with tempfile.TemporaryDirectory() as folder, open_knowledge_base(Path(folder) / "base", embedder=embedder) as kb:  # type: ignore[arg-type]
        started = time.perf_counter()
        kb.add(entries(count, rng))
        added = time.perf_counter() - started
        off, on = timings(kb, count, queries, rng)
        rows = [
            (f"entries added a second ({count} entries, vectors ready)", f"{count / added:,.0f}"),
            ("graph", str(kb.storage.counts())),
        ]
    p50_off, p50_on = median(off), median(on)
    return [
        *rows,
        ("search, graph off, p50 / p90 ms", f"{p50_off * 1e3:.2f} / {quantiles(off, n=10)[-1] * 1e3:.2f}"),
        ("search, graph on, p50 / p90 ms", f"{p50_on * 1e3:.2f} / {quantiles(on, n=10)[-1] * 1e3:.2f}"),
        ("graph on / graph off, p50", f"{p50_on / p50_off:.2f}"),
    ]


def timings(kb: KnowledgeBase, count: int, queries: int, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    asked = [f"what is word{rng.integers(2000)} to {title(int(rng.integers(count)))}" for _ in range(queries)]
    for graph in (False, True):  # the snapshot and the matrix are built once, not per query
        kb.search(asked[0], graph=graph)
    spent: dict[bool, list[float]] = {False: [], True: []}
    for question in asked:
        for graph in (False, True):
            started = time.perf_counter()
            kb.search(question, graph=graph, top_k=8)
            spent[graph].append(time.perf_counter() - started)
    return spent[False], spent[True]


def index_table(source: Path) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        rows: list[tuple[str, str]] = []
        seconds = {}
        for embedder in ("none", "wordllama", "minilm"):
            with open_knowledge_base(Path(folder) / embedder, embedder=embedder) as kb:
                started = time.perf_counter()
                report = kb.index([source])
                seconds[embedder] = time.perf_counter() - started
                started = time.perf_counter()
                kb.index([source])
                again = time.perf_counter() - started
            what = f"index {report.added} files, {report.entries} entries, embedder {embedder}"
            files, found = report.added / seconds[embedder], report.entries / seconds[embedder]
            share = again / seconds[embedder]
            rows.append((what, f"{files:,.0f} files/s, {found:,.0f} entries/s, unchanged again: {share:.3f} of that"))
        return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args()
    for name, value in [*search_table(options.entries, options.queries), *index_table(options.folder)]:
        print(f"{name:70} {value}")


if __name__ == "__main__":
    main()
