"""The rows of a graph, and the one place that decides whether a row may be stored."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar, cast

from graphport.errors import (
    InvalidIdError,
    InvalidInputError,
    InvalidPropsError,
    InvalidRowError,
    InvalidWeightError,
)

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MAX_PROPS_DEPTH = 64
"""Nesting that every engine stores; PostgreSQL gives up at some 6,000, Python's json at about 1,000."""

Props = Mapping[str, Any]
T = TypeVar("T")
_TEXTS = (str, bytes, bytearray)  # float() reads numbers from them


class Direction(StrEnum):
    """Which edges of a node count: those it is the source of, the target of, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


class EdgeKey(NamedTuple):
    """What makes an edge one edge: two parallel edges differ in kind."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node; ``entry`` is the id of the entry (chunk of text) it stands for, if any."""

    id: str
    kind: str
    name: str
    entry: str | None = None
    props: Props = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed edge; ``weight`` is finite and >= 0."""

    source: str
    target: str
    kind: str
    weight: float = 1.0
    props: Props = field(default_factory=dict[str, Any])

    @property
    def key(self) -> EdgeKey:
        return EdgeKey(self.source, self.target, self.kind)


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """How much a graph holds, in all and by kind (kinds in code point order, none with 0)."""

    nodes: int
    edges: int
    node_kinds: Mapping[str, int] = field(default_factory=dict[str, int])
    edge_kinds: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What `GraphStorage.neighborhood` found.

    ``nodes`` are in the order found, (depth, id); ``depths`` maps each id to its distance from the
    nearest seed; ``edges`` are all edges of the asked kinds between two of the nodes, by key.
    ``truncated`` says that ``max_nodes`` cut something off.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    depths: Mapping[str, int]
    truncated: bool = False


Row = TypeVar("Row", Node, Edge)


def own_row(row: Row) -> Row:
    """The row with props of its own: what a caller does to them must not reach the graph."""
    return replace(row, props=copy.deepcopy(dict(row.props)) if row.props else {})


def check_text(value: object, what: str) -> str:
    """``value`` if it may be an id, a name or a kind; else `InvalidIdError`.

    Any non-empty Unicode text without NUL: PostgreSQL cannot store NUL, and a lone surrogate has no
    UTF-8 form. Nothing is normalised: NFC and NFD spellings are two ids.
    """
    if not isinstance(value, str):
        raise InvalidIdError(f"{what} is {type(value).__name__} {value!r:.80}; it must be a str")
    if not value:
        raise InvalidIdError(f"{what} is empty; give it at least one character")
    if "\0" in value:
        raise InvalidIdError(f"{what} {value!r:.80} holds a NUL character; remove it")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidIdError(f"{what} {value!r:.80} holds a lone surrogate; decode the text properly") from error
    return value if type(value) is str else str.__str__(value)  # of a subclass, too, a plain str


def check_weight(value: object, what: str) -> float:
    """``value`` as a float if it is finite and >= 0; else `InvalidWeightError`."""
    try:
        weight = float(value)  # type: ignore[arg-type]  # whatever has __float__ is welcome
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidWeightError(f"weight of {what} is {value!r:.80}; it must be a finite number >= 0") from error
    if isinstance(value, _TEXTS) or not math.isfinite(weight) or weight < 0:
        raise InvalidWeightError(f"weight of {what} is {value!r:.80}; it must be a finite number >= 0")
    return weight


def check_props(value: object, what: str) -> dict[str, Any]:
    """A deep copy of ``value`` if it is a JSON object every backend can hold; else `InvalidPropsError`.

    Integers must fit int64, floats must be finite, strings must not hold NUL or lone surrogates.
    """
    if type(value) is dict and not value:  # most rows have none: a third of the time of a batch is spared
        return {}
    if not isinstance(value, Mapping):
        raise InvalidPropsError(f"props of {what} are {type(value).__name__}; they must be a dict of JSON values")
    return {_check_key(key, what): _check_json(item, what, 1) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]


def _check_key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise InvalidPropsError(f"props of {what} have the key {key!r:.80}; keys must be str")
    return _check_string(key, what)


def _check_string(text: str, what: str) -> str:
    if "\0" in text or (not text.isascii() and _has_surrogate(text)):
        raise InvalidPropsError(f"props of {what} hold {text!r:.80} with a NUL or a lone surrogate; remove it")
    return text if type(text) is str else str.__str__(text)  # of a subclass, too, a plain str


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def _check_json(value: object, what: str, depth: int) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _check_string(value, what)
    if isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise InvalidPropsError(f"props of {what} hold the integer {value}; it must fit in 64 bits (or be a str)")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidPropsError(f"props of {what} hold {value}; JSON has only finite numbers (use null)")
        return float(value)
    if depth > MAX_PROPS_DEPTH:
        raise InvalidPropsError(f"props of {what} nest deeper than {MAX_PROPS_DEPTH}; flatten them")
    if isinstance(value, list):
        return [_check_json(item, what, depth + 1) for item in value]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if isinstance(value, dict):
        return {_check_key(key, what): _check_json(item, what, depth + 1) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    raise InvalidPropsError(
        f"props of {what} hold a {type(value).__name__} {value!r:.80}; "
        "they may hold str, int, float, bool, None, list and dict"
    )


def check_nodes(nodes: Iterable[Node]) -> dict[str, Node]:
    """The batch by id, every row checked, the last of duplicate ids kept.

    Reads ``nodes`` to its end before anything is returned, so that a backend that calls this first
    writes nothing of a refused batch. Raises `InvalidRowError`, `InvalidIdError`, `InvalidPropsError`.
    """
    batch: dict[str, Node] = {}
    for node in _several(nodes, "nodes"):
        if not isinstance(node, Node):  # pyright: ignore[reportUnnecessaryIsInstance]  # users without a type checker
            raise InvalidRowError(f"expected a Node, got {type(node).__name__} {node!r:.80}")
        what = f"node {node.id!r:.80}"
        row = Node(
            check_text(node.id, "node id"),
            check_text(node.kind, f"kind of {what}"),
            check_text(node.name, f"name of {what}"),
            None if node.entry is None else check_text(node.entry, f"entry of {what}"),
            check_props(node.props, what),
        )
        batch[row.id] = row
    return batch


def check_edges(edges: Iterable[Edge]) -> dict[EdgeKey, Edge]:
    """The batch by key, every row checked, weights as float, the last of duplicate keys kept.

    Whether the ends exist is the backend's to check (`MissingNodeError`). Raises as `check_nodes`, and
    `InvalidWeightError`.
    """
    batch: dict[EdgeKey, Edge] = {}
    for edge in _several(edges, "edges"):
        if not isinstance(edge, Edge):  # pyright: ignore[reportUnnecessaryIsInstance]  # users without a type checker
            raise InvalidRowError(f"expected an Edge, got {type(edge).__name__} {edge!r:.80}")
        key = check_key(edge.key)
        what = f"edge {key[0]!r:.40} -{key[2]:.40}-> {key[1]!r:.40}"
        batch[key] = Edge(*key, check_weight(edge.weight, what), check_props(edge.props, what))
    return batch


def check_key(key: object) -> EdgeKey:
    """``key`` as an `EdgeKey` of three valid texts; else `InvalidIdError` or `InvalidRowError`."""
    parts = cast("tuple[object, ...]", key) if isinstance(key, tuple) else ()
    if len(parts) != 3:
        raise InvalidRowError(f"expected an edge key (source, target, kind), got {key!r:.80}")
    source, target, kind = parts
    return EdgeKey(check_text(source, "edge source"), check_text(target, "edge target"), check_text(kind, "edge kind"))


def check_keys(keys: Iterable[tuple[str, str, str]]) -> list[EdgeKey]:
    """The edge keys in the order given, each once; raises as `check_key`."""
    return list(dict.fromkeys(map(check_key, _several(keys, "edge keys"))))


def check_ids(ids: Iterable[str], what: str = "node id") -> list[str]:
    """The ids in the order given, each once; a plain ``str`` is refused, for it is never meant."""
    if isinstance(ids, str):
        raise InvalidInputError(f"expected several ids, got the single string {ids!r:.80}; pass [{ids!r:.40}]")
    return list(dict.fromkeys(check_text(item, what) for item in _several(ids, f"{what}s")))


def _several(rows: Iterable[T], what: str) -> Iterable[T]:
    """``rows`` if they can be iterated over; else `InvalidRowError`."""
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  # as above
        raise InvalidRowError(
            f"expected {what}, got {type(rows).__name__} {rows!r:.80}; pass a list or another iterable"
        )
    return rows


def check_kinds(kinds: Iterable[str] | None) -> frozenset[str] | None:
    """The kinds asked for; None means all, an empty collection means none."""
    return None if kinds is None else frozenset(check_ids(kinds, "edge kind"))


def dump_props(props: Props) -> str:
    """Props as canonical JSON text: the same props give the same text, floats keep every bit."""
    return json.dumps(props, ensure_ascii=False, sort_keys=True, separators=(",", ":")) if props else "{}"
