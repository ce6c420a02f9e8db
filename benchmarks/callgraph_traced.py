"""Precision and recall of call edges on real packages, against the calls their own tests make, in one run.

    python benchmarks/callgraph_traced.py [--cache FOLDER] [--misses N] [PACKAGE ...]

Each package's source distribution is downloaded, its tests run under a profiler, and every call from a function of
the package to another one is written down with its line. Recall is the share of those calls that the graph has.
Precision is judged only where the tests went: of the edges whose line made some call into the package, the share
whose target was among the calls of that line, or was overridden by one of them. A target that no test reached is
thus counted as wrong, so precision is a lower bound. ``up to overriding`` counts a call of an override as found if
the graph has the method it overrides. What Python calls by itself (properties, operators, class bodies) is left out,
and so are generators and coroutines: calling one runs nothing of it, and the profiler sees only who resumes it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from code_edges import MODES, Edges, Place, Project, percent, read_project, source_distribution


@dataclass(frozen=True)
class Package:
    """A source distribution with tests that need nothing but what the development environment has."""

    requirement: str
    folder: str
    tests: tuple[str, ...] = ("tests",)
    needs: tuple[str, ...] = ()


PACKAGES = {
    "click": Package("click==8.1.7", "src/click"),
    "jinja2": Package("jinja2==3.1.4", "src/jinja2", needs=("markupsafe",)),
    "sqlparse": Package("sqlparse==0.5.1", "sqlparse"),
    "markdown": Package(
        "Markdown==3.6", "markdown", ("tests/test_apis.py", "tests/test_legacy.py", "tests/test_meta.py")
    ),
    "mistune": Package("mistune==3.0.2", "src/mistune"),
    "tomlkit": Package(
        "tomlkit==0.13.2", "tomlkit", ("tests/test_api.py", "tests/test_items.py", "tests/test_write.py")
    ),
    "parso": Package("parso==0.8.4", "parso", ("test",)),
    "mako": Package("Mako==1.3.5", "mako", ("test",), ("markupsafe",)),
    "marko": Package("marko==2.1.2", "marko"),
}
"""The first six were looked at while the resolver was written, marko for one cause; parso and mako never."""
BY_ITSELF = re.compile(r"__(?!init__|new__|call__|enter__|exit__|iter__|next__)\w+__$")
PROFILER = """
import json, os, sys, threading
package, out, *tests = sys.argv[1:]
root = os.path.dirname(package)
sys.path.insert(0, root)
places, edges = {}, set()
def place(code):
    if code not in places:
        name = code.co_filename
        inside = name.startswith(package + os.sep)
        places[code] = (os.path.relpath(name, root), code.co_qualname) if inside else None
    return places[code]
def profile(frame, event, argument):
    if event == "call" and frame.f_back is not None:
        callee, caller = place(frame.f_code), place(frame.f_back.f_code)
        if callee and caller:
            edges.add((*caller, frame.f_back.f_lineno, *callee))
