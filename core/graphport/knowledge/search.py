"""Searching a knowledge base: legs, fusion, and what the graph makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from graphport.builders import Entry
from graphport.config import Engine, GraphMode, LinkerName, Mode, RetrievalConfig
from graphport.errors import InvalidQueryError
from graphport.rank.pagerank import Engine as PageRankEngine
from graphport.retrieval.explain import best_paths
from graphport.retrieval.fusion import normalized_fusion
from graphport.retrieval.hits import Explanation, Hit, Hop, Link
from graphport.retrieval.leg import bounded_leg, graph_leg
from graphport.retrieval.linking import LinkedEntity, link
from graphport.retrieval.ranking import GraphRanking
from graphport.retrieval.rerank import check_graph_weight, graph_rerank
from graphport.retrieval.walk import walk
from graphport.traverse import check_limit

if TYPE_CHECKING:
    from graphport.knowledge.base import KnowledgeBase

_REACH = 100
"""How far each leg looks at least; what lies deeper changes no fused top ten."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """A search's options, each from the call or else from the config; ``as_of`` in seconds since the epoch."""

    mode: Mode
    top_k: int
    graph: bool
    graph_mode: GraphMode
    graph_weight: float
    damping: float
    engine: Engine
    rrf_k: float
    passage_node_weight: float
    max_visited: int | None
    linkers: Sequence[LinkerName]
    as_of: float | None = None
    explain: bool = False

    @classmethod
    def of(cls, config: RetrievalConfig, given: Mapping[str, Any]) -> SearchOptions:
        """``config`` with what the call gave; raises `InvalidQueryError` for a value out of range."""
        values = {**config.model_dump(), **{key: value for key, value in given.items() if value is not None}}
        options = cls(**values)
        if options.mode not in get_args(Mode):
            raise InvalidQueryError(f"mode is {options.mode!r}; it must be one of {', '.join(get_args(Mode))}")
        if options.engine not in get_args(Engine):
            raise InvalidQueryError(f"engine is {options.engine!r}; it must be one of {', '.join(get_args(Engine))}")
        if options.graph_mode not in get_args(GraphMode):
            known = ", ".join(get_args(GraphMode))
            raise InvalidQueryError(f"graph_mode is {options.graph_mode!r}; it must be one of {known}")
        check_limit(options.top_k, "top_k", least=1)
        if options.max_visited is not None:
            check_limit(options.max_visited, "max_visited", least=1)
            if options.graph_mode not in ("leg", "auto") or options.as_of is not None:
                raise InvalidQueryError("max_visited goes with graph_mode 'leg' and the graph of now; leave it out")
        there = get_args(LinkerName)
        if not options.linkers or len({*options.linkers} & {*there}) < len(options.linkers):
            raise InvalidQueryError(f"linkers are {options.linkers!r}; give some of {', '.join(there)}, each once")
        if not 0 <= options.damping < 1:
            raise InvalidQueryError(f"damping is {options.damping!r}; it must be in [0, 1)")
        check_graph_weight(options.graph_weight)
        return options


@dataclass(frozen=True, slots=True)
class Legs:
    """What each leg found, best first, and the fusion of them: ``(entry, score in [0, 1])``."""

    found: Mapping[str, Sequence[tuple[str, float]]]
    fused: Sequence[tuple[str, float]]


def search(kb: KnowledgeBase, query: str, options: SearchOptions) -> list[Hit]:
    """The ``top_k`` visible entries that answer the query best, best first."""
    query = query.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")  # any text is a query
    if not query.strip():
        raise InvalidQueryError("the query is empty; ask for at least one word")
    legs = run_legs(kb, query, options)
    if options.graph and kb.config.strategy.graph:
        return _with_graph(kb, query, options, legs)
    return fill(kb, plain_hits(legs, options.top_k, explain=options.explain))


def entities_of(kb: KnowledgeBase, query: str, options: SearchOptions) -> list[LinkedEntity]:
    """What the query names, as a search with these options links it; [] for one without the graph."""
    if not options.graph or not kb.config.strategy.graph:
        return []
    graph = kb.storage if options.max_visited is not None else kb.snapshot(as_of=options.as_of)
    return link(query, kb.linkers(options.linkers, graph))


