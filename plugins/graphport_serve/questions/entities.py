"""Entities, and the chapters and texts that mention them."""

from __future__ import annotations

from graphport.errors import MissingNodeError
from graphport.knowledge import entity_queries
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import TOPIC
from graphport_serve.answers import ChapterMention, EntityAnswer, EntityList, ListedEntity, Mention
from graphport_serve.paging import Bounds, json_size, only, page_of
from graphport_serve.questions.graphs import refuse_if_bounded

_Row = entity_queries.ChapterMention | entity_queries.TextMention
_MOST_READINGS = 50


def find_entity(
    kb: KnowledgeBase, name: str, *, entity_type: str | None = None, bounds: Bounds, cursor: str | None = None
) -> EntityAnswer:
    """`KnowledgeBase.find_entity`, its chapters and texts a page at a time. Raises `MissingNodeError`."""
    found = kb.find_entity(name, entity_type, limit=None)
    if found is None:
        of_type = f" of type {entity_type!r:.80}" if entity_type else ""
        raise MissingNodeError(
            f"no entity {name!r:.120}{of_type}; list the entities or the gazetteer to see those there are"
        )
    rows: list[_Row] = [*found.chapters, *found.mentions]
    page = page_of(
        rows, cursor, bounds,
        question=("entity", kb.config.name, found.id), size=lambda row: json_size(_told(row)),
    )  # fmt: skip
    told = [_told(row) for row in page.items]
    itself = ListedEntity(id=found.id, type=found.type, name=found.name, mentions=found.count, texts=found.texts)
    return EntityAnswer(
        id=found.id,
        type=found.type,
        name=found.name,
        count=found.count,
        texts=found.texts,
        in_chapters=found.in_chapters,
        chapters=only(told, ChapterMention),
        mentions=only(told, Mention),
        readings=[itself, *(ListedEntity.model_validate(item) for item in found.others[:_MOST_READINGS])],
        others=[item.id for item in found.others[:_MOST_READINGS]],
        next_cursor=page.next,
    )


def _told(row: _Row) -> ChapterMention | Mention:
    shape = Mention if isinstance(row, entity_queries.TextMention) else ChapterMention
    return shape.model_validate(row)


def find_concept(kb: KnowledgeBase, name: str, *, bounds: Bounds, cursor: str | None = None) -> EntityAnswer:
    """`find_entity` of the type of concepts."""
    return find_entity(kb, name, entity_type=TOPIC, bounds=bounds, cursor=cursor)


def list_entities(
    kb: KnowledgeBase, *, entity_type: str | None = None, bounds: Bounds, cursor: str | None = None
) -> EntityList:
    """The entities of a type (None: of all), the most mentioned first."""
    refuse_if_bounded(kb)
    page = page_of(
        kb.list_entities(entity_type, limit=None), cursor, bounds,
        question=("entities", kb.config.name, entity_type), size=lambda item: 80 + 2 * len(item.id),
    )  # fmt: skip
    return EntityList(entities=[ListedEntity.model_validate(item) for item in page.items], next_cursor=page.next)
