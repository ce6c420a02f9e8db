"""``graph_mode: leg``: the graph as a third ranking, to be fused with the lexical and the dense one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from graphport.rank.pagerank import Engine, personalized_pagerank
from graphport.retrieval.bounded import EPSILON, MAX_VISITED, bounded_pagerank
from graphport.retrieval.linking import LinkedEntity
from graphport.retrieval.pointing import both_ways, specificity
from graphport.retrieval.ranking import GraphRanking, entry_shares
from graphport.retrieval.rerank import DAMPING
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage

NOTHING_NAMED = "the query names nothing that the graph holds"


def graph_leg(
    graph: GraphSnapshot,
    entities: Iterable[LinkedEntity],
    *,
    limit: int = 100,
    damping: float = DAMPING,
    passages: Mapping[str, float] | None = None,
    engine: Engine = "chebyshev",
) -> GraphRanking:
    """The ``limit`` best entries by the walk from what the query names; none, and a note, if it names nothing.

    As in HippoRAG 2: the walk is undirected and weighted, an entity's reset weight is its specificity (1 /
    number of entries it is in), times its linker's score, and from the entities it leads back to the entries
    they are in. ``passages`` are entries that are seeds too, with their reset weights (0.05 times the dense
    score there).
    Raises `InvalidInputError` for a damping outside [0, 1).
    """
    rare = specificity(graph)
    sure = _surest(entities)
    rows = {node: graph.index_of(node) for node in sure}
    seeds = {node: sure[node] * float(rare[row]) for node, row in rows.items() if row is not None and rare[row] > 0}
    if not seeds:
        return GraphRanking((), {}, note=NOTHING_NAMED)
    starts = tuple(sorted(seeds))
    of_entry = graph.entry_rows()
    for entry, weight in (passages or {}).items():
        if weight > 0 and entry in of_entry:
            node = graph.ids[of_entry[entry][0]]
            seeds[node] = seeds.get(node, 0.0) + weight
    scores = personalized_pagerank(graph, seeds, damping=damping, engine=engine, tol=EPSILON).scores
    entries, shares = entry_shares(graph, scores)
    order: list[int] = np.argsort(-shares, kind="stable")[:limit].tolist()
    found = {entries[row]: float(shares[row]) for row in order if shares[row] > 0}
    return GraphRanking(list(found.items()), found, starts, both_ways(graph))


def bounded_leg(
    storage: GraphStorage,
    entities: Iterable[LinkedEntity],
    *,
    limit: int = 100,
    damping: float = DAMPING,
    max_visited: int = MAX_VISITED,
) -> GraphRanking:
    """`graph_leg` without reading the whole graph: at most ``max_visited`` nodes are expanded.

    `GraphRanking.unexplored` says what mass stayed at the border.
    """
    sure = _surest(entities)
    incident = storage.incident_edges(sorted(sure)) if sure else {}
    neighbors = {
        node: {edge.target if edge.source == node else edge.source for edge in edges if edge.weight > 0}
        for node, edges in incident.items()
    }
    seeds = {node: sure[node] / len(around) for node, around in neighbors.items() if around}
    if not seeds:
        return GraphRanking((), {}, note=NOTHING_NAMED)
    found = bounded_pagerank(storage, seeds, damping=damping, max_visited=max_visited)
    best: dict[str, float] = {}
    for node in storage.get_nodes(found.scores).values():
        if node.entry is not None:
            best[node.entry] = max(best.get(node.entry, 0.0), found.scores[node.id])
    top = max(best.values(), default=0.0)
    ranked = sorted(((entry, score / top) for entry, score in best.items()), key=lambda pair: (-pair[1], pair[0]))
    return GraphRanking(ranked[:limit], dict(ranked[:limit]), tuple(sorted(seeds)), None, unexplored=found.unexplored)


def _surest(entities: Iterable[LinkedEntity]) -> dict[str, float]:
    """The best score that a node was linked with."""
    sure: dict[str, float] = {}
    for entity in entities:
        sure[entity.node] = max(entity.score, sure.get(entity.node, 0.0))
    return sure
