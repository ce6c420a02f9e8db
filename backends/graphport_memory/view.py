"""Reading a graph that is a base and the batches committed (or pending) on top of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphport.model import Direction, Edge, EdgeKey, GraphCounts, Node, own_row
from graphport.pending import PendingWrites
from graphport_memory.base import Base
from graphport_memory.merge import merge


@dataclass(frozen=True)
class View:
    """One state of a graph; ``layers`` lie on top of ``base``, the newest last. Nothing in it changes."""

    base: Base
    layers: tuple[PendingWrites, ...] = ()

    def node(self, node_id: str) -> Node | None:
        for layer in reversed(self.layers):
            found = layer.nodes.get(node_id)
            if found is not None:
                return own_row(found)
            if layer.hides_node(node_id):
                return None
        return self.base.node(node_id)

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        """Those of the nodes that exist, in the order asked."""
        return {node_id: node for node_id in ids if (node := self.node(node_id)) is not None}

    def incident_edges(
        self,
        ids: Iterable[str],
        /,
        *,
        direction: Direction,
        kinds: frozenset[str] | None,
        limit_per_node: int | None = None,
    ) -> dict[str, list[Edge]]:
        """The edges of each node that exists, by key, as far as the limit."""
        return {
            node_id: self.incident(node_id, direction, kinds, limit_per_node)
            for node_id in ids
            if self.has_node(node_id)
        }

    def has_node(self, node_id: str) -> bool:
        for layer in reversed(self.layers):
            if node_id in layer.nodes:
                return True
            if layer.hides_node(node_id):
                return False
        return self.base.graph.index_of(node_id) is not None

    def edge(self, key: EdgeKey) -> Edge | None:
        for layer in reversed(self.layers):
            found = layer.edges.get(key)
            if found is not None:
                return own_row(found)
            if layer.hides_edge(key):
                return None
        return self.base.edge(key)

    def iter_nodes(self, kind: str | None, name: str | None, entry: str | None) -> Iterator[Node]:
        nodes: Iterator[Node] = self.base.iter_nodes(kind, name, entry)
        for layer in self.layers:
            nodes = layer.merge_nodes(nodes)
        for node in nodes:
            if (
                (kind is None or node.kind == kind)
                and (name is None or node.name == name)
                and (entry is None or node.entry == entry)
            ):
                yield own_row(node)

    def iter_edges(self, kinds: frozenset[str] | None) -> Iterator[Edge]:
        edges: Iterator[Edge] = self.base.iter_edges(kinds)
        for layer in self.layers:
            edges = layer.merge_edges(edges, kinds)
        return map(own_row, edges)

    def incident(
        self, node_id: str, direction: Direction, kinds: frozenset[str] | None, limit: int | None
    ) -> list[Edge]:
        """Edges of one node by key, as far as ``limit``."""
        rows = self.base.incident_rows(node_id, direction, kinds)
        if not self.layers:
            return self.base.edges_at(rows[:limit])
        edges = self.base.edges_at(rows)
        for layer in self.layers:
            edges = layer.merge_incident(node_id, edges, direction, kinds, None)
        return [own_row(edge) for edge in edges[:limit]]

    def flat(self) -> Base:
        """All of it as one base."""
        return merge(self.base, self._writes()) if self.layers else self.base

    def counts(self) -> GraphCounts:
        """Counted from what the layers change, so that it costs little while they are few."""
        writes = self._writes()
        base = Base.empty() if writes.cleared else self.base
        nodes = _tally(base.graph.node_kinds, base.graph.node_kind)
        edges = _tally(base.graph.edge_kinds, base.graph.edge_kind)
        nodes.subtract(
            node.kind for node_id in {**writes.deleted_nodes, **writes.nodes} if (node := base.node(node_id))
        )
        nodes.update(node.kind for node in writes.nodes.values())
        rows = {row for key in (*writes.deleted_edges, *writes.edges) if (row := base.edge_row(key)) is not None}
        rows.update(
            row for node_id in writes.deleted_nodes for row in base.incident_rows(node_id, Direction.BOTH, None)
        )
        edges.subtract(base.graph.edge_kinds[int(base.graph.edge_kind[row])] for row in rows)
        edges.update(edge.kind for edge in writes.edges.values())
        return GraphCounts(nodes.total(), edges.total(), _positive(nodes), _positive(edges))

    def _writes(self) -> PendingWrites:
        return reduce(PendingWrites.then, self.layers, PendingWrites())


SMALL = 4096
"""So many rows on top of a base never make a merge worth it."""


def settled(view: View, pending: PendingWrites) -> View:
    """``view`` with ``pending`` committed: a new layer, joined with older ones so that few remain.

    Each layer is more than twice the size of the next, and all together stay under a quarter of the base:
    a row is copied O(log) times in its life, and a read looks at O(log) layers.
    """
    if pending.cleared:
        return View(merge(view.base, pending))
    layers = [*view.layers, pending]
    while len(layers) > 1 and len(layers[-2]) <= 2 * len(layers[-1]):
        newer = layers.pop()
        layers.append(layers.pop().then(newer))
    grown = View(view.base, tuple(layers))
    graph = view.base.graph
    too_much = sum(map(len, layers)) > max(SMALL, (graph.n_nodes + graph.n_edges) // 4)
    return View(grown.flat()) if too_much else grown


def _tally(kinds: Iterable[str], codes: NDArray[Any]) -> Counter[str]:
    kinds = tuple(kinds)
    return Counter(dict(zip(kinds, np.bincount(codes, minlength=len(kinds)).tolist(), strict=True)))


def _positive(counter: Counter[str]) -> dict[str, int]:
    return {kind: counter[kind] for kind in sorted(counter) if counter[kind] > 0}
