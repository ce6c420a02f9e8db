"""From one file's extraction to nodes and facts, with what other files define."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphport.builders import Extraction, Fact, Links, Lookup, NodeFact
from graphport_code.calls import called
from graphport_code.evaluate import Evaluator
from graphport_code.modules import package_files
from graphport_code.symbols import Symbol, file_node
from graphport_code.unit import MODULE
from graphport_code.uses import used
from graphport_code.values import Class, Function, Module, Value
from graphport_code.world import World

CONFIDENCES = ("exact", "import", "unique", "ambiguous")
"""How a target was found, best first: in the same file, through imports, by its name alone, or not quite."""


def link_unit(document: str, extraction: Extraction, lookup: Lookup) -> Links:
    data = extraction.data
    world = World(document, lookup)
    evaluator = Evaluator(world)
    facts = _Facts()
    _contains(document, data, facts)
    _calls(evaluator, document, data, facts)
    _imports(evaluator, document, data, facts)
    _bases(evaluator, document, data, facts)
    for source, target, entry, weight in used(world, document, data):
        facts.add(source, "uses", target, entry, weight, {})
    return Links(list(_nodes(document, data)), facts.rows())


class _Facts:
    """Facts by (source, kind, target, entry): of several the surest counts, then the first."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str, str], tuple[float, dict[str, Any]]] = {}

    def add(self, source: str, kind: str, target: str, entry: str, weight: float, props: dict[str, Any]) -> None:
        key = (source, kind, target, entry)
        known = self._kept.get(key)
        if known is None or _rank(props) < _rank(known[1]):
            self._kept[key] = (weight, props)

    def rows(self) -> list[Fact]:
        return [Fact(*key, weight=weight, props=props) for key, (weight, props) in self._kept.items()]


def _rank(props: dict[str, Any]) -> int:
    return CONFIDENCES.index(props["confidence"]) if "confidence" in props else 0


def _nodes(document: str, data: Any) -> Iterator[NodeFact]:
    language = data["language"]
    file = file_node(document)
    first = next(entry for entry, owner, _ in data["pieces"] if owner == MODULE)
    for entry, _, _ in data["pieces"]:
        props = {"file": document, "line": 1, "language": language}
        yield NodeFact(file, "file", document, entry, stands_for_entry=entry == first, props=props)
    for row in data["symbols"]:
        symbol = Symbol.from_json({key: value for key, value in row.items() if key != "entry"})
        yield NodeFact(
            symbol.node_id(document),
            symbol.kind,
            symbol.name,
            row["entry"],
            stands_for_entry=True,
            props={
                "file": document,
                "line": symbol.line,
                "end_line": symbol.end_line,
                "language": language,
                "qualified": symbol.qualified,
                "signature": symbol.signature,
            },
        )


def _contains(document: str, data: Any, facts: _Facts) -> None:
    node_of = {MODULE: file_node(document)}
    for row in data["symbols"]:
        node_of[row["key"]] = _node(document, row)
    for row in data["symbols"]:
        facts.add(node_of[row["parent"]], "contains", node_of[row["key"]], row["entry"], 1.0, {})


def _node(document: str, row: Any) -> str:
    later = f"#L{row['line']}" if row["key"] != row["qualified"] else ""
    return f"symbol:{document}::{row['qualified']}{later}"


def _calls(evaluator: Evaluator, document: str, data: Any, facts: _Facts) -> None:
    first = data["pieces"][0][0]
    for scope, kind, expr, line, entry in data["calls"]:
        frame = evaluator.world.frame(document, scope)
        if frame is None:
            continue
        for target in called(evaluator, kind, expr, frame):
            props: dict[str, Any] = {"confidence": target.confidence, "line": line}
            if target.candidates:
                props["candidates"] = list(target.candidates)
            facts.add(frame.scope["id"], target.kind, target.node, entry or first, target.weight, props)


def _imports(evaluator: Evaluator, document: str, data: Any, facts: _Facts) -> None:
    """A file or function imports symbols of other files, and whole files."""
    first = data["pieces"][0][0]
    for scope, expr, line, entry in data["imports"]:
        frame = evaluator.world.frame(document, scope)
        if frame is None:
            continue
        for value in evaluator.ask(expr, frame):
            for node in _imported_nodes(evaluator.world, value):
                if node != file_node(document):
                    props = {"confidence": "import", "line": line}
                    facts.add(frame.scope["id"], "imports", node, entry or first, 1.0, props)


def _imported_nodes(world: World, value: Value) -> list[str]:
    """A symbol, a file, or the files of a package."""
    if isinstance(value, Module):
        files = [value.path] if value.path is not None else package_files(world, value)
        return [file_node(path) for path in files]
    if isinstance(value, (Function, Class)) and value.scope["k"] != "lambda":
        return [str(value.scope["id"])]
    return []


def _bases(evaluator: Evaluator, document: str, data: Any, facts: _Facts) -> None:
    first = data["pieces"][0][0]
    for scope, owner, base, kind, line, entry in data["bases"]:
        frame = evaluator.world.frame(document, scope)
        if frame is None:
            continue
        above = [value for value in evaluator.ask(base, frame) if isinstance(value, Class)]
        for source in evaluator.ask(owner, frame) if above else ():
            for target in above:
                if isinstance(source, Class) and source.identity != target.identity:
                    confidence = "exact" if target.path == document else "import"
                    props = {"confidence": confidence, "line": line}
                    facts.add(source.scope["id"], kind, target.scope["id"], entry or first, 1.0, props)
