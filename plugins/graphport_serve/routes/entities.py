"""Entities and concepts."""

from __future__ import annotations

from functools import partial

from graphport_serve import answers
from graphport_serve.caller import Who
from graphport_serve.paging import Bounds
from graphport_serve.questions import entities
from graphport_serve.routes.parameters import Cursor, EntityName, EntityType, Limit, Name, bases_router

router = bases_router()


@router.get("/{name}/entity", summary="An entity and the texts that mention it")
async def entity(
    who: Who, name: Name, wanted: EntityName, of_type: EntityType = None, limit: Limit = 100, cursor: Cursor = None
) -> answers.EntityAnswer:
    question = partial(entities.find_entity, name=wanted, entity_type=of_type, bounds=Bounds(limit), cursor=cursor)
    return await who.ask(name, question)


@router.get("/{name}/entities", summary="Entities, the most mentioned first")
async def list_entities(
    who: Who, name: Name, of_type: EntityType = None, limit: Limit = 100, cursor: Cursor = None
) -> answers.EntityList:
    question = partial(entities.list_entities, entity_type=of_type, bounds=Bounds(limit), cursor=cursor)
    return await who.ask(name, question)


@router.get("/{name}/concept", summary="A concept and the chapters that mention it")
async def concept(
    who: Who, name: Name, wanted: EntityName, limit: Limit = 100, cursor: Cursor = None
) -> answers.EntityAnswer:
    return await who.ask(name, partial(entities.find_concept, name=wanted, bounds=Bounds(limit), cursor=cursor))
