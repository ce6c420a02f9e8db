"""Long lists a page at a time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from graphport.errors import InvalidQueryError

T = TypeVar("T")
N = TypeVar("N")


class _Edge(Protocol):
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...


E = TypeVar("E", bound=_Edge)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one answer may hold: so many items, and about so many characters of JSON; at least one item."""

    items: int
    characters: int | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items in their order; ``next`` is the cursor of what follows, None at the end."""

    items: list[T]
    next: str | None
    total: int


def page_of(
    rows: Sequence[T], cursor: str | None, bounds: Bounds, *, question: Sequence[Any], size: Callable[[T], int]
) -> Page[T]:
    """The page of ``rows`` that ``cursor`` points to; None is the first.

    A cursor belongs to one ``question``, its values being JSON: with another one it raises
    `InvalidQueryError`. It holds a place in the list, so a list that changed meanwhile goes on at that
    place. ``size`` is the number of characters an item takes.
    """
    mark = hashlib.blake2b(json.dumps(question, default=str).encode(), digest_size=8).hexdigest()
    start = 0 if cursor is None else _place(cursor, mark)
    items: list[T] = []
    used = 0
    for row in rows[start : start + bounds.items]:
        used += size(row)
        if items and bounds.characters is not None and used > bounds.characters:
            break
        items.append(row)
    end = start + len(items)
    return Page(items, _cursor(end, mark) if end < len(rows) else None, len(rows))


def joined(nodes: Sequence[N], edges: Sequence[E], id_of: Callable[[N], str]) -> list[N | E]:
    """Each node, then the edges between it and the nodes before it: pages of it build on each other."""
    place = {id_of(node): number for number, node in enumerate(nodes)}
    after: dict[int, list[E]] = {}
    for edge in edges:
        after.setdefault(max(place[edge.source], place[edge.target]), []).append(edge)
    return [row for number, node in enumerate(nodes) for row in (node, *after.get(number, ()))]


def only(rows: Sequence[object], kind: type[T]) -> list[T]:
    """The rows of one kind."""
    return [row for row in rows if isinstance(row, kind)]


def json_size(answer: BaseModel) -> int:
    """Characters that an answer takes as JSON."""
    return len(answer.model_dump_json())


def _cursor(place: int, mark: str) -> str:
    return base64.urlsafe_b64encode(f"{place}.{mark}".encode()).decode().rstrip("=")


def _place(cursor: str, mark: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise InvalidQueryError("the cursor is none of ours; take it from the answer before") from error
    place, _, of = text.partition(".")
    if of != mark or not (place.isascii() and place.isdigit()) or len(place) > 12:
        raise InvalidQueryError("the cursor belongs to another question; ask the first one again, or leave it out")
    return int(place)
