"""Source code as a graph: symbols, precise calls, imports and inheritance, and tools that ask it."""

from __future__ import annotations

from graphport_code.builder import CodeBuilder
from graphport_code.tools import (
    Caller,
    Callers,
    CallGraph,
    CallGraphEdge,
    CallGraphNode,
    CodeSymbol,
    SymbolNotFoundError,
    find_callers,
    find_similar,
    find_symbol,
    get_call_graph,
    is_code_entry,
)

__all__ = [
    "CallGraph",
    "CallGraphEdge",
    "CallGraphNode",
    "Caller",
    "Callers",
    "CodeBuilder",
    "CodeSymbol",
    "SymbolNotFoundError",
    "find_callers",
    "find_similar",
    "find_symbol",
    "get_call_graph",
    "is_code_entry",
]
