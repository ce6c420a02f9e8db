"""Symbols of a source file, and what every node is called.

Node kinds
    ``file``, ``module`` (a Rust ``mod``, a TypeScript ``namespace``), ``class`` (class, struct, enum,
    record, union), ``interface`` (interface, trait), ``function``, ``method``, ``type`` (an alias),
    ``constant``.
Edge kinds
    ``contains``, ``calls``, ``instantiates``, ``imports``, ``inherits``, ``implements``, ``uses``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SYMBOL_KINDS = ("module", "class", "interface", "function", "method", "type", "constant")
CALLABLE_KINDS = frozenset({"function", "method"})
TYPE_KINDS = frozenset({"class", "interface", "type"})

MAX_SIGNATURE = 300
MAX_DOCSTRING = 2000


@dataclass(slots=True)
class Symbol:
    """A definition in one file.

    ``key`` is its scope in the file, unique there: the qualified name, with ``#2`` on the second of a
    name. ``parent`` is the key of the symbol around it, "" for the file. Lines are from 1; ``start``
    is where its decorators and comments begin, ``line`` where its name stands.
    """

    key: str
    name: str
    qualified: str
    kind: str
    line: int
    end_line: int
    start: int
    parent: str = ""
    signature: str = ""
    docstring: str = ""

    def node_id(self, path: str) -> str:
        """``symbol:{path}::{qualified}``, with ``#L{line}`` on the second and later of a name."""
        later = f"#L{self.line}" if self.key != self.qualified else ""
        return f"symbol:{path}::{self.qualified}{later}"

    def to_json(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in self.__slots__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Symbol:
        return cls(**data)


def file_node(path: str) -> str:
    return f"file:{path}"


def one_line(text: str) -> str:
    """Text as a signature: white space folded, at most `MAX_SIGNATURE` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= MAX_SIGNATURE else folded[: MAX_SIGNATURE - 1] + "…"