def run_legs(kb: KnowledgeBase, query: str, options: SearchOptions) -> Legs:
    """The legs that ``mode`` asks for; without an embedder hybrid is lexical alone."""
    reach = max(_REACH, 2 * options.top_k)
    hidden = kb.hidden(options.as_of)
    found: dict[str, Sequence[tuple[str, float]]] = {}
    if options.mode != "dense":
        found["lexical"] = kb.lexical().search(query, reach + len(hidden))
    if options.mode != "lexical":
        dense = kb.dense_search(query, reach + len(hidden), required=options.mode == "dense")
        if dense is not None:
            found["dense"] = dense
    found = {leg: [pair for pair in pairs if pair[0] not in hidden][:reach] for leg, pairs in found.items()}
    fused = normalized_fusion([[entry for entry, _ in pairs] for pairs in found.values()], rrf_k=options.rrf_k)
    return Legs(found, fused)


def plain_hits(legs: Legs, limit: int, *, explain: bool) -> list[Hit]:
    """The fused hits, with ranks and scores of each leg where asked for."""
    hits = [Hit(entry, score) for entry, score in legs.fused[:limit]]
    if not explain:
        return hits
    places = {leg: {pair[0]: rank for rank, pair in enumerate(pairs, 1)} for leg, pairs in legs.found.items()}
    scores = {leg: dict(pairs) for leg, pairs in legs.found.items()}
    return [
        replace(
            hit,
            explanation=Explanation(
                ranks={leg: places[leg][hit.entry] for leg in places if hit.entry in places[leg]},
                scores={leg: scores[leg][hit.entry] for leg in scores if hit.entry in scores[leg]},
                base=hit.score,
            ),
        )
        for hit in hits
    ]


def fill(kb: KnowledgeBase, hits: Sequence[Hit]) -> list[Hit]:
    """Hits with the text and place of their entries."""
    entries = kb.get([hit.entry for hit in hits])
    return [_filled(hit, entries[hit.entry]) for hit in hits if hit.entry in entries]


def _filled(hit: Hit, entry: Entry) -> Hit:
    return replace(
        hit, title=entry.title, text=entry.text, kind=entry.kind, document=entry.document,
        start_line=entry.start_line, end_line=entry.end_line, meta=entry.meta,
    )  # fmt: skip


def _with_graph(kb: KnowledgeBase, query: str, options: SearchOptions, legs: Legs) -> list[Hit]:
    if options.max_visited is not None:
        return fill(kb, _bounded(kb, query, options, legs))
    graph = kb.snapshot(as_of=options.as_of)
    exact: PageRankEngine = "chebyshev" if options.engine == "auto" else options.engine
    if options.graph_mode == "rerank":
        hits = plain_hits(legs, options.top_k, explain=options.explain)
        if len(hits) > 1:
            hits = graph_rerank(hits, graph, options.graph_weight, damping=options.damping, engine=exact)
        return fill(kb, hits)
    entities = link(query, kb.linkers(options.linkers, graph))
    links = _links(query, entities, options)
    if options.graph_mode == "leg":
        limit = max(_REACH, 2 * options.top_k)
        found = graph_leg(graph, entities, limit=limit, damping=options.damping, engine=exact)
        legs = _with_leg(legs, found, options)
        return fill(kb, _explained(found, plain_hits(legs, options.top_k, explain=options.explain), options, links))
    found = walk(
        graph, entities, legs.found, legs.fused, limit=options.top_k, damping=options.damping,
        graph_weight=options.graph_weight, passage_node_weight=options.passage_node_weight,
        engine=None if options.engine == "auto" else options.engine,
    )  # fmt: skip
    return fill(kb, _explained(found, _ranked(found, legs, options), options, links))


def _bounded(kb: KnowledgeBase, query: str, options: SearchOptions, legs: Legs) -> list[Hit]:
    """The graph as a leg, expanded around what the query names and never read as a whole."""
    storage = kb.storage
    entities = link(query, kb.linkers(options.linkers, storage))
    found = bounded_leg(
        storage, entities, limit=max(_REACH, 2 * options.top_k),
        damping=options.damping, max_visited=options.max_visited or 1,
    )  # fmt: skip
    legs = _with_leg(legs, found, options)
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
