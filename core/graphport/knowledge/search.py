"""Searching a knowledge base: options, legs and their fusion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from graphport.builders import Entry
from graphport.config import Engine, GraphMode, LinkerName, Mode, RetrievalConfig
from graphport.errors import InvalidQueryError
from graphport.retrieval.fusion import check_graph_weight, normalized_fusion
from graphport.retrieval.hits import Explanation, Hit
from graphport.retrieval.linking import LinkedEntity, link
from graphport.traverse import check_limit

if TYPE_CHECKING:
    from graphport.knowledge.base import KnowledgeBase

REACH = 100
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
    if options.graph and kb.config.strategy.graph:
        from graphport.knowledge.graph_search import search_with_graph  # brings scipy and igraph

        return fill(kb, search_with_graph(kb, query, options))
    return fill(kb, plain_hits(run_legs(kb, query, options), options.top_k, explain=options.explain))


def entities_of(kb: KnowledgeBase, query: str, options: SearchOptions) -> list[LinkedEntity]:
    """What the query names, as a search with these options links it; [] for one without the graph."""
    if not options.graph or not kb.config.strategy.graph:
        return []
    graph = kb.storage if options.max_visited is not None else kb.snapshot(as_of=options.as_of)
    return link(query, kb.linkers(options.linkers, graph))


def run_legs(kb: KnowledgeBase, query: str, options: SearchOptions) -> Legs:
    """The legs that ``mode`` asks for; without an embedder hybrid is lexical alone."""
    reach = max(REACH, 2 * options.top_k)
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
