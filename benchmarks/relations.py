"""What relations between entities cost, and what proposals are worth.

    python benchmarks/relations.py FOLDER

FOLDER as for ``benchmarks/entities.py``: ``kjv.jsonl`` and theographic-bible-metadata's tables. Each verse is an
entry, the people and places are declared. Prints, in one process, the cost of indexing and of one more entry
without relations, with ``co_occurs: 20``, and with the default patterns too; how many edges one more entry rewrites;
how many of the first names proposed with an empty gazetteer are people or places of the tables; and, with every
other one declared, how often the type suggested for a name of the others is right.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from entities import read_gazetteer, read_verses

from graphport import Entry, load_config
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import Entity
from graphport.knowledge.opening import open_knowledge_base
from graphport.matching import fold

ROUNDS = 5
SETTINGS: dict[str, dict[str, Any]] = {
    "none": {},
    "co_occurs: 20": {"co_occurs": 20},
    "co_occurs: 20, patterns: default": {"co_occurs": 20, "patterns": "default"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--backend", default="memory")
    options = parser.parse_args()
    verses = [Entry(verse, text) for verse, text in read_verses(options.folder)]
    gazetteer, _ = read_gazetteer(options.folder, "name")
    entities = [{"type": item.type, "names": list(item.names)} for item in gazetteer.effective]
    print(f"{len(verses)} entries, {len(entities)} entities, {options.backend}\n")
    print(f"{'relations':34}{'index, s':>10}{'one more, s':>13}{'edges':>9}{'rewritten':>11}")
    for label, relations in SETTINGS.items():
        base = {"name": "bench", "graph": {"backend": options.backend}, "entities": entities, "relations": relations}
        with tempfile.TemporaryDirectory() as folder:
            report(label, Path(folder) / "bench", {"vector_dbs": [base]}, verses)
    names = {fold(name) for item in gazetteer.effective for name in item.names}
    with open_knowledge_base(":memory:", embedder=None, config=load_config({})) as kb:
        kb.add(verses)
        begin = time.perf_counter()
        found = kb.propose_entities(limit=1000)
        print(f"\n{time.perf_counter() - begin:.1f} s for proposals; people or places by the tables are")
    for first in (100, 200, 500, 1000):
        print(f"{sum(fold(item.name) in names for item in found[:first]) / first:8.1%} of the first {first}")
    suggestions(verses, gazetteer.effective)


def suggestions(verses: Sequence[Entry], entities: Sequence[Entity]) -> None:
    types: dict[str, set[str]] = {}
    for item in entities:
        for name in item.names:
            types.setdefault(fold(name), set()).add(item.type)
    declared = [{"type": item.type, "names": list(item.names)} for item in entities[::2]]
    config = load_config({"vector_dbs": [{"name": "memory", "strategy": {"graph": False}, "entities": declared}]})
    with open_knowledge_base(":memory:", embedder=None, config=config) as kb:
        kb.add(verses)
        found = [item for item in kb.propose_entities(limit=200) if len(types.get(fold(item.name), ())) == 1]
    typed = [item for item in found if item.type]
    right = sum(item.type in types[fold(item.name)] for item in typed)
    print(
        f"\n{len(typed) / len(found):.0%} of {len(found)} names with one type get one, {right / len(typed):.0%} right"
    )


def report(label: str, folder: Path, config: dict[str, Any], verses: Sequence[Entry]) -> None:
    with open_knowledge_base(folder, config=config, embedder=None) as kb:
        begin = time.perf_counter()
        kb.add(verses)
        indexed = time.perf_counter() - begin
        spent: list[float] = []
        before = edges(kb)
        for number in range(ROUNDS):
            begin = time.perf_counter()
            kb.add([Entry(f"more {number}", "And David went up to Jerusalem with Joab.")])
            spent.append(time.perf_counter() - begin)
        after = edges(kb)
    moved = sum(before.get(key) != after.get(key) for key in before.keys() | after.keys())
    print(f"{label:34}{indexed:10.1f}{sorted(spent)[ROUNDS // 2]:13.2f}{len(after):9}{moved / ROUNDS:11.1f}")


def edges(kb: KnowledgeBase) -> dict[Any, float]:
    """Weights of the edges between entities."""
    kinds = [kind for kind, _ in kb.storage.counts().edge_kinds.items() if kind not in ("mentions", "titled")]
    return {edge.key: edge.weight for edge in kb.storage.iter_edges(kinds=kinds)}


if __name__ == "__main__":
    main()
