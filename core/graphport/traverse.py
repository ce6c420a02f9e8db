"""Walking a graph through any storage, a batch of nodes at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from graphport.errors import InvalidQueryError
from graphport.model import INT64_MAX, Direction, Edge, EdgeKey, Node, Subgraph, check_ids, check_kinds


class OneState(Protocol):
    """One state of a graph, as a walk of several steps reads it; the methods are those of `GraphStorage`.

    A storage is one only while nobody else writes: between two of its calls a commit may come.
    """

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]: ...

    def incident_edges(
        self, ids: Iterable[str], /, *, direction: Direction, kinds: frozenset[str] | None
    ) -> dict[str, list[Edge]]: ...


def check_direction(direction: Direction | str) -> Direction:
    """The direction meant by ``direction``; `InvalidQueryError` if none is."""
    try:
        return Direction(direction)
    except ValueError as error:
        raise InvalidQueryError(f"direction is {direction!r}; it must be 'out', 'in' or 'both'") from error


def check_limit(value: object, what: str, *, least: int = 0) -> int:
    """``value`` if it is an int >= ``least``, one past int64 as its greatest; else `InvalidQueryError`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidQueryError(f"{what} is {value!r}; it must be an integer >= {least}")
    return min(value, INT64_MAX - 1)  # which no graph reaches, and engines may add 1 to


def neighborhood(
    state: OneState,
    seeds: Iterable[str],
    /,
    *,
    depth: int = 1,
    max_nodes: int = 1000,
    direction: Direction | str = Direction.BOTH,
    kinds: Iterable[str] | None = None,
) -> Subgraph:
    """`GraphStorage.neighborhood` in depth + 2 round trips, for a backend that has nothing better.

    Level d + 1 is every neighbour of level d not seen yet, by id, as far as ``max_nodes`` allows.
    """
    check_limit(depth, "depth")
    max_nodes = check_limit(max_nodes, "max_nodes", least=1)
    way = check_direction(direction)
    wanted = check_kinds(kinds)
    found = state.get_nodes(sorted(check_ids(seeds)))
    level = list(found)[:max_nodes]
    truncated = len(found) > max_nodes
    depths = dict.fromkeys(level, 0)
    edges: dict[EdgeKey, Edge] = {}
    for step in range(1, depth + 1):
        if not level:
            break
        incident = state.incident_edges(level, direction=way, kinds=wanted)
        edges.update((edge.key, edge) for row in incident.values() for edge in row)
        ahead = sorted(_far_ends(incident, way) - depths.keys())
        level = ahead[: max_nodes - len(depths)]
        truncated = truncated or len(level) < len(ahead)
        depths.update(dict.fromkeys(level, step))
    if level:  # edges among the outermost nodes; walking against the arrows, also those that lead out to them
        last = Direction.BOTH if way is Direction.IN else Direction.OUT
        for row in state.incident_edges(level, direction=last, kinds=wanted).values():
            edges.update((edge.key, edge) for edge in row)
    nodes = state.get_nodes(depths)
    inside = sorted(key for key in edges if key.source in depths and key.target in depths)
    return Subgraph(
        nodes=tuple(nodes[node_id] for node_id in depths),
        edges=tuple(edges[key] for key in inside),
        depths=depths,
        truncated=truncated,
    )


def _far_ends(incident: dict[str, list[Edge]], way: Direction) -> set[str]:
    ends: set[str] = set()
    for node_id, row in incident.items():
        for edge in row:
            if way is not Direction.IN and edge.source == node_id:
                ends.add(edge.target)
            if way is not Direction.OUT and edge.target == node_id:
                ends.add(edge.source)
    return ends
