"""Entities and concepts."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport_serve import answers
from graphport_serve.paging import Bounds
from graphport_serve.questions import entities
from graphport_serve.tools.asking import CHARACTERS, READS, Base, Ctx, Cursor, Limit, Query, Tools


class EntityTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.find_entity, self.find_concept, self.list_entities)

    async def find_entity(
        self,
        ctx: Ctx,
        name: Query,
        knowledge_base: Base = None,
        type: Annotated[str | None, Field(max_length=200)] = None,  # noqa: A002 - the field's word
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> answers.EntityAnswer:
        """An entity (person, location, ...) by name or alias, and the texts that mention it, most mentions first."""
        bounds = Bounds(limit, CHARACTERS)
        question = partial(entities.find_entity, name=name, entity_type=type, bounds=bounds, cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)

    async def find_concept(
        self, ctx: Ctx, name: Query, knowledge_base: Base = None, limit: Limit = 50, cursor: Cursor = None
    ) -> answers.EntityAnswer:
        """A concept of the books, and the chapters that mention it."""
        bounds = Bounds(limit, CHARACTERS)
        question = partial(entities.find_concept, name=name, bounds=bounds, cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)

    async def list_entities(
        self,
        ctx: Ctx,
        knowledge_base: Base = None,
        type: Annotated[str | None, Field(max_length=200)] = None,  # noqa: A002 - the field's word
        limit: Limit = 100,
        cursor: Cursor = None,
    ) -> answers.EntityList:
        """The entities of the graph, the most mentioned first."""
        bounds = Bounds(limit, CHARACTERS)
        question = partial(entities.list_entities, entity_type=type, bounds=bounds, cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)
