"""What reading and linking code costs: a whole package against one edit, in one run.

    python benchmarks/code_indexing.py [FOLDER ...]

Without folders: this repository and networkx as it is installed. The two steps of the builder are timed alone (what
the knowledge base adds for search is not in it), in CPU seconds; memory is the peak of the process beyond what it held
before. An edit is a new line inside one function, the costliest and the median of `EDITS` files spread over the folder;
the caller is played as the knowledge base plays it: documents that looked up a changed definition link again.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import resource
import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graphport.builders import Document, Extraction
from graphport_code import CodeBuilder

EDITS = 20
ROOT = Path(__file__).resolve().parents[1]
Row = tuple[str, Mapping[str, Any]]


class Caller:
    """Documents, their definitions by name, and who looked up what."""

    def __init__(self) -> None:
        self.builder = CodeBuilder()
        self.extractions: dict[str, Extraction] = {}
        self.definitions: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
        self.lookups: dict[str, set[str]] = {}
        self.facts: dict[str, int] = {}

    def extract(self, path: str, text: str) -> set[str]:
        """Read a document; the names whose definitions changed."""
        old = self.extractions.get(path)
        before = grouped(old) if old is not None else {}
        self.extractions[path] = extraction = self.builder.extract(Document(path, text))
        after = grouped(extraction)
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        for name in changed:
            self.definitions.setdefault(name, {}).pop(path, None)
            if name in after:
                self.definitions[name][path] = after[name]
        return changed

    def link(self, path: str) -> None:
        asked: set[str] = set()

        def lookup(name: str) -> Sequence[Row]:
            asked.add(name)
            found = self.definitions.get(name, {})
            return [(other, data) for other in sorted(found) for data in found[other]]

        self.facts[path] = len(self.builder.link(path, self.extractions[path], lookup).facts)
        self.lookups[path] = asked

    def edit(self, path: str, text: str) -> int:
        """Replace a document; how many linked again."""
        changed = self.extract(path, text)
        waiting = sorted({path} | {other for other, asked in self.lookups.items() if asked & changed})
        for other in waiting:
            self.link(other)
        return len(waiting)


def grouped(extraction: Extraction) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for definition in extraction.definitions:
        found.setdefault(definition.name, []).append(definition.data)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    folders: list[Path] = parser.parse_args().folders or [ROOT, installed("networkx")]
    for folder in folders:
        print("\n".join(f"{label:44} {value}" for label, value in measured(folder)), end="\n\n")


def installed(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def measured(folder: Path) -> list[tuple[str, str]]:
    caller = Caller()
    texts = {
        file.relative_to(folder.parent).as_posix(): file.read_text(encoding="utf-8", errors="replace")
        for file in sorted(folder.rglob("*"))
        if file.is_file() and caller.builder.accepts(file.name) and ".venv" not in file.relative_to(folder).parts
    }
    lines = sum(text.count("\n") for text in texts.values())
    before = peak()
    started = time.process_time()
    for path, text in texts.items():
        caller.extract(path, text)
    extracted = time.process_time() - started
    for path in texts:
        caller.link(path)
    whole = time.process_time() - started
    memory = peak() - before
    stored = sum(
        len(json.dumps([item.data, [d.data for d in item.definitions]])) for item in caller.extractions.values()
    )
    edits = [edited(caller, path, texts[path]) for path in chosen(texts)]
    costs, linked = [cost for cost, _ in edits], [count for _, count in edits]
    apart = f"{lines / extracted:,.0f} / {lines / (whole - extracted):,.0f}"
    return [
        ("this repository" if folder == ROOT else folder.name, ""),
        ("files, lines, facts", f"{len(texts)}, {lines}, {sum(caller.facts.values())}"),
        ("files and lines a second, both steps", f"{len(texts) / whole:.0f}, {lines / whole:,.0f}"),
        (
            "lines a second, extract alone / link alone",
            apart,
        ),
        ("peak memory, MiB; extracted JSON, MB", f"{memory / 2**10:.0f}; {stored / 1e6:.1f}"),
        ("everything again : one edit, median of edits", f"{whole / statistics.median(costs):,.0f} : 1"),
        ("everything again : one edit, costliest", f"{whole / max(costs):,.0f} : 1"),
        (
            "files linked by an edit, median and most",
            f"{statistics.median(linked):.0f}, {max(linked)}",
        ),
    ]


def chosen(texts: Mapping[str, str]) -> list[str]:
    """Python files with functions, spread over the folder."""
    paths = [
        path for path, text in texts.items() if path.endswith(".py") and re.search(r"^    return ", text, re.MULTILINE)
    ]
    return paths[:: max(1, len(paths) // EDITS)][:EDITS]


def edited(caller: Caller, path: str, text: str) -> tuple[float, int]:
    """CPU seconds of an edit inside a function, and how many files it linked."""
    changed = re.sub(r"^    return ", "    # changed\n    return ", text, count=1, flags=re.MULTILINE)
    started = time.process_time()
    linked = caller.edit(path, changed)
    return time.process_time() - started, linked


def peak() -> int:
    """KiB that the process has held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
