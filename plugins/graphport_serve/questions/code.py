"""Asking for source code: symbols, callers, call graphs, similar code."""

from __future__ import annotations

from graphport.knowledge.base import KnowledgeBase
from graphport.model import Direction
from graphport_code import tools
from graphport_serve.answers import (
    Caller,
    Callers,
    CallGraph,
    CallGraphEdge,
    CallGraphNode,
    SimilarCode,
    Symbol,
    Symbols,
)
from graphport_serve.paging import Bounds, joined, json_size, only, page_of
from graphport_serve.questions.searching import told_hit

_FOUND = 1000


def find_symbol(
    kb: KnowledgeBase, name: str, *, file: str | None, kind: str | None, bounds: Bounds, cursor: str | None = None
) -> Symbols:
    """Symbols of a name by file and line: exact ones, else in any case, else those that begin so."""
    found = tools.find_symbol(kb.storage, name, file, kind, limit=_FOUND)
    rows = [Symbol.model_validate(symbol) for symbol in found]
    page = page_of(rows, cursor, bounds, question=("symbols", kb.config.name, name, file, kind), size=json_size)
    return Symbols(symbols=page.items, next_cursor=page.next)


def find_callers(kb: KnowledgeBase, symbol: str, *, bounds: Bounds, cursor: str | None = None) -> Callers:
    """Who calls a symbol, by file and line."""
    found = tools.find_callers(kb.storage, symbol)
    rows = [Caller.model_validate(caller) for caller in found.callers]
    page = page_of(rows, cursor, bounds, question=("callers", kb.config.name, symbol), size=json_size)
    targets = [Symbol.model_validate(target) for target in found.targets]
    return Callers(targets=targets, callers=page.items, precise=found.precise, next_cursor=page.next)


def get_call_graph(
    kb: KnowledgeBase,
    symbol: str,
    *,
    depth: int,
    max_nodes: int,
    direction: Direction,
    bounds: Bounds,
    cursor: str | None = None,
) -> CallGraph:
    """The calls around a symbol, nearest first; an edge comes with the later of its two nodes."""
    found = tools.get_call_graph(kb.storage, symbol, depth=depth, max_nodes=max_nodes, direction=direction)
    nodes = [CallGraphNode.model_validate(node) for node in found.nodes]
    edges = [CallGraphEdge.model_validate(edge) for edge in found.edges]
    rows = joined(nodes, edges, lambda node: node.symbol.id)
    question = ("callgraph", kb.config.name, symbol, depth, max_nodes, direction)
    page = page_of(rows, cursor, bounds, question=question, size=json_size)
    return CallGraph(
        nodes=only(page.items, CallGraphNode),
        edges=only(page.items, CallGraphEdge),
        cut_by_nodes=found.cut_by_nodes,
        cut_by_depth=found.cut_by_depth,
        next_cursor=page.next,
    )


def find_similar(
    kb: KnowledgeBase,
    symbol: str,
    *,
    top_k: int,
    bounds: Bounds,
    cursor: str | None = None,
    text: int | None = None,
) -> SimilarCode:
    """Code most like a symbol's own, best first; ``text`` cuts each hit's text."""
    found = tools.find_similar(kb, symbol, top_k)
    hits = [told_hit(rank, hit, {}, [], text) for rank, hit in enumerate(found, 1)]
    page = page_of(hits, cursor, bounds, question=("similar", kb.config.name, symbol, top_k), size=json_size)
    return SimilarCode(symbol=symbol, hits=page.items, next_cursor=page.next)
