"""Entities in the graph, and the texts that mention them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphport.errors import MissingNodeError
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import TOPIC
from graphport.matching import fold
from graphport.model import Direction
from graphport.snapshot import GraphSnapshot
from graphport_serve.answers import EntityAnswer, EntityList, ListedEntity, Mention
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
    """The entity of that name, or of that alias, and the texts about it: those titled so, then by mentions.

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
    edges.sort(key=lambda edge: (edge.kind != TITLED, -edge.weight, edge.source))
    page = page_of(
        edges, cursor, bounds, question=("entity", kb.config.name, best.id), size=lambda edge: 200 + len(edge.source)
    )
    nodes = kb.storage.get_nodes([edge.source for edge in page.items])
    entries = kb.get([node.entry for node in nodes.values() if node.entry is not None])
    mentions: list[Mention] = []
    for edge in page.items:
        node = nodes[edge.source]
        entry = entries.get(node.entry or "")
        mentions.append(
            Mention(
                node=edge.source,
                entry=node.entry,
                title=node.name if entry is None else entry.title,
                document="" if entry is None else entry.document,
                start_line=0 if entry is None else entry.start_line,
                titled=edge.kind == TITLED,
                count=edge.weight,
            )
        )
    return EntityAnswer(
        id=best.id, type=best.type, name=best.name, mentions=mentions, others=[item.id for item in found[1:]],
        next_cursor=page.next,
    )  # fmt: skip


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
    rows = np.flatnonzero(np.isin(graph.edge_kind, kinds))
    targets = graph.target_index[rows]
    totals = np.bincount(targets, weights=graph.weight[rows], minlength=graph.n_nodes)
    counts = np.bincount(targets, minlength=graph.n_nodes)
    found = [
        _Listed(node_id, node_id.split(":", 2)[1], graph.names[row], float(totals[row]), int(counts[row]))
        for row, node_id in enumerate(graph.ids)
        if graph.node_kind_of(row) == ENTITY and node_id.count(":") >= 2
    ]
    return sorted(found, key=lambda item: (-item.mentions, item.id))
