"""The gazetteer: what it holds, and changing its runtime layer."""

from __future__ import annotations

from collections.abc import Sequence

from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import entity
from graphport.knowledge.gazetteer import GazetteerRow
from graphport_serve.answers import GazetteerAnswer, GazetteerEntity, Removed
from graphport_serve.answers_curating import SharedName, SharedNames
from graphport_serve.paging import Bounds, json_size, page_of


def list_gazetteer(kb: KnowledgeBase, *, bounds: Bounds, cursor: str | None = None) -> GazetteerAnswer:
    """Every row with its origin, declared ones first."""
    page = page_of(
        kb.gazetteer_listing(), cursor, bounds, question=("gazetteer", kb.config.name),
        size=lambda row: 80 + 2 * len(row.id) + sum(len(name) + 4 for name in row.names),
    )  # fmt: skip
    return GazetteerAnswer(entities=[_row(row) for row in page.items], next_cursor=page.next)


def shared_names(kb: KnowledgeBase, *, bounds: Bounds, cursor: str | None = None) -> SharedNames:
    """Names that several entities have, by name."""
    rows = [SharedName.model_validate(item) for item in kb.gazetteer().shared_names()]
    page = page_of(rows, cursor, bounds, question=("shared", kb.config.name), size=json_size)
    return SharedNames(names=page.items, next_cursor=page.next)


def add_entity(kb: KnowledgeBase, entity_type: str, names: Sequence[str]) -> GazetteerEntity:
    """Add an entity, or names to one that was added before; the row as it is then."""
    kb.add_entity(entity_type, names)
    key = entity(entity_type, names).key
    return next(_row(row) for row in kb.gazetteer_listing() if entity(row.type, row.names).key == key)


def remove_entity(kb: KnowledgeBase, entity_type: str, name: str) -> Removed:
    """Remove an entity that was added at run time; ``removed`` is false if there was none."""
    before = len(kb.gazetteer_listing())
    kb.remove_entity(entity_type, name)
    return Removed(removed=len(kb.gazetteer_listing()) < before)


def _row(row: GazetteerRow) -> GazetteerEntity:
    return GazetteerEntity(id=row.id, type=row.type, names=list(row.names), origin=row.origin, shadowed=row.shadowed)
