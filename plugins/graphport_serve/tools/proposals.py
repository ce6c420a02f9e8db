"""Proposals of entities."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport_serve.answers_curating import Accepted, Proposals, Reconsidered, Rejected
from graphport_serve.paging import Bounds
from graphport_serve.questions import proposals
from graphport_serve.tools.asking import ADDS, CHARACTERS, READS, Base, Ctx, Cursor, EntityType, Limit, Tools

Names = Annotated[list[Annotated[str, Field(min_length=1, max_length=1000)]], Field(min_length=1, max_length=1000)]


class ProposalTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.propose_entities)
        self._add(server, ADDS, self.accept_proposals, self.reject_proposals, self.reconsider_proposals)

    async def propose_entities(
        self,
        ctx: Ctx,
        knowledge_base: Base = None,
        proposer: Annotated[str, Field(min_length=1, max_length=200, description="Who reads the texts.")] = "capitals",
        at_least: Annotated[int, Field(ge=1, le=1_000_000, description="In so many passages.")] = 2,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> Proposals:
        """Names in the texts that may be entities and that the gazetteer lacks, with examples. Nothing is added."""
        question = partial(
            proposals.propose, proposer=proposer, at_least=at_least, bounds=Bounds(limit, CHARACTERS), cursor=cursor
        )
        return await self._ask(ctx, knowledge_base, question, scope=proposals.scope_of(proposer))

    async def accept_proposals(
        self,
        ctx: Ctx,
        type: EntityType,  # noqa: A002 - the field's word
        names: Names,
        knowledge_base: Base = None,
    ) -> Accepted:
        """Add an entity of one type for each name, all or none. The next question knows them."""
        question = partial(proposals.accept, entity_type=type, names=names)
        return await self._ask(ctx, knowledge_base, question, scope="write")

    async def reject_proposals(self, ctx: Ctx, names: Names, knowledge_base: Base = None) -> Rejected:
        """Say that names are no entities worth keeping: they are not proposed again."""
        return await self._ask(ctx, knowledge_base, partial(proposals.reject, names=names), scope="write")

    async def reconsider_proposals(self, ctx: Ctx, names: Names, knowledge_base: Base = None) -> Reconsidered:
        """Let names that were rejected be proposed again."""
        return await self._ask(ctx, knowledge_base, partial(proposals.reconsider, names=names), scope="write")
