"""The bounded code tools: find a symbol, its callers, its call graph, what is like it.

They read a graph through `graphport.GraphStorage` and nothing else, so they answer alike on every
backend, also on a graph that some other program filled by the names in `graphport_code.symbols`. Every
answer carries file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from graphport.builders import Entry
from graphport.errors import GraphportError, InvalidQueryError
from graphport.model import Direction, Edge, Node
from graphport.retrieval.hits import Hit
from graphport.storage import GraphStorage
from graphport_code.module_paths import spelled_by_module
from graphport_code.symbols import SYMBOL_KINDS

if TYPE_CHECKING:
    from graphport.knowledge.base import KnowledgeBase

MAX_FOUND = 50
MAX_DEPTH = 10
MAX_NODES = 1000
CALLS = ("calls", "instantiates")

Match = Literal["exact", "case-insensitive", "prefix"]
_SIMILARITY_CHARS = 1000
_CONSTRUCTORS = ("__init__", "__new__", "constructor")


class SymbolNotFoundError(GraphportError, LookupError):
    code = "symbol-not-found"


@dataclass(frozen=True, slots=True)
class CodeSymbol:
    """A symbol, and where it is; ``match`` says how its name was found."""

    id: str
    name: str
    qualified: str
    kind: str
    file: str
    line: int
    end_line: int
    signature: str
    language: str
    match: Match = "exact"


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who calls ``target``, and the line of the first call.

    ``via`` is the edge's kind. ``confidence`` is ``exact``, ``import``, ``unique`` or ``ambiguous``, and
    "" for a mere mention; with ``ambiguous`` the call may mean any of ``candidates``.
    """

    symbol: CodeSymbol
    target: str
    via: str
    confidence: str
    file: str
    line: int
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Callers:
    """Who calls any of ``targets``; ``precise`` is False if a target has no call edge and its mentions are told."""

    targets: tuple[CodeSymbol, ...]
    callers: tuple[Caller, ...]
    precise: bool


@dataclass(frozen=True, slots=True)
class CallGraphNode:
    symbol: CodeSymbol
    depth: int


@dataclass(frozen=True, slots=True)
class CallGraphEdge:
    source: str
    target: str
    kind: str
    confidence: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class CallGraph:
    """What is within ``depth`` calls, nearest first; the flags say what was cut off."""

    nodes: tuple[CallGraphNode, ...]
    edges: tuple[CallGraphEdge, ...]
    cut_by_nodes: bool
    cut_by_depth: bool

    @property
    def truncated(self) -> bool:
        return self.cut_by_nodes or self.cut_by_depth


def is_code_entry(entry: Entry | Hit) -> bool:
    """Whether an entry (or a hit on one) is a piece of source code."""
    return entry.kind in ("symbol", "file") and "language" in entry.meta


def find_symbol(
    storage: GraphStorage, name: str, file: str | None = None, kind: str | None = None, *, limit: int = MAX_FOUND
) -> list[CodeSymbol]:
    """Symbols of that name by file and line: exact ones, else in any case, else those that begin so.

    ``name`` may be qualified (``Class.method``, ``module::Type::method``), also by modules
    (``package.module.Class.method``), ``path::name`` or a node id.
    ``file`` is a path or its end, ``kind`` one of `graphport_code.symbols.SYMBOL_KINDS`.
    """
    if not name.strip():
        raise InvalidQueryError("the name of a symbol is empty; give at least one character")
    if kind is not None and kind not in SYMBOL_KINDS:
        raise InvalidQueryError(f"there is no symbol kind {kind!r}; kinds are {', '.join(SYMBOL_KINDS)}")
    by_id = storage.get_nodes([name]).values()
    if by_id:
        return [_symbol(node) for node in by_id if _wanted(node, file, kind)]
    path, wanted = _split(name)
    path = file if file is not None else path
    named = [node for node in storage.iter_nodes(name=_last(wanted)) if _wanted(node, path, kind)]
    exact = [node for node in named if _ends_with(_qualified(node), wanted)] or spelled_by_module(named, wanted)
    found = [_symbol(node) for node in exact]
    if not found:
        found = _inexact(storage, wanted, path, kind)
    return sorted(found, key=lambda symbol: (symbol.file, symbol.line, symbol.id))[:limit]


