"""Search with the graph on against off, and indexing of a folder, in one run.

    python benchmarks/knowledge_base.py [--entries 100000] [--queries 100] [--processes 5] [--folder PATH]

Prints one table. Entries are synthetic: 60 words of a Zipf vocabulary, a title each, and the titles of two others in
the text, so that the graph has passages, phrases and some three edges an entry. Vectors are random, so that the dense
leg costs what it costs.

The knowledge base is opened in fresh processes, one after the other: how fast the dense leg is depends on where its
matrix comes to lie. In each, graph on and off take turns at every question, and a ratio is that of their medians. The
table has the medians over the processes, and the least and the greatest ratio; "CPU" is the time of all threads of
the process. Questions name one entry, as most do, two, or none. BLAS has one thread unless OMP_NUM_THREADS says more:
its idle ones would spin, and count as CPU time of whatever comes after the dense leg.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy

import numpy as np
from numpy.typing import NDArray

from graphport import Entry, KnowledgeBase, open_knowledge_base

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


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    seeds = [zlib.crc32(text.encode()) for text in texts]  # a text has one vector, in every process
    return np.stack([np.random.default_rng(seed).standard_normal(WIDTH, dtype=np.float32) for seed in seeds])


QUESTIONS: Mapping[str, Callable[[Sequence[int], Sequence[str]], str]] = {
    "one name": lambda words, titles: f"what is word{words[0]} to {titles[0]}",
    "two names": lambda words, titles: f"what is word{words[0]} to {titles[0]} and {titles[1]}",
    "no name": lambda words, _titles: f"what is word{words[0]} to word{words[1]} and word{words[2]}",
}

Spent = dict[str, list[tuple[float, float, float, float]]]
"""By kind of question: wall and CPU seconds with the graph off, then on, of each."""


def search_table(count: int, queries: int, processes: int) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        with open_knowledge_base(base, embedder=vectors) as kb:
            started = time.perf_counter()
            kb.add(entries(count, np.random.default_rng(1)))
            added = time.perf_counter() - started
            rows = [
                (f"entries added a second ({count} entries)", f"{count / added:,.0f}"),
                ("graph", str(kb.storage.counts())),
            ]
        command = [sys.executable, __file__, "--measure", str(base), "--queries", str(queries)]
        runs: list[Spent] = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(processes)
        ]
    for number, (label, column) in enumerate({"off": 0, "on": 2}.items()):
        wall = [[one[column] for one in run["one name"]] for run in runs]
        p50, p90 = median(map(median, wall)), median(quantiles(times, n=10)[-1] for times in wall)
        rows.insert(2 + number, (f"search, graph {label}, p50 / p90 ms", f"{p50 * 1e3:.2f} / {p90 * 1e3:.2f}"))
    return rows + [row for kind in QUESTIONS for row in _ratios(kind, [run[kind] for run in runs])]


def _ratios(kind: str, runs: Sequence[list[tuple[float, float, float, float]]]) -> list[tuple[str, str]]:
    shown: list[tuple[str, str]] = []
    suffix = "" if kind == "one name" else f", {kind}"
    for what, column in (("", 0), (", CPU", 1)):
        pairs = [[median(one[at] for one in run) for at in (column, column + 2)] for run in runs]
        ratios = sorted(on / off for off, on in pairs)
        adds = median(on - off for off, on in pairs)
        spread = f"({ratios[0]:.2f} to {ratios[-1]:.2f} in {len(runs)} processes; it adds {adds * 1e3:.2f} ms)"
        shown.append((f"graph on / graph off, p50{suffix}{what}", f"{median(ratios):.2f} {spread}"))
    return shown


def measure(folder: Path, queries: int) -> Spent:
    rng = np.random.default_rng(2)
    with open_knowledge_base(folder, embedder=vectors) as kb:
        count = kb.status().entries
        for graph in (False, True):  # the indexes, the snapshot and the matrix are built once, not per query
            kb.search("what is word1 to word2", graph=graph)
        spent: Spent = {kind: [] for kind in QUESTIONS}
        for _ in range(queries):
            for kind, ask in QUESTIONS.items():
                words, rows = rng.integers(2000, size=3).tolist(), rng.integers(count, size=2).tolist()
                question = ask(words, [title(row) for row in rows])
                spent[kind].append((*_timed(kb, question, graph=False), *_timed(kb, question, graph=True)))
    return spent


def _timed(kb: KnowledgeBase, question: str, *, graph: bool) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    kb.search(question, graph=graph, top_k=8)
    return time.perf_counter() - wall, time.process_time() - cpu


def index_table(source: Path) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        rows: list[tuple[str, str]] = []
        seconds: dict[str, float] = {}
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
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.queries)))
        return
    table = search_table(options.entries, options.queries, options.processes)
    for name, value in [*table, *index_table(options.folder)]:
        print(f"{name:70} {value}")


if __name__ == "__main__":
    main()
