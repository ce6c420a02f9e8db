"""What the graph makes of a search: linking, the walk in each of its modes, and explanations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphport.knowledge.search import REACH, Legs, SearchOptions, plain_hits, run_legs
from graphport.rank.pagerank import Engine as PageRankEngine
from graphport.retrieval.explain import best_paths
from graphport.retrieval.fusion import normalized_fusion
from graphport.retrieval.hits import Explanation, Hit, Hop, Link
from graphport.retrieval.leg import bounded_leg, graph_leg
from graphport.retrieval.linking import LinkedEntity, link
from graphport.retrieval.ranking import GraphRanking
from graphport.retrieval.rerank import graph_rerank
from graphport.retrieval.walk import walk

if TYPE_CHECKING:
    from graphport.knowledge.base import KnowledgeBase


def search_with_graph(kb: KnowledgeBase, query: str, options: SearchOptions) -> list[Hit]:
    """The best hits by the legs and the graph, without their texts.

    The graph is fetched and the query linked before the legs run: the dense one reads all its vectors and
    leaves the processor's caches cold, in which the same lookups take three times as long.
    """
    if options.max_visited is not None:
        return _bounded(kb, query, options)
    graph = kb.snapshot(as_of=options.as_of)
    exact: PageRankEngine = "chebyshev" if options.engine == "auto" else options.engine
    if options.graph_mode == "rerank":
        hits = plain_hits(run_legs(kb, query, options), options.top_k, explain=options.explain)
        if len(hits) > 1:
            hits = graph_rerank(hits, graph, options.graph_weight, damping=options.damping, engine=exact)
        return hits
    entities = link(query, kb.linkers(options.linkers, graph))
    links = _links(query, entities, options)
    legs = run_legs(kb, query, options)
    if options.graph_mode == "leg":
        limit = max(REACH, 2 * options.top_k)
        found = graph_leg(graph, entities, limit=limit, damping=options.damping, engine=exact)
        legs = _with_leg(legs, found, options)
        return _explained(found, plain_hits(legs, options.top_k, explain=options.explain), options, links)
    found = walk(
        graph, entities, legs.found, legs.fused, limit=options.top_k, damping=options.damping,
        graph_weight=options.graph_weight, passage_node_weight=options.passage_node_weight,
        engine=None if options.engine == "auto" else options.engine,
    )  # fmt: skip
    return _explained(found, _ranked(found, legs, options), options, links)


def _bounded(kb: KnowledgeBase, query: str, options: SearchOptions) -> list[Hit]:
    """The graph as a leg, expanded around what the query names and never read as a whole."""
    storage = kb.storage
    entities = link(query, kb.linkers(options.linkers, storage))
    found = bounded_leg(
        storage, entities, limit=max(REACH, 2 * options.top_k),
        damping=options.damping, max_visited=options.max_visited or 1,
    )  # fmt: skip
    legs = _with_leg(run_legs(kb, query, options), found, options)
    left = f"{found.unexplored:.3f} of the walk was left unexplored beyond {options.max_visited} nodes"
    noted = replace(found, note=found.note or left)
    hits = plain_hits(legs, options.top_k, explain=options.explain)
    return _explained(noted, hits, options, _links(query, entities, options))


def _with_leg(legs: Legs, found: GraphRanking, options: SearchOptions) -> Legs:
    """The graph's ranking as one leg more; where it found nothing, fusion is of the other two."""
    if not found.ranked:
        return legs
    every = {**legs.found, "graph": found.ranked}
    fused = normalized_fusion([[entry for entry, _ in pairs] for pairs in every.values()], rrf_k=options.rrf_k)
    return Legs(every, fused)


def _ranked(found: GraphRanking, legs: Legs, options: SearchOptions) -> list[Hit]:
    """The walk's hits, with what the legs say of each where asked for."""
    if not options.explain:
        return [Hit(entry, score) for entry, score in found.ranked]
    plain = {hit.entry: hit.explanation for hit in plain_hits(legs, len(legs.fused), explain=True)}
    return [Hit(entry, score, explanation=plain.get(entry) or Explanation()) for entry, score in found.ranked]


def _links(query: str, entities: Sequence[LinkedEntity], options: SearchOptions) -> tuple[Link, ...]:
    """What the query was linked to, for explanations."""
    if not options.explain:
        return ()
    return tuple(Link(query[one.start : one.end], one.node, one.linker, one.score) for one in entities)


def _explained(found: GraphRanking, hits: list[Hit], options: SearchOptions, links: tuple[Link, ...]) -> list[Hit]:
    """Hits with their share of the walk, and the likeliest path from what the query names."""
    if not options.explain:
        return hits
    paths = best_paths(found.arcs, found.starts, [hit.entry for hit in hits]) if found.arcs is not None else {}
    notes = (found.note,) if found.note else ()
    return [
        replace(hit, explanation=replace(_told(hit, found, paths.get(hit.entry)), notes=notes, links=links))
        for hit in hits
    ]


def _told(hit: Hit, found: GraphRanking, path: tuple[Hop, ...] | None) -> Explanation:
    told = hit.explanation or Explanation()
    start = None
    if path:
        start = path[0].source if path[0].forward else path[0].target
    return replace(told, ppr=found.shares.get(hit.entry), path_from=start, path=path or ())
