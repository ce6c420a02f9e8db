"""One write to a large knowledge base, and the search after it, against a search alone and indexing anew, in one run.

    python benchmarks/live_writes.py [--entries 100000] [--repeat 15] [--backend memory] [--search fuzzy]

The base is that of `knowledge_base.py`: entries with a title each and the titles of two others in the text, and vectors
of 384 numbers; and a folder of text files, one for a hundred entries. Every write is made ``--repeat`` times with
something else. Milliseconds are CPU time of this process, so waiting for the disk is not in them; the last column has
the time on the clock. ``more`` is what a write and the search after it cost beyond a search alone.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: idle threads of BLAS spin, and that is CPU time

import argparse
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from knowledge_base import WIDTH, entries, title

from graphport import Entry, open_knowledge_base
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import entity

Write = Callable[[], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--backend", default="memory")
    parser.add_argument("--search", default="containment", help="linkers of the search, with commas between")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="live-writes-") as scratch:
        folder = Path(scratch) / "texts"
        write_files(folder, options.entries // 100)
        config = {"graph": {"backend": options.backend}}
        with open_knowledge_base(Path(scratch) / "base", config=config, embedder=embedder) as kb:  # type: ignore[arg-type] - a plain list of texts
            began = time.process_time()
            kb.add(entries(options.entries, np.random.default_rng(1)))
            kb.index([folder])
            anew = time.process_time() - began
            report(kb, folder, options, anew)


def report(kb: KnowledgeBase, folder: Path, options: argparse.Namespace, anew: float) -> None:
    searches = asking(kb, options.entries, options.search.split(","))
    next(searches)
    alone = median(cpu(lambda: next(searches))[0] for _ in range(options.repeat))
    print(f"{options.entries} entries, indexed anew in {anew:.1f} s; a search alone {alone:.2f} ms\n")
    print(f"{'':34}{'write':>8}{'search':>8}{'more':>8}{'anew : more':>13}{'clock':>8}")
    for name, steps in writes(kb, folder, options.entries, options.repeat).items():
        rows = [(*cpu(step), cpu(lambda: next(searches))[0]) for step in steps]
        write, clock, after = (median(column) for column in zip(*rows, strict=True))
        more = write + after - alone
        print(f"{name:34}{write:8.1f}{after:8.1f}{more:8.1f}{anew * 1e3 / more:12,.0f}x{clock:8.1f}")


def writes(kb: KnowledgeBase, folder: Path, size: int, repeat: int) -> dict[str, Sequence[Write]]:
    """The writes of each kind, each with something else, in the order they are to be made."""

    def many(write: Callable[[int], object]) -> list[Write]:
        return [lambda row=row: write(row) for row in range(repeat)]  # type: ignore[misc] - a default is no argument

    def new(row: int, text: str = "word1 word2", name: str | None = None) -> list[Entry]:
        return [
            Entry(
                f"new{row}", f"{text} {title(row * 31 % size)} and {title(row * 77 % size)}.", name or title(size + row)
            )
        ]

    def change_file(row: int) -> None:
        file = folder / f"{row % max(1, size // 100)}.txt"
        file.write_text(f"{file.read_text()} Changed once more, see {title(row * 13 % size)}.")
        kb.index([folder])

    return {
        "add an entry with a new name": many(lambda row: kb.add(new(row))),
        "add it again, with another text": many(lambda row: kb.add(new(row, "word3 word4"))),
        "add it again, with another name": many(lambda row: kb.add(new(row, name=f"Renamed Thing{row}"))),
        "flag an entry": many(lambda row: kb.flag(f"e{row * 101 % size}")),
        "show it again": many(lambda row: kb.flag(f"e{row * 101 % size}", flagged=False)),
        "remove an entry": many(lambda row: kb.remove([f"new{row}"])),
        "add an entity that texts name": many(lambda row: kb.add_entity("topic", title(row * 17 % size))),
        "add a name to it": many(lambda row: kb.add_entity("topic", [title(row * 17 % size), f"Alias of {row}"])),
        "remove the entity": many(lambda row: kb.remove_entity("topic", title(row * 17 % size))),
        "accept ten entities": many(
            lambda row: kb.import_entities(entity("person", f"Person{row} Number{part}") for part in range(10))
        ),
        "index, one file changed": many(change_file),
        "index, nothing changed": [lambda: kb.index([folder])] * repeat,
        "find an entity after an entry": many(lambda row: (kb.add(new(row)), kb.find_entity(f"Person{row} Number1"))),
    }


def asking(kb: KnowledgeBase, size: int, linkers: Sequence[Any]) -> Iterator[object]:
    for row in count():
        question = f"what is word{row % 2000} to {title(row * 7919 % size)}"
        yield kb.search(question, graph=True, top_k=8, linkers=linkers)


def cpu(step: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of CPU time and on the clock."""
    began, clock = time.process_time(), time.perf_counter()
    step()
    return (time.process_time() - began) * 1e3, (time.perf_counter() - clock) * 1e3


def write_files(folder: Path, files: int) -> None:
    folder.mkdir()
    for row in range(files):
        text = f"Of {title(row)} and word{row % 500}.\n\nThen {title(row * 3)} comes."
        (folder / f"{row}.txt").write_text(text)
        past = time.time() - 60
        os.utime(folder / f"{row}.txt", (past, past))


def embedder(texts: list[str]) -> np.ndarray:
    """Vectors that are noise, and the same for the same text."""
    made = [np.random.default_rng(zlib.crc32(text.encode())).standard_normal(WIDTH, dtype=np.float32) for text in texts]
    return np.stack(made)


if __name__ == "__main__":
    main()
