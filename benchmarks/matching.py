"""Megabytes a second of finding names: the matcher beside a compiled ``re`` alternation, in one run.

    python benchmarks/matching.py [--megabytes 4] [--regex-limit 10000]

The text is 170,000 words a megabyte, drawn from 20,000 words as natural language draws them (Zipf), with punctuation
and one accented word in a hundred. Names are two to four words; each in fifty of them stands in the text about once in
ten kilobytes. The alternation is ``\\b(?:name|name|...)\\b``, longest first, case-insensitive, and is timed on as much
text as it gets through in some seconds.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from graphport.matching import Matcher

SIZES = (100, 10_000, 100_000)
WORDS = 20_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=4)
    parser.add_argument("--regex-limit", type=int, default=10_000, help="names above which `re` is not tried")
    options = parser.parse_args()
    chance = np.random.default_rng(7)
    words = vocabulary(chance)
    picks = chance.integers(0, len(words), size=(SIZES[-1] + 2000, 4)).tolist()
    made = (" ".join(words[pick] for pick in row[: 2 + number % 3]).title() for number, row in enumerate(picks))
    names = list(dict.fromkeys(made))
    print(f"{'names':>8}{'build s':>9}{'matcher MB/s':>14}{'re MB/s':>10}{'ratio':>8}{'matches':>9}")
    for size in SIZES:
        text = prose(chance, words, names[:size], int(options.megabytes * 1e6))
        begin = time.perf_counter()
        matcher = Matcher({name: [name] for name in names[:size]})
        build = time.perf_counter() - begin
        ours, found = speed(partial(count_matches, matcher), text, len(text))
        line = f"{size:8}{build:9.2f}{ours:14.1f}"
        if size <= options.regex_limit:
            pattern = re.compile(
                r"\b(?:" + "|".join(map(re.escape, sorted(names[:size], key=len, reverse=True))) + r")\b", re.IGNORECASE
            )
            part = min(len(text), 4_000_000 // size)
            theirs, same = speed(partial(count_hits, pattern), text, part)
            agrees = same == len(matcher.find(text[:part]))
            line += f"{theirs:10.2f}{ours / theirs:8.0f}" + ("" if agrees else "  they disagree!")
        else:
            line += f"{'-':>10}{'-':>8}"
        print(f"{line}{found:9}")


def count_matches(matcher: Matcher, text: str) -> int:
    return len(matcher.find(text))


def count_hits(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))


def speed(find: Callable[[str], int], text: str, size: int) -> tuple[float, int]:
    """Best of three, in MB/s of CPU time, and the number of matches."""
    part = text[:size]
    seconds: list[float] = []
    found = 0
    for _ in range(3):
        begin = time.process_time()
        found = find(part)
        seconds.append(time.process_time() - begin)
    return len(part) / 1e6 / min(seconds), found


def vocabulary(chance: np.random.Generator) -> list[str]:
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    made = ["".join(chance.choice(letters, size=size)) for size in chance.integers(2, 11, size=WORDS + 2000)]
    words = list(dict.fromkeys(made))[:WORDS]
    return [word.replace("e", "é", 1) if number % 100 == 99 else word for number, word in enumerate(words)]


def prose(chance: np.random.Generator, words: list[str], names: list[str], size: int) -> str:
    ranks = chance.zipf(1.2, size=size // 5) % len(words)
    parts = [words[rank] for rank in ranks]
    for place in range(0, len(parts), 2000):
        parts[place] = names[int(chance.integers(0, max(1, len(names) // 50)))]
    for place in range(11, len(parts), 12):
        parts[place] += "."
    return " ".join(parts)[:size]


if __name__ == "__main__":
    main()
