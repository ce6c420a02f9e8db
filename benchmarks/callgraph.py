"""Precision and recall of call edges on the PyCG micro-benchmark, beside two simpler rules, in one run.

    python benchmarks/callgraph.py [--cache FOLDER]

The truth are the expected call graphs of 118 snippets in the source distribution ``pycg==0.0.8`` (Salis et al., "PyCG:
Practical Call Graph Generation in Python", ICSE 2021), Apache-2.0. Only edges inside a snippet's own files count. A
lambda has no node here: its calls belong to the function around it, and the truth is read so.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from code_edges import MODES, Place, percent, read_project, source_distribution

CAUSES = {
    "decorators/return_different_func": "false: a call of a decorated function also counts as one of what it wraps",
    "dynamic/eval": "missed: code in a string",
    "mro/self_assignment": "missed: the truth lets a method of B run on an object of its subclass that overrides it",
}
"""What is behind each snippet that is not exactly right; anything else is printed as unexplained."""

Edge = tuple[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, help="where to keep the download")
    cache = parser.parse_args().cache
    snippets = source_distribution("pycg==0.0.8", cache) / "micro-benchmark" / "snippets"
    found: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    true: Counter[str] = Counter()
    wrong: list[str] = []
    for file in sorted(snippets.glob("*/*/callgraph.json")):
        category, name = file.parent.parts[-2:]
        truth = expected(file)
        true[category] += len(truth)
        project = read_project(file.parent)
        for mode in MODES:
            edges = {(dotted(source), dotted(target)) for source, target in project.edges[mode]}
            found[category, mode] += len(edges)
            right[category, mode] += len(edges & truth)
            if mode == MODES[1]:
                wrong += differences(f"{category}/{name}", edges, truth)
    print_table(true, found, right)
    print("\nNot as expected:")
    for line in wrong:
        print(f"  {line}")


def expected(file: Path) -> set[Edge]:
    """The edges between names of the snippet's own modules, calls in lambdas as those of what is around them."""
    modules = {dotted((path.relative_to(file.parent).as_posix(), "")) for path in file.parent.rglob("*.py")}
    graph = json.loads(file.read_text(encoding="utf-8"))
    return {
        (without_lambdas(source), target)
        for source, targets in graph.items()
        for target in targets
        if inside(source, modules) and inside(target, modules) and "<lambda" not in target
    }


def inside(name: str, modules: set[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def without_lambdas(name: str) -> str:
    return re.sub(r"(\.<lambda\d+>)+", "", name)


def dotted(place: Place) -> str:
    module = place[0].removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return f"{module}.{place[1]}" if place[1] else module


def differences(snippet: str, edges: set[Edge], truth: set[Edge]) -> Iterator[str]:
    cause = CAUSES.get(snippet, "unexplained")
    for word, rows in (("false", edges - truth), ("missed", truth - edges)):
        for source, target in sorted(rows):
            yield f"{snippet}: {word} {source} -> {target} ({cause})"


def print_table(true: Counter[str], found: Counter[tuple[str, str]], right: Counter[tuple[str, str]]) -> None:
    print(f"{'precision / recall':14} {'edges':>5}  " + "  ".join(f"{mode:>20}" for mode in MODES))
    for category in sorted(true):
        cells = [cell(right[category, mode], found[category, mode], true[category]) for mode in MODES]
        print(f"{category:14}     {true[category]:5}  " + "  ".join(cells))
    totals = []
    for mode in MODES:
        hits = sum(right[category, mode] for category in true)
        made = sum(found[category, mode] for category in true)
        totals.append(cell(hits, made, true.total()))
    print(f"{'all':14}     {true.total():5}  " + "  ".join(totals))


def cell(right: int, found: int, true: int) -> str:
    return f"{percent(right, found):>12} / {percent(right, true)}"


if __name__ == "__main__":
    main()
