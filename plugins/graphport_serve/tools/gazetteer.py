"""The gazetteer."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport_serve import answers
from graphport_serve.answers_curating import SharedNames
from graphport_serve.paging import Bounds
from graphport_serve.questions import gazetteer
from graphport_serve.tools.asking import (
    ADDS,
    CHARACTERS,
    READS,
    REMOVES,
    Base,
    Ctx,
    Cursor,
    EntityType,
    Limit,
    Query,
    Tools,
)


class GazetteerTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.list_gazetteer, self.list_shared_names)
        self._add(server, ADDS, self.add_entity)
        self._add(server, REMOVES, self.remove_entity)

    async def list_gazetteer(
        self, ctx: Ctx, knowledge_base: Base = None, limit: Limit = 200, cursor: Cursor = None
    ) -> answers.GazetteerAnswer:
        """The entities texts are searched for, each with its origin: declared in the config, or added at run time."""
        return await self._ask(
            ctx, knowledge_base,
            partial(gazetteer.list_gazetteer, bounds=Bounds(limit, CHARACTERS), cursor=cursor),
        )  # fmt: skip

    async def list_shared_names(
        self, ctx: Ctx, knowledge_base: Base = None, limit: Limit = 200, cursor: Cursor = None
    ) -> SharedNames:
        """Names that several entities of the gazetteer have."""
        question = partial(gazetteer.shared_names, bounds=Bounds(limit, CHARACTERS), cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)

    async def add_entity(
        self,
        ctx: Ctx,
        type: EntityType,  # noqa: A002 - the field's word
        names: Annotated[list[str], Field(min_length=1, max_length=1000, description="The canonical name first.")],
        knowledge_base: Base = None,
    ) -> answers.GazetteerEntity:
        """Add an entity to the gazetteer, or names to one added before. The next question knows it."""
        return await self._ask(
            ctx, knowledge_base, partial(gazetteer.add_entity, entity_type=type, names=names), scope="write"
        )

    async def remove_entity(
        self,
        ctx: Ctx,
        type: EntityType,  # noqa: A002 - the field's word
        name: Query,
        knowledge_base: Base = None,
    ) -> answers.Removed:
        """Remove an entity that was added at run time; declared ones stay."""
        return await self._ask(
            ctx, knowledge_base, partial(gazetteer.remove_entity, entity_type=type, name=name), scope="write"
        )