def find_callers(storage: GraphStorage, symbol: str | CodeSymbol) -> Callers:
    """Who calls a symbol: by precise call edges; mentions of its name only if it has none.

    Callers of a class are those who make one. A name that several symbols bear gives the callers of
    each. Raises `SymbolNotFoundError`.
    """
    targets = _resolve(storage, symbol)
    precise = True
    callers: list[Caller] = []
    for target in targets:
        edges = _calls_of(storage, target)
        if not edges:
            precise = False
            edges = storage.incident_edges([target.id], direction=Direction.IN, kinds=["uses"]).get(target.id, [])
        callers += _callers(storage, target, edges)
    callers.sort(key=lambda caller: (caller.file, caller.line, caller.symbol.id, caller.via))
    return Callers(tuple(targets), tuple(callers), precise)


def get_call_graph(
    storage: GraphStorage,
    symbol: str | CodeSymbol,
    *,
    depth: int = 2,
    max_nodes: int = 100,
    direction: Direction | str = Direction.OUT,
) -> CallGraph:
    """The calls around a symbol: what it calls (``out``), who calls it (``in``), or both.

    ``depth`` is clamped to `MAX_DEPTH`, ``max_nodes`` to `MAX_NODES`. Raises `SymbolNotFoundError`, and
    `InvalidQueryError` for a negative depth or no nodes at all.
    """
    if depth < 0 or max_nodes < 1:
        raise InvalidQueryError(f"depth {depth} and max_nodes {max_nodes}: give depth >= 0 and max_nodes >= 1")
    seeds = [target.id for target in _resolve(storage, symbol)]
    steps, most = min(depth, MAX_DEPTH), min(max_nodes, MAX_NODES)
    around = storage.neighborhood(seeds, depth=steps, max_nodes=most, direction=direction, kinds=CALLS)
    nodes = {node.id: node for node in around.nodes}
    return CallGraph(
        nodes=tuple(CallGraphNode(_symbol(node), around.depths[node.id]) for node in around.nodes),
        edges=tuple(_graph_edge(edge, nodes) for edge in around.edges),
        cut_by_nodes=around.truncated,
        cut_by_depth=not around.truncated and _goes_on(storage, around.depths, steps, direction),
    )


def find_similar(knowledge_base: KnowledgeBase, symbol: str | CodeSymbol, top_k: int = 5) -> list[Hit]:
    """Code entries most like a symbol's own, best first, the symbol's own left out. Raises `SymbolNotFoundError`."""
    if top_k < 1:
        raise InvalidQueryError(f"top_k is {top_k}; it must be at least 1")
    target = _resolve(knowledge_base.storage, symbol)[0]
    node = knowledge_base.storage.get_nodes([target.id])[target.id]
    entries = knowledge_base.get([node.entry]) if node.entry is not None else {}
    text = " ".join([target.qualified, *(entry.text[:_SIMILARITY_CHARS] for entry in entries.values())])
    hits = knowledge_base.search(text, top_k=top_k * 4 + 10, graph=False)
    alike = [hit for hit in hits if is_code_entry(hit) and hit.entry not in entries and not _same(hit, target)]
    return alike[:top_k]


def _same(hit: Hit, target: CodeSymbol) -> bool:
    return hit.meta.get("symbol") == target.id


def _resolve(storage: GraphStorage, symbol: str | CodeSymbol) -> list[CodeSymbol]:
    if isinstance(symbol, CodeSymbol):
        return [symbol]
    if symbol.startswith("file:"):
        files = [_symbol(node) for node in storage.get_nodes([symbol]).values()]
        if files:
            return files
    found = [item for item in find_symbol(storage, symbol) if item.match != "prefix"]
    if not found:
        near = [item.qualified for item in find_symbol(storage, symbol, limit=3)]
        hint = f"; near are {', '.join(near)}" if near else "; is the code indexed?"
        raise SymbolNotFoundError(f"no symbol {symbol!r} in the graph{hint}")
    return found


def _symbol(node: Node, match: Match = "exact") -> CodeSymbol:
    props = node.props
    return CodeSymbol(
        id=node.id,
        name=node.name,
        qualified=str(props.get("qualified", node.name)),
        kind=node.kind,
        file=str(props.get("file", "")),
        line=int(props.get("line", 0)),
        end_line=int(props.get("end_line", props.get("line", 0))),
        signature=str(props.get("signature", "")),
        language=str(props.get("language", "")),
        match=match,
    )


