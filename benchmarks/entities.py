"""Precision and recall of mentions and of the entity each one means, against hand-made annotations.

    python benchmarks/entities.py FOLDER [--names title]

FOLDER holds ``kjv.jsonl`` (``_id``, ``text``) and theographic-bible-metadata's ``Books.csv``, ``People.csv`` and
``Places.csv`` (CC BY-SA 4.0), which name the people and places of every verse. What counts is a pair of entity and
verse. The gazetteer is made of their names alone; no verse reference reaches the resolver.

An entity is ``entity:{type}:{canonical name}``, so that people of one name are one entity, as in any gazetteer.
``--names title`` tells those apart that the data gives a title ("Joseph (son of Jacob)"), ``--names row`` gives every
row of the data a canonical name of its own, which stands in no text: of nine people called Joseph and nothing else,
names alone cannot tell which is meant, and the one with more names or the first row is taken.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from graphport.knowledge.disambiguation import Reading, resolve_mentions
from graphport.knowledge.entities import Entity, entity
from graphport.knowledge.gazetteer import Gazetteer

Pair = tuple[str, str]


class Library:
    """Chapters as texts, one verse a line."""

    def __init__(self, folder: Path) -> None:
        self.texts: dict[str, str] = {}
        self._verses: dict[str, list[tuple[int, str]]] = {}
        for verse, text in read_verses(folder):
            chapter = verse.rpartition(".")[0]
            before = self.texts.get(chapter, "")
            self._verses.setdefault(chapter, []).append((len(before), verse))
            self.texts[chapter] = f"{before}{text}\n"

    def verse(self, chapter: str, position: int) -> str:
        verses = self._verses[chapter]
        return verses[bisect_right(verses, position, key=lambda row: row[0]) - 1][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", choices=("name", "title", "row"), default="name")
    options = parser.parse_args()
    library = Library(options.folder)
    gazetteer, truth = read_gazetteer(options.folder, options.names)
    print(f"{len(gazetteer.effective)} entities, {len(gazetteer.shared_names())} shared names, {len(truth)} pairs\n")

    begin = time.perf_counter()
    readings = resolve_mentions(library.texts, gazetteer)
    seconds = time.perf_counter() - begin
    times = Counter(item for item, _ in truth)
    right = truth_by_verse(truth)
    capitalised = dict(mentions(library, gazetteer))
    print(f"{'precision / recall':36}{'all':>14}{'person':>14}{'location':>14}")
    report("every entity that has the name", pairs(capitalised, lambda ids, _: ids), truth)
    report(
        "the most frequent (told the truth)",
        pairs(capitalised, lambda ids, _: [max(ids, key=lambda i: (times[i], i))]),
        truth,
    )
    report("resolved", set(resolved(library, readings)), truth)
    report(
        "the right one, where there is one",
        pairs(capitalised, lambda ids, verse: sorted(right[verse] & set(ids)) or ids[:1]),
        truth,
    )
    print(f"\n{sum(map(len, readings.values()))} mentions resolved in {seconds:.1f} s. Decided by")
    for reasons, count in Counter(reading.decided_by for found in readings.values() for reading in found).most_common():
        print(f"{count:8}  {', '.join(reasons)}")


def mentions(library: Library, gazetteer: Gazetteer) -> Iterator[tuple[tuple[str, int], tuple[tuple[str, ...], str]]]:
    """Mentions written with a capital: where, their candidates, and the verse."""
    for chapter, text in library.texts.items():
        for match in gazetteer.matcher.find(text):
            if text[match.start].isupper():
                yield (chapter, match.start), (match.ids, library.verse(chapter, match.start))


def pairs(
    found: Mapping[tuple[str, int], tuple[tuple[str, ...], str]], choose: Callable[[Sequence[str], str], Iterable[str]]
) -> set[Pair]:
    return {(item, verse) for ids, verse in found.values() for item in choose(ids, verse)}


def resolved(library: Library, readings: Mapping[str, Sequence[Reading]]) -> Iterator[Pair]:
    for chapter, found in readings.items():
        for reading in found:
            if reading.id is not None:
                yield reading.id, library.verse(chapter, reading.start)


def report(what: str, found: set[Pair], truth: set[Pair]) -> None:
    cells = [what.ljust(36)]
    for kind in ("", "person:", "location:"):
        ours = {pair for pair in found if pair[0].startswith(f"entity:{kind}")}
        theirs = {pair for pair in truth if pair[0].startswith(f"entity:{kind}")}
        both = len(ours & theirs)
        cells.append(f"{100 * both / len(ours):.1f} / {100 * both / len(theirs):.1f}".rjust(14))
    print("".join(cells))


def truth_by_verse(truth: set[Pair]) -> defaultdict[str, set[str]]:
    right: defaultdict[str, set[str]] = defaultdict(set)
    for item, verse in truth:
        right[verse].add(item)
    return right


def read_verses(folder: Path) -> Iterator[tuple[str, str]]:
    """Verses as ``Gen.1.1`` and their text."""
    codes = [row["osisName"] for row in read_csv(folder / "Books.csv")]
    code_of: dict[str, str] = {}
    for line in (folder / "kjv.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        book, _, place = row["_id"].rpartition(" ")
        code = code_of.setdefault(book, codes[min(len(code_of), len(codes) - 1)])
        yield f"{code}.{place.replace(':', '.')}", row["text"]


def read_gazetteer(folder: Path, names: str) -> tuple[Gazetteer, set[Pair]]:
    """The gazetteer of all named people and places, and the pairs of entity and verse."""
    rows = [*read_people(folder, names), *read_places(folder, names)]
    gazetteer = Gazetteer(tuple(item for item, _ in rows))
    ids = {item.key: item.id for item in gazetteer.effective}
    return gazetteer, {(ids[item.key], verse) for item, verses in rows for verse in verses}


def read_people(folder: Path, names: str) -> Iterator[tuple[Entity, list[str]]]:
    for row in read_csv(folder / "People.csv"):
        known = [row["name"], *split(row["alsoCalled"])]
        if row["isProperName"] and row["verses"]:
            yield entity("person", [*canonical(row, "personLookup", names), *known]), split(row["verses"])


def read_places(folder: Path, names: str) -> Iterator[tuple[Entity, list[str]]]:
    for row in read_csv(folder / "Places.csv"):
        known = [row["kjvName"] or row["displayTitle"], *split(row["aliases"])]
        if row["verses"]:
            yield entity("location", [*canonical(row, "placeLookup", names), *known]), split(row["verses"])


def canonical(row: Mapping[str, str], key: str, names: str) -> list[str]:
    return {"name": [], "title": [row["displayTitle"]], "row": [row[key]]}[names]


def split(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(",") if part.strip()]


def read_csv(file: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(10**8)
    with file.open(encoding="utf-8-sig", newline="") as lines:
        yield from csv.DictReader(lines)


if __name__ == "__main__":
    main()
