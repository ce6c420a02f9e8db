"""Looking at the graph: a node's surroundings, the whole from above, communities, and a walk from a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphport.errors import MissingNodeError, UnsupportedError
from graphport.knowledge.base import KnowledgeBase
from graphport.model import Direction, Props
from graphport.rank.communities import leiden_communities, louvain_communities, modularity
from graphport.rank.pagerank import personalized_pagerank
from graphport.snapshot import GraphSnapshot
from graphport_serve.answers import (
    Communities,
    Community,
    FoundNode,
    FoundNodes,
    GraphAnswer,
    GraphEdge,
    GraphNode,
    NodeScore,
    Ranking,
)
from graphport_serve.paging import Bounds, joined, json_size, only, page_of

Algorithm = Literal["leiden", "louvain"]
_MEMBERS = 5
_MOST_COUNTED = 1000
"""A degree is told up to this where edges must be counted one by one."""


@dataclass(frozen=True, slots=True)
class Around:
    """What lies around ``node``; without one, the best connected nodes and those that join them.

    ``kinds`` are the edge kinds that count (None: all).
    """

    node: str | None = None
    depth: int = 1
    max_nodes: int = 200
    direction: Direction = Direction.BOTH
    kinds: frozenset[str] | None = None
    communities: bool = False

    def __call__(self, kb: KnowledgeBase, *, bounds: Bounds | None = None, cursor: str | None = None) -> GraphAnswer:
        part = self._overview(whole_graph(kb)) if self.node is None else self._surroundings(kb)
        if bounds is None:
            return part
        question = (self.node, self.depth, self.max_nodes, self.direction, sorted(self.kinds or ()), self.communities)
        return paged(part, cursor, bounds, question=("graph", kb.config.name, *question))

    def _surroundings(self, kb: KnowledgeBase) -> GraphAnswer:
        assert self.node is not None
        found = kb.storage.neighborhood(
            [self.node], depth=self.depth, max_nodes=self.max_nodes, direction=self.direction, kinds=self.kinds
        )
        if not found.nodes:
            raise MissingNodeError(f"no node {self.node!r:.120} in the graph; look for it by its name", (self.node,))
        degrees, labels = self._facts(kb, list(found.depths))
        nodes = [
            GraphNode(
                id=node.id, kind=node.kind, name=node.name, entry=node.entry, depth=found.depths[node.id],
                degree=degrees[node.id], community=labels.get(node.id),
            )
            for node in found.nodes
        ]  # fmt: skip
        edges = [_edge(edge.source, edge.target, edge.kind, edge.weight, edge.props) for edge in found.edges]
        return GraphAnswer(nodes=nodes, edges=edges, truncated=found.truncated)

    def _facts(self, kb: KnowledgeBase, ids: list[str]) -> tuple[dict[str, int], dict[str, int]]:
        """Degrees and communities by node id; counted edge by edge where the graph is never read as a whole."""
        if kb.config.retrieval.max_visited is not None:
            incident = kb.storage.incident_edges(ids, limit_per_node=_MOST_COUNTED)
            return {node_id: len(incident.get(node_id, ())) for node_id in ids}, {}
        snapshot = kb.snapshot()
        rows = {node_id: row for node_id in ids if (row := snapshot.index_of(node_id)) is not None}
        degrees = _degrees(snapshot)
        labels = _labels(snapshot, "leiden", 1.0) if self.communities else None
        return (
            {node_id: int(degrees[rows[node_id]]) if node_id in rows else 0 for node_id in ids},
            {} if labels is None else {node_id: int(labels[row]) for node_id, row in rows.items()},
        )

    def _overview(self, snapshot: GraphSnapshot) -> GraphAnswer:
        degrees = _degrees(snapshot)
        rows: list[int] = np.sort(_landmarks(snapshot, degrees, self.max_nodes)).tolist()
        labels = _labels(snapshot, "leiden", 1.0) if self.communities else None
        inside = np.zeros(snapshot.n_nodes, dtype=bool)
        inside[rows] = True
        shown = inside[snapshot.source_index] & inside[snapshot.target_index]
        if self.kinds is not None:
            shown &= np.isin(
                snapshot.edge_kind, [snapshot.edge_kinds.index(k) for k in self.kinds & {*snapshot.edge_kinds}]
            )
        nodes = [
            GraphNode(
                id=snapshot.ids[row], kind=snapshot.node_kind_of(row), name=snapshot.names[row],
                entry=snapshot.entries[row], depth=0, degree=int(degrees[row]),
                community=None if labels is None else int(labels[row]),
            )
            for row in rows
        ]  # fmt: skip
        edges = [_edge(*snapshot.edge_key(row), float(snapshot.weight[row])) for row in np.flatnonzero(shown).tolist()]
        return GraphAnswer(nodes=nodes, edges=edges, truncated=len(rows) < snapshot.n_nodes)


def whole_graph(kb: KnowledgeBase) -> GraphSnapshot:
    """The whole graph, kept while nothing changes. `UnsupportedError` where ``retrieval.max_visited`` forbids it."""
    refuse_if_bounded(kb)
    return kb.snapshot()


def refuse_if_bounded(kb: KnowledgeBase) -> None:
    """`UnsupportedError` where ``retrieval.max_visited`` forbids questions about everything."""
    if kb.config.retrieval.max_visited is not None:
        raise UnsupportedError(
            f"the graph of {kb.config.name!r} is never read as a whole (retrieval.max_visited); ask about one node"
        )


def find_nodes(
    kb: KnowledgeBase, text: str, *, kind: str | None, bounds: Bounds, cursor: str | None = None
) -> FoundNodes:
    """Nodes whose name holds ``text``, whatever the case: whole names first, then beginnings, then the rest, by id."""
    snapshot = whole_graph(kb)
    names = snapshot.derived("serve:folded_names", lambda graph: [name.casefold() for name in graph.names])
    wanted = text.casefold()
    rows = [
        row for row, name in enumerate(names) if wanted in name and (kind is None or snapshot.node_kind_of(row) == kind)
    ]
    rows.sort(key=lambda row: (names[row] != wanted, not names[row].startswith(wanted), row))
    page = page_of(
        rows, cursor, bounds, question=("nodes", kb.config.name, text, kind), size=lambda row: 2 * len(names[row]) + 60
    )
    return FoundNodes(nodes=[_found(snapshot, row) for row in page.items], next_cursor=page.next)


def walk_from(kb: KnowledgeBase, node: str, *, top_k: int, damping: float) -> Ranking:
    """Where a walk from ``node`` is, the likeliest nodes first (Personalized PageRank)."""
    snapshot = whole_graph(kb)
    ranks = personalized_pagerank(snapshot, {node}, damping=damping, engine="chebyshev")
    best = [(snapshot.index_of(node_id), score) for node_id, score in ranks.top(top_k) if score > 0]
    scores = [
        NodeScore(id=snapshot.ids[row], name=snapshot.names[row], kind=snapshot.node_kind_of(row), score=score)
        for row, score in best
        if row is not None
    ]
    return Ranking(node=node, damping=damping, scores=scores)


def communities(
    kb: KnowledgeBase, *, algorithm: Algorithm, resolution: float, bounds: Bounds, cursor: str | None = None
) -> Communities:
    """The communities of the graph, the largest first, each with its best connected members."""
    snapshot = whole_graph(kb)
    labels = _labels(snapshot, algorithm, resolution)
    quality = modularity(snapshot, dict(zip(snapshot.ids, labels.tolist(), strict=True)), resolution)
    sizes = np.bincount(labels) if len(labels) else np.zeros(0, dtype=np.int64)
    order: list[int] = np.argsort(-sizes, kind="stable").tolist()
    page = page_of(
        order, cursor, bounds, question=("communities", kb.config.name, algorithm, resolution), size=lambda _: 500
    )
    by_degree = np.argsort(-_degrees(snapshot), kind="stable")
    found = [
        Community(
            id=label,
            size=int(sizes[label]),
            members=_members(snapshot, by_degree[labels[by_degree] == label]),
        )
        for label in page.items
    ]
    return Communities(
        algorithm=algorithm, resolution=resolution, modularity=quality, count=len(sizes), communities=found,
        next_cursor=page.next,
    )  # fmt: skip


def _members(snapshot: GraphSnapshot, rows: NDArray[np.int64]) -> list[FoundNode]:
    first: list[int] = rows[:_MEMBERS].tolist()
    return [_found(snapshot, row) for row in first]


def _labels(snapshot: GraphSnapshot, algorithm: Algorithm, resolution: float) -> NDArray[np.int64]:
    """(n,) community of each node. Kept with the snapshot for resolution 1 alone: callers choose the others."""

    def compute(graph: GraphSnapshot) -> NDArray[np.int64]:
        find: Callable[[GraphSnapshot, float], dict[str, int]]
        find = leiden_communities if algorithm == "leiden" else louvain_communities
        return np.fromiter(find(graph, resolution).values(), dtype=np.int64, count=graph.n_nodes)

    return snapshot.derived(f"serve:{algorithm}", compute) if resolution == 1.0 else compute(snapshot)


def _degrees(snapshot: GraphSnapshot) -> NDArray[np.int64]:
    """(n,) number of edges that touch each node; a self-loop counts once."""

    def compute(graph: GraphSnapshot) -> NDArray[np.int64]:
        loops = graph.source_index == graph.target_index
        ends = np.concatenate([graph.source_index, graph.target_index[~loops]])
        return np.bincount(ends, minlength=graph.n_nodes)

    return snapshot.derived("serve:degrees", compute)


def _landmarks(snapshot: GraphSnapshot, degrees: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Rows of ``count`` nodes to see a graph by: the hubs, a third of them, then what is joined to most hubs.

    Hubs alone would often have no edge between them: texts hang on names, and names on texts.
    """
    by_degree = np.argsort(-degrees, kind="stable")
    hub = np.zeros(snapshot.n_nodes, dtype=bool)
    hub[by_degree[: -(-count // 3)]] = True
    source, target = snapshot.source_index, snapshot.target_index
    ends = np.concatenate([target[hub[source]], source[hub[target]]])
    joined = np.bincount(ends, minlength=snapshot.n_nodes)
    return np.lexsort((-degrees, -joined, ~hub))[:count]


def _found(snapshot: GraphSnapshot, row: int) -> FoundNode:
    return FoundNode(id=snapshot.ids[row], kind=snapshot.node_kind_of(row), name=snapshot.names[row])


def _edge(source: str, target: str, kind: str, weight: float, props: Props | None = None) -> GraphEdge:
    return GraphEdge(source=source, target=target, kind=kind, weight=weight, props=props or {})


def paged(part: GraphAnswer, cursor: str | None, bounds: Bounds, *, question: Sequence[object]) -> GraphAnswer:
    """A page of ``part``. An edge comes with the later of its two nodes, so pages build on each other."""
    rows = joined(part.nodes, part.edges, lambda node: node.id)
    page = page_of(rows, cursor, bounds, question=question, size=json_size)
    return GraphAnswer(
        nodes=only(page.items, GraphNode),
        edges=only(page.items, GraphEdge),
        truncated=part.truncated,
        next_cursor=page.next,
    )