def _wanted(node: Node, file: str | None, kind: str | None) -> bool:
    if "language" not in node.props or (kind is not None and node.kind != kind):
        return False
    path = str(node.props.get("file", ""))
    return node.kind in SYMBOL_KINDS and (file is None or path == file or path.endswith(f"/{file}"))


def _split(name: str) -> tuple[str | None, str]:
    """``path::qualified`` as both; ``::`` between other names is as good as a dot."""
    head, separator, tail = name.removeprefix("symbol:").partition("::")
    if separator and ("/" in head or "." in head):
        return head, tail.replace("::", ".")
    return None, name.replace("::", ".").replace("#", ".").strip()


def _last(qualified: str) -> str:
    return qualified.rpartition(".")[2] or qualified


def _qualified(node: Node) -> str:
    return str(node.props.get("qualified", node.name))


def _ends_with(qualified: str, wanted: str) -> bool:
    return qualified == wanted or qualified.endswith(f".{wanted}")


def _inexact(storage: GraphStorage, wanted: str, file: str | None, kind: str | None) -> list[CodeSymbol]:
    """One pass over all symbols: those of the name in any case, else those that begin with it."""
    folded = wanted.casefold()
    alike: list[CodeSymbol] = []
    begun: list[CodeSymbol] = []
    for node in _all_symbols(storage, kind):
        if not _wanted(node, file, kind):
            continue
        qualified = _qualified(node).casefold()
        if _ends_with(qualified, folded):
            alike.append(_symbol(node, "case-insensitive"))
        elif node.name.casefold().startswith(folded) or qualified.startswith(folded):
            begun.append(_symbol(node, "prefix"))
    return alike or begun


def _all_symbols(storage: GraphStorage, kind: str | None) -> Iterator[Node]:
    for each in SYMBOL_KINDS if kind is None else (kind,):
        yield from storage.iter_nodes(kind=each)


def _calls_of(storage: GraphStorage, target: CodeSymbol) -> list[Edge]:
    """Edges that call a symbol; for a class also those that call its constructors."""
    called = [target.id]
    if target.kind == "class":
        inside = storage.incident_edges([target.id], direction=Direction.OUT, kinds=["contains"]).get(target.id, [])
        members = storage.get_nodes([edge.target for edge in inside]).values()
        called += [node.id for node in members if node.name in (*_CONSTRUCTORS, target.name)]
    found = storage.incident_edges(called, direction=Direction.IN, kinds=CALLS)
    return [edge for node_id in called for edge in found.get(node_id, [])]


def _callers(storage: GraphStorage, target: CodeSymbol, edges: Iterable[Edge]) -> Iterator[Caller]:
    """Each caller once, by its surest edge."""
    best: dict[str, Edge] = {}
    for edge in edges:
        known = best.get(edge.source)
        if known is None or _rank(edge) < _rank(known):
            best[edge.source] = edge
    nodes = storage.get_nodes(best)
    for node_id, edge in best.items():
        caller = _symbol(nodes[node_id])
        yield Caller(
            symbol=caller,
            target=target.id,
            via=edge.kind,
            confidence=str(edge.props.get("confidence", "")),
            file=caller.file,
            line=int(edge.props.get("line", caller.line)),
            candidates=tuple(edge.props.get("candidates", ())),
        )


def _rank(edge: Edge) -> tuple[int, int]:
    order = ("exact", "import", "unique", "ambiguous", "")
    return order.index(str(edge.props.get("confidence", ""))), int(edge.props.get("line", 0))


def _graph_edge(edge: Edge, nodes: dict[str, Node]) -> CallGraphEdge:
    props = edge.props
    file = str(nodes[edge.source].props.get("file", ""))
    line = int(props.get("line", 0))
    return CallGraphEdge(edge.source, edge.target, edge.kind, str(props.get("confidence", "")), file, line)


def _goes_on(storage: GraphStorage, depths: Mapping[str, int], steps: int, direction: Direction | str) -> bool:
    """Whether calls lead out of what was found."""
    outermost = [node_id for node_id, depth in depths.items() if depth == steps]
    found = storage.incident_edges(outermost, direction=direction, kinds=CALLS)
    return any(edge.source not in depths or edge.target not in depths for row in found.values() for edge in row)
