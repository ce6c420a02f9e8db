"""Proposals of entities: seeing, accepting and rejecting them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from graphport_serve.answers_curating import Accepted, Proposals, Reconsidered, Rejected, RejectedNames
from graphport_serve.caller import Who
from graphport_serve.paging import Bounds
from graphport_serve.questions import proposals
from graphport_serve.routes.parameters import Cursor, EntityName, Limit, Name, bases_router

router = bases_router()

Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(min_length=1, max_length=1000)]


class AcceptedNames(BaseModel):
    """Each of ``names`` is an entity of ``type``."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(min_length=1, max_length=200)
    names: Names


class NamesToReject(BaseModel):
    model_config = ConfigDict(extra="forbid")

    names: Names


@router.get("/{name}/proposals", summary="Names in the texts that the gazetteer lacks")
async def propose(
    who: Who,
    name: Name,
    proposer: Annotated[str, Query(min_length=1, max_length=200, description="Who reads the texts.")] = "capitals",
    at_least: Annotated[int, Query(ge=1, le=1_000_000, description="In so many passages.")] = 2,
    limit: Annotated[int, Query(ge=1, le=500, description="How many items at most.")] = 50,
    cursor: Cursor = None,
) -> Proposals:
    question = partial(proposals.propose, proposer=proposer, at_least=at_least, bounds=Bounds(limit), cursor=cursor)
    return await who.ask(name, question, scope=proposals.scope_of(proposer))


@router.post("/{name}/proposals/accept", summary="Add an entity for each name, all or none")
async def accept(who: Who, name: Name, body: AcceptedNames) -> Accepted:
    return await who.ask(name, partial(proposals.accept, entity_type=body.type, names=body.names), scope="write")


@router.post("/{name}/proposals/reject", summary="Never propose these names again")
async def reject(who: Who, name: Name, body: NamesToReject) -> Rejected:
    return await who.ask(name, partial(proposals.reject, names=body.names), scope="write")


@router.get("/{name}/proposals/rejected", summary="Names that are not proposed")
async def rejected(who: Who, name: Name, limit: Limit = 1000, cursor: Cursor = None) -> RejectedNames:
    return await who.ask(name, partial(proposals.rejected, bounds=Bounds(limit), cursor=cursor))


@router.delete("/{name}/proposals/rejected", summary="Let a name be proposed again")
async def reconsider(who: Who, name: Name, wanted: EntityName) -> Reconsidered:
    return await who.ask(name, partial(proposals.reconsider, names=[wanted]), scope="write")
