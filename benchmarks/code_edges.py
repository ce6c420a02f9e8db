"""Call edges of a folder of Python files, three ways, and source distributions to try them on.

Shared by ``callgraph.py`` and ``callgraph_traced.py``.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from graphport.builders import Document, Extraction, Fact
from graphport_code import CodeBuilder
from graphport_code.languages import language_named
from graphport_code.plain import read_plain
from graphport_code.source import Source

Place = tuple[str, str]
"""(path, qualified name); "" for the file itself."""
Edges = dict[tuple[Place, Place], Fact]

MODES = ("calls", "calls, ambiguous too", "name( rule", "token mention")


@dataclass
class Project:
    """A folder as the code builder sees it; ``kinds`` of its symbols by place.

    ``lazy`` are generators and coroutines: calling one runs nothing of it.
    """

    edges: dict[str, Edges] = field(default_factory=dict[str, Edges])
    kinds: dict[Place, str] = field(default_factory=dict[Place, str])
    properties: set[Place] = field(default_factory=set[Place])
    lazy: set[Place] = field(default_factory=set[Place])
    bases: dict[Place, set[Place]] = field(default_factory=dict[Place, set[Place]])

    def overrides(self, method: Place, other: Place) -> bool:
        """Whether ``method`` is one of the same name as ``other`` in a class below that of ``other``."""
        if method[1].rpartition(".")[2] != other[1].rpartition(".")[2]:
            return False
        below, above = (method[0], method[1].rpartition(".")[0]), (other[0], other[1].rpartition(".")[0])
        waiting, seen = [below], {below}
        while waiting:
            for base in self.bases.get(waiting.pop(), set()) - seen:
                seen.add(base)
                waiting.append(base)
        return above in seen - {below}


def read_project(root: Path, part: str = "") -> Project:
    """Every mode's edges between files, functions and methods of a folder (``part`` of it)."""
    builder = CodeBuilder()
    texts = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8", errors="replace")
        for file in sorted((root / part).rglob("*.py"))
    }
    extractions = {path: builder.extract(Document(path, text)) for path, text in texts.items()}
    definitions: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for path, extraction in extractions.items():
        for definition in extraction.definitions:
            definitions.setdefault(definition.name, []).append((path, definition.data))
    project = Project()
    for path, extraction in extractions.items():
        for row in extraction.data.get("symbols", ()):
            project.kinds[path, row["qualified"]] = row["kind"]
        _note_flags(project, extraction)
    facts = [
        fact
        for path, extraction in extractions.items()
        for fact in builder.link(path, extraction, lambda name: definitions.get(name, ())).facts
    ]
    for fact in facts:
        if fact.kind == "inherits":
            project.bases.setdefault(place_of(fact.source), set()).add(place_of(fact.target))
    sure = [fact for fact in facts if fact.kind == "calls" and fact.props["confidence"] != "ambiguous"]
    project.edges["calls"] = _by_places(sure)
    project.edges["calls, ambiguous too"] = _by_places(fact for fact in facts if fact.kind == "calls")
    project.edges["name( rule"] = _by_places(_named_calls(texts, extractions))
    project.edges["token mention"] = {
        places: fact
        for places, fact in _by_places(fact for fact in facts if fact.kind == "uses").items()
        if project.kinds.get(places[1]) in ("function", "method")
    }
    return project


def _note_flags(project: Project, extraction: Extraction) -> None:
    data = {definition.name: definition.data for definition in extraction.definitions}
    for name, scope in data.items():
        if not name.startswith("scope:") or scope["k"] != "function":
            continue
        flags = scope.get("fl", ())
        if "property" in flags:
            project.properties.add(place_of(scope["id"]))
        if "async" in flags or "y" in data.get(f"body:{name.removeprefix('scope:')}", ()):
            project.lazy.add(place_of(scope["id"]))


def _by_places(facts: Any) -> Edges:
    return {(place_of(fact.source), place_of(fact.target)): fact for fact in facts}


def place_of(node: str) -> Place:
    if node.startswith("file:"):
        return node.removeprefix("file:"), ""
    path, _, qualified = node.removeprefix("symbol:").partition("::")
    return path, qualified.partition("#")[0]


def _named_calls(texts: Mapping[str, str], extractions: Mapping[str, Extraction]) -> Iterator[Fact]:
    """The rule ``name(``: the function of that name in the same file, else the only one, else the first."""
    named: dict[str, list[str]] = {}
    inside: dict[str, list[dict[str, Any]]] = {}
    for path, extraction in extractions.items():
        inside[path] = [row for row in extraction.data.get("symbols", ()) if row["kind"] in ("function", "method")]
        for row in inside[path]:
            named.setdefault(row["name"], []).append(f"symbol:{path}::{row['qualified']}")
    python = language_named("python")
    for path, text in texts.items():
        unit = read_plain(Source(path, text), python)
        for _, _, callee, line in unit.calls:
            around = [row for row in inside[path] if row["line"] <= line <= row["end_line"]]
            source = f"symbol:{path}::{around[-1]['qualified']}" if around else f"file:{path}"
            candidates = named.get(callee[-1] if callee[0] == "a" else callee[1], [])
            here = [node for node in candidates if node.startswith(f"symbol:{path}::")]
            if candidates:
                yield Fact(source, "calls", (here or candidates)[0], "", props={"line": line})


def source_distribution(requirement: str, cache: Path | None = None) -> Path:
    """The unpacked source distribution of ``name==version``, downloaded once into a cache folder."""
    folder = (cache or user_cache_path("graphport") / "benchmarks") / requirement.replace("==", "-")
    if not folder.exists():
        archives = folder.with_name(f"{folder.name}.download")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", str(archives), requirement], check=True)
        (archive,) = archives.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(archives, filter="data")
        next(path for path in archives.iterdir() if path.is_dir()).rename(folder)
    return folder


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f}" if whole else "    -"
