"""Searching, with the reasons told in names a reader knows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

from graphport.config import GraphMode, LinkerName, Mode
from graphport.knowledge.base import KnowledgeBase
from graphport.retrieval.hits import Explanation, Hit, explained_names
from graphport_serve.answers import QueryLink, Report, SearchAnswer, SearchHit, Step, Why
from graphport_serve.paging import Bounds, json_size, page_of


@dataclass(frozen=True, slots=True)
class Search:
    """A search and its options; None is as the knowledge base's config says."""

    query: str
    top_k: int | None = None
    mode: Mode | None = None
    graph: bool | None = None
    graph_weight: float | None = None
    graph_mode: GraphMode | None = None
    linkers: Sequence[LinkerName] | None = None
    explain: bool = False

    def __call__(
        self, kb: KnowledgeBase, *, bounds: Bounds | None = None, cursor: str | None = None, text: int | None = None
    ) -> SearchAnswer:
        """The hits, best first; ``text`` cuts each one's text to so many characters."""
        found = kb.search(
            self.query, top_k=self.top_k, mode=self.mode, graph=self.graph, graph_weight=self.graph_weight,
            graph_mode=self.graph_mode, linkers=self.linkers, explain=self.explain,
        )  # fmt: skip
        names = explained_names(kb.storage, found)
        nodes = _nodes_of(kb, found) if self.explain else {}
        hits = [told_hit(rank, hit, names, nodes.get(hit.entry, []), text) for rank, hit in enumerate(found, 1)]
        page = page_of(
            hits, cursor, bounds or Bounds(len(hits) or 1), question=("search", kb.config.name, *astuple(self)),
            size=json_size,
        )  # fmt: skip
        wanted = kb.config.retrieval.graph if self.graph is None else self.graph
        return SearchAnswer(
            query=self.query, graph=wanted and kb.config.strategy.graph, hits=page.items, next_cursor=page.next
        )


def make_report(
    kb: KnowledgeBase,
    query: str,
    *,
    budget: float,
    linkers: Sequence[LinkerName] | None = None,
    save: bool = False,
) -> Report:
    """A report on ``query`` of about ``budget`` tokens; ``save`` keeps it as a node that cites its sources."""
    return Report.model_validate(kb.make_report(query, budget, save=save, linkers=linkers))


def told_hit(rank: int, hit: Hit, names: Mapping[str, str], nodes: list[str], text: int | None = None) -> SearchHit:
    """A hit as it is answered; ``names`` are those of the nodes on its path.

    ``text`` cuts its text to so many characters, and leaves out a ``meta`` that takes more as JSON.
    """
    large = text is not None and len(json.dumps(hit.meta)) > text
    return SearchHit(
        rank=rank,
        entry=hit.entry,
        score=hit.score,
        title=hit.title[:text],
        text=hit.text[:text],
        text_cut=text is not None and len(hit.text) > text,
        kind=hit.kind,
        location=hit.location,
        document=hit.document,
        start_line=hit.start_line,
        end_line=hit.end_line,
        meta={} if large else hit.meta,
        meta_cut=large,
        nodes=nodes,
        why=None if hit.explanation is None else _why(hit.explanation, names),
    )


def _why(told: Explanation, names: Mapping[str, str]) -> Why:
    return Why(
        ranks=told.ranks,
        base=told.base,
        ppr=told.ppr,
        path_from=told.path_from,
        path_from_name=None if told.path_from is None else names.get(told.path_from, told.path_from),
        path=[
            Step(
                source=hop.source,
                source_name=names.get(hop.source, hop.source),
                kind=hop.kind,
                target=hop.target,
                target_name=names.get(hop.target, hop.target),
                forward=hop.forward,
                probability=hop.probability,
            )
            for hop in told.path
        ],
        links=[
            QueryLink(
                written=link.written,
                node=link.node,
                node_name=names.get(link.node, link.node),
                linker=link.linker,
                score=link.score,
            )
            for link in told.links
        ],
        notes=list(told.notes),
    )


def _nodes_of(kb: KnowledgeBase, hits: list[Hit]) -> dict[str, list[str]]:
    """Ids of the nodes that stand for each hit's entry."""
    if not kb.config.strategy.graph:
        return {}
    if kb.config.retrieval.max_visited is not None:
        return {hit.entry: [node.id for node in kb.storage.iter_nodes(entry=hit.entry)] for hit in hits}
    graph = kb.snapshot()
    rows = graph.entry_rows()
    return {hit.entry: [graph.ids[row] for row in rows.get(hit.entry, ())] for hit in hits}
