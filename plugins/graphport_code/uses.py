"""The coarse edges: any symbol's name that stands in an entry's text, comments and strings included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphport_code.symbols import file_node
from graphport_code.unit import MODULE
from graphport_code.world import World, symbol_name

MAX_MEANINGS = 3
"""A name that more symbols share says nothing about which of them is meant."""


def used(world: World, document: str, data: Any) -> Iterator[tuple[str, str, str, float]]:
    """(source, target, entry, weight) of names in the text: in the same file first, else wherever there are few."""
    node_of = {MODULE: file_node(document)}
    names = {MODULE: ""}
    for row in data["symbols"]:
        later = f"#L{row['line']}" if row["key"] != row["qualified"] else ""
        node_of[row["key"]] = f"symbol:{document}::{row['qualified']}{later}"
        names[row["key"]] = row["name"]
    meanings: dict[str, tuple[str, ...]] = {}
    for entry, owner, tokens in data["pieces"]:
        source = node_of[owner]
        for token in tokens:
            if token == names[owner]:
                continue
            found = meanings.get(token)
            if found is None:
                found = meanings[token] = _meanings(world, document, token)
            for target in found:
                if target != source:
                    yield source, target, entry, 1.0 / len(found)


def _meanings(world: World, document: str, token: str) -> tuple[str, ...]:
    """The nodes a name may mean; () if they are too many."""
    rows = world.look(symbol_name(token))
    here = [str(row["node"]) for path, row in rows if path == document]
    found = tuple(dict.fromkeys(here or [str(row["node"]) for _, row in rows]))
    return found if len(found) <= MAX_MEANINGS else ()
