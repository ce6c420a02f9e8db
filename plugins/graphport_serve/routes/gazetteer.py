"""The gazetteer."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphport_serve import answers
from graphport_serve.answers_curating import SharedNames
from graphport_serve.caller import Who
from graphport_serve.paging import Bounds
from graphport_serve.questions import gazetteer
from graphport_serve.routes.parameters import Cursor, EntityName, Limit, Name, bases_router

router = bases_router()


class NewEntity(BaseModel):
    """``names[0]`` is the canonical name; ``name`` is short for ``names`` with one."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(min_length=1, max_length=200)
    names: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(default_factory=list, max_length=10_000)
    name: str | None = Field(default=None, min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _one_of_them(self) -> NewEntity:
        if bool(self.names) == (self.name is not None):
            raise ValueError("give either names or name")
        return self


@router.get("/{name}/gazetteer", summary="Entities with their origin")
async def list_gazetteer(who: Who, name: Name, limit: Limit = 1000, cursor: Cursor = None) -> answers.GazetteerAnswer:
    return await who.ask(name, partial(gazetteer.list_gazetteer, bounds=Bounds(limit), cursor=cursor))


@router.get("/{name}/gazetteer/check", summary="Names that several entities share")
async def shared_names(who: Who, name: Name, limit: Limit = 1000, cursor: Cursor = None) -> SharedNames:
    return await who.ask(name, partial(gazetteer.shared_names, bounds=Bounds(limit), cursor=cursor))


@router.post("/{name}/gazetteer/add", summary="Add an entity, or names to one")
async def add_entity(who: Who, name: Name, body: NewEntity) -> answers.GazetteerEntity:
    names = body.names or [body.name or ""]
    return await who.ask(name, partial(gazetteer.add_entity, entity_type=body.type, names=names), scope="write")


@router.delete("/{name}/gazetteer/remove", summary="Remove an entity that was added at run time")
async def remove_entity(
    who: Who,
    name: Name,
    of_type: Annotated[str, Query(alias="type", min_length=1, max_length=200)],
    wanted: EntityName,
) -> answers.Removed:
    return await who.ask(name, partial(gazetteer.remove_entity, entity_type=of_type, name=wanted), scope="write")
