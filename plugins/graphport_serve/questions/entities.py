"""Entities in the graph, and the texts that mention them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphport.errors import MissingNodeError
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import TOPIC
from graphport.matching import fold
from graphport.model import Direction, Edge, Node
from graphport.snapshot import GraphSnapshot
from graphport_serve.answers import ChapterMention, EntityAnswer, EntityList, ListedEntity, Mention
from graphport_serve.paging import Bounds, json_size, page_of
from graphport_serve.questions.graphs import whole_graph

ENTITY = "entity"
MENTIONS, TITLED = "mentions", "titled"
"""Edges from a text to what it mentions, and to what its own title names: no text has both to one thing."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """An entity node; ``mentions`` and ``texts`` are its edges' weights in all, and their number."""

    id: str
    type: str
    name: str
    mentions: float
    texts: int


def find_entity(
    kb: KnowledgeBase, name: str, *, entity_type: str | None = None, bounds: Bounds, cursor: str | None = None
) -> EntityAnswer:
    """The entity of that name, or of that alias; the chapters, then the texts about it: titled so, then by mentions.

    Of several the most mentioned one is told, and the ids of the ``others``. Raises `MissingNodeError`.
    """
    found = _named(kb, name, entity_type)
    if not found:
        of_type = f" of type {entity_type!r:.80}" if entity_type else ""
        raise MissingNodeError(
            f"no entity {name!r:.120}{of_type} in the graph; list the entities to see those there are"
        )
    best = found[0]
    edges = kb.storage.incident_edges([best.id], direction=Direction.IN, kinds=[MENTIONS, TITLED]).get(best.id, [])
    nodes = kb.storage.get_nodes({edge.source for edge in edges})
    edges.sort(key=lambda edge: (nodes[edge.source].entry is not None, edge.kind != TITLED, -edge.weight, edge.source))
    page = page_of(
        edges, cursor, bounds, question=("entity", kb.config.name, best.id), size=lambda edge: 200 + len(edge.source)
    )
    shown = [(edge, nodes[edge.source]) for edge in page.items]
    return EntityAnswer(
        id=best.id,
        type=best.type,
        name=best.name,
        chapters=[_chapter(edge, node) for edge, node in shown if node.entry is None],
        mentions=_texts(kb, [(edge, node.entry) for edge, node in shown if node.entry is not None]),
        others=[item.id for item in found[1:]],
        next_cursor=page.next,
    )


def _chapter(edge: Edge, node: Node) -> ChapterMention:
    return ChapterMention(node=node.id, kind=node.kind, title=node.name, props=node.props, count=edge.weight)


def _texts(kb: KnowledgeBase, rows: Sequence[tuple[Edge, str]]) -> list[Mention]:
    entries = kb.get({entry for _, entry in rows})
    return [
        Mention(
            node=edge.source,
            entry=entry,
            title=entries[entry].title,
            document=entries[entry].document,
            start_line=entries[entry].start_line,
            titled=edge.kind == TITLED,
            count=edge.weight,
        )
        for edge, entry in rows
        if entry in entries
    ]


def find_concept(kb: KnowledgeBase, name: str, *, bounds: Bounds, cursor: str | None = None) -> EntityAnswer:
    """`find_entity` of the type of concepts."""
    return find_entity(kb, name, entity_type=TOPIC, bounds=bounds, cursor=cursor)


def list_entities(
    kb: KnowledgeBase, *, entity_type: str | None = None, bounds: Bounds, cursor: str | None = None
) -> EntityList:
    """The entities of a type (None: of all), the most mentioned first."""
    rows = [
        ListedEntity(id=item.id, type=item.type, name=item.name, mentions=item.mentions, texts=item.texts)
        for item in _entities(whole_graph(kb))
        if entity_type is None or item.type == entity_type
    ]
    page = page_of(rows, cursor, bounds, question=("entities", kb.config.name, entity_type), size=json_size)
    return EntityList(entities=page.items, next_cursor=page.next)


def _named(kb: KnowledgeBase, name: str, entity_type: str | None) -> list[_Listed]:
    wanted = fold(name)
    known = {item.id for item in kb.effective_gazetteer() if wanted in {fold(form) for form in item.names}}
    return [
        item
        for item in _entities(whole_graph(kb))
        if (item.id in known or fold(item.name) == wanted) and (entity_type is None or item.type == entity_type)
    ]


def _entities(snapshot: GraphSnapshot) -> list[_Listed]:
    """Every entity, the most mentioned first, then by id; made once per revision."""
    return snapshot.derived("serve:entities", _counted)


def _counted(graph: GraphSnapshot) -> list[_Listed]:
    kinds = [code for code, kind in enumerate(graph.edge_kinds) if kind in (MENTIONS, TITLED)]
    # A chapter mentions what its passages mention: only what stands for a text is counted.
    rows = np.flatnonzero(np.isin(graph.edge_kind, kinds) & graph.entry_mask()[graph.source_index])
    targets = graph.target_index[rows]
    totals = np.bincount(targets, weights=graph.weight[rows], minlength=graph.n_nodes)
    counts = np.bincount(targets, minlength=graph.n_nodes)
    found = [
        _Listed(node_id, node_id.split(":", 2)[1], graph.names[row], float(totals[row]), int(counts[row]))
        for row, node_id in enumerate(graph.ids)
        if graph.node_kind_of(row) == ENTITY and node_id.count(":") >= 2
    ]
    return sorted(found, key=lambda item: (-item.mentions, item.id))