import pytest
threading.setprofile(profile)
sys.setprofile(profile)
pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "--no-header", *tests])
sys.setprofile(None)
json.dump(sorted(edges), open(out, "w"))
"""


@dataclass
class Trace:
    """Calls that were made, each with its lines, and what each line called."""

    calls: dict[tuple[Place, Place], set[int]] = field(default_factory=lambda: defaultdict(set))
    lines: dict[tuple[Place, int], set[Place]] = field(default_factory=lambda: defaultdict(set))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=", ".join(PACKAGES))
    parser.add_argument("--cache", type=Path, help="where to keep the downloads")
    parser.add_argument("--misses", type=int, default=0, help="print so many missed and wrong edges of each package")
    options = parser.parse_args()
    print(f"{'package':10} {'calls':>6}  {'edges':22} precision  recall  recall up to overriding")
    for name in options.packages or PACKAGES:
        package = PACKAGES[name]
        root = source_distribution(package.requirement, options.cache)
        source = (root / package.folder).parent
        project = read_project(source, Path(package.folder).name)
        trace = read_trace(run_tests(package, root), project)
        for mode in MODES:
            print_row(name if mode == MODES[0] else "", mode, project, trace)
        print_misses(project, trace, options.misses)


def run_tests(package: Package, root: Path) -> list[tuple[str, str, int, str, str]]:
    """Every call inside the package that its tests made: caller's file, name and line, callee's file and name."""
    with tempfile.TemporaryDirectory() as folder:
        out, needs = Path(folder) / "calls.json", Path(folder) / "needs"
        if package.needs:
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(needs), *package.needs]
            subprocess.run(install, check=True)
        command = [sys.executable, "-c", PROFILER, str((root / package.folder).resolve()), str(out), *package.tests]
        environment = {**os.environ, "PYTHONPATH": str(needs)}
        run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        if not out.exists():
            raise SystemExit(f"the tests of {package.requirement} did not run:\n{run.stdout}{run.stderr}")
        rows: list[tuple[str, str, int, str, str]] = json.loads(out.read_text())
    return rows


def read_trace(rows: Iterable[tuple[str, str, int, str, str]], project: Project) -> Trace:
    trace = Trace()
    for caller_file, caller_name, line, callee_file, callee_name in rows:
        caller, callee = (caller_file, plain(caller_name)), (callee_file, plain(callee_name))
        last = callee_name.rpartition(".")[2]
        by_itself = last.startswith("<") or BY_ITSELF.match(last) or callee in project.properties
        if by_itself or callee in project.lazy or project.kinds.get(callee) not in ("function", "method"):
            continue
        trace.calls[caller, callee].add(line)
        trace.lines[caller, line].add(callee)
    return trace


def plain(name: str) -> str:
    """A qualified name without ``<locals>``, lambdas and comprehensions: their calls belong to what is around."""
    return ".".join(part for part in name.split(".") if not part.startswith("<"))


def print_row(package: str, mode: str, project: Project, trace: Trace) -> None:
    edges = project.edges[mode]
    right, judged = judge(project, edges, trace)
    found = sum(call in edges for call in trace.calls)
    loosely = sum(call in edges or overridden(project, call, lines, edges) for call, lines in trace.calls.items())
    whole = len(trace.calls)
    print(
        f"{package:10} {whole if package else '':>6}  {mode:22} {percent(right, judged):>9} {percent(found, whole):>7} "
        f"{percent(loosely, whole):>12}"
    )


def judge(project: Project, edges: Edges, trace: Trace) -> tuple[int, int]:
    """(right, judged) edges, where the tests made some call on the edge's line."""
    right = judged = 0
    for (caller, target), fact in edges.items():
        made = made_on_line(trace, caller, fact.props.get("line"))
        if made and target not in project.lazy:
            judged += 1
            right += (caller, target) in trace.calls or any(project.overrides(other, target) for other in made)
    return right, judged


def made_on_line(trace: Trace, caller: Place, line: int | None) -> set[Place]:
    """What a caller called on a line; on any line for an edge that carries none."""
    if line is not None:
        return trace.lines.get((caller, line), set())
    return {callee for (other, callee) in trace.calls if other == caller}


def overridden(project: Project, call: tuple[Place, Place], lines: set[int], edges: Edges) -> bool:
    """Whether the graph has, on the same line, the method that the called one overrides."""
    caller, callee = call
    return any(
        source == caller and project.overrides(callee, target) and fact.props.get("line") in lines
        for (source, target), fact in edges.items()
    )


def print_misses(project: Project, trace: Trace, count: int) -> None:
    edges = project.edges[MODES[0]]
    missed = sorted(call for call in trace.calls if call not in edges)
    wrong = sorted(
        places
        for places, fact in edges.items()
        if made_on_line(trace, places[0], fact.props.get("line")) and judge(project, {places: fact}, trace) == (0, 1)
    )
    for word, rows in (("missed", missed), ("false", wrong)):
        for (caller_file, caller), (callee_file, callee) in rows[:count]:
            print(f"    {word} {caller_file}::{caller} -> {callee_file}::{callee}")


if __name__ == "__main__":
    main()
