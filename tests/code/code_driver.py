"""Plays the caller of a graph builder: extracts documents, remembers lookups, links what they touch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from graphport import Edge, GraphStorage, Node
from graphport.builders import Document, Entry, Extraction, Links
from graphport_code import CodeBuilder


@dataclass
class _Held:
    extraction: Extraction
    definitions: dict[str, list[Any]]
    links: Links
    lookups: frozenset[str]


class Project:
    """A few files and their graph. Everything between the builder's two steps goes through JSON."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None, builder: CodeBuilder | None = None) -> None:
        self.builder = builder or CodeBuilder()
        self.held: dict[str, _Held] = {}
        self.linked: set[str] = set()
        self.change(files or {})

    def change(self, files: Mapping[str, str | bytes | None]) -> None:
        """Put files in place, or remove those that are None; ``linked`` are the files that linked again."""
        touched: set[str] = set()
        waiting: set[str] = set()
        for path, content in files.items():
            old = self.held.pop(path, None)
            before = old.definitions if old else {}
            after: dict[str, list[Any]] = {}
            if content is not None:
                text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
                extraction = self.builder.extract(Document(path, text))
                for definition in extraction.definitions:
                    after.setdefault(definition.name, []).append(json.loads(json.dumps(definition.data)))
                bare = Extraction(extraction.entries, (), json.loads(json.dumps(extraction.data)), extraction.warnings)
                self.held[path] = _Held(bare, after, Links(), frozenset())
                waiting.add(path)
            touched |= {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        waiting |= {path for path, held in self.held.items() if held.lookups & touched}
        for path in sorted(waiting):
            self._link(path)
        self.linked = waiting

    def _link(self, path: str) -> None:
        asked: set[str] = set()

        def lookup(name: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
            asked.add(name)
            return [(other, data) for other in sorted(self.held) for data in self.held[other].definitions.get(name, ())]

        held = self.held[path]
        held.links = self.builder.link(path, held.extraction, lookup)
        held.lookups = frozenset(asked)

    # Reading it

    def entries(self, path: str | None = None) -> list[Entry]:
        return [
            entry for at, held in sorted(self.held.items()) if path in (None, at) for entry in held.extraction.entries
        ]

    def warnings(self, path: str) -> list[str]:
        return list(self.held[path].extraction.warnings)

    def nodes(self) -> dict[str, Node]:
        """By id, the first declaration by entry id, standing for the first entry that it stands for."""
        facts = sorted(
            (fact for held in self.held.values() for fact in held.links.nodes), key=lambda f: (f.id, f.entry)
        )
        stands: dict[str, str] = {}
        for fact in facts:
            if fact.stands_for_entry:
                stands.setdefault(fact.id, fact.entry)
        nodes: dict[str, Node] = {}
        for fact in facts:
            nodes.setdefault(fact.id, Node(fact.id, fact.kind, fact.name, stands.get(fact.id), fact.props))
        return nodes

    def edges(self, *kinds: str) -> dict[tuple[str, str, str], Edge]:
        """By (source, kind, target) without ``symbol:``; the weight is the sum over entries."""
        found: dict[tuple[str, str, str], Edge] = {}
        facts = [fact for held in self.held.values() for fact in held.links.facts if not kinds or fact.kind in kinds]
        for fact in sorted(facts, key=lambda fact: (fact.source, fact.kind, fact.target, fact.entry)):
            key = (_short(fact.source), fact.kind, _short(fact.target))
            weight = fact.weight + (found[key].weight if key in found else 0)
            props = found[key].props if key in found else fact.props
            found[key] = Edge(fact.source, fact.target, fact.kind, weight, props)
        return found

    def calls(self) -> set[tuple[str, str]]:
        """(caller, callee) of all calls, without ``symbol:``."""
        return {(source, target) for source, _, target in self.edges("calls")}

    def fill(self, storage: GraphStorage) -> GraphStorage:
        storage.upsert_nodes(self.nodes().values())
        storage.upsert_edges(self.edges().values())
        return storage

    def canonical(self) -> str:
        """The whole graph as text, to compare."""
        nodes = [(n.id, n.kind, n.name, n.entry, n.props) for n in self.nodes().values()]
        edges = [(key, edge.weight, edge.props) for key, edge in sorted(self.edges().items())]
        return json.dumps([nodes, edges], sort_keys=True)


def calls_of(source: str, **others: str) -> set[str]:
    """``caller -> callee`` inside one file, by qualified name; the file itself is ``<file>``."""
    files = {"main.py": dedent(source)} | {f"{name}.py": dedent(text) for name, text in others.items()}
    return {f"{_plain(caller)} -> {_plain(callee)}" for caller, callee in Project(files).calls()}


def _plain(node: str) -> str:
    return "<file>" if node == "file:main.py" else node.replace("main.py::", "").replace(".py::", ".")


def _short(node_id: str) -> str:
    return node_id.removeprefix("symbol:")
