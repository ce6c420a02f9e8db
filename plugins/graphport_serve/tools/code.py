"""Source code."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport.model import Direction
from graphport_serve import answers
from graphport_serve.paging import Bounds
from graphport_serve.questions import code
from graphport_serve.tools.asking import (
    CHARACTERS,
    READS,
    TEXT,
    Base,
    Ctx,
    Cursor,
    Depth,
    Limit,
    MaxNodes,
    Symbol,
    Tools,
)


class CodeTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.find_symbol, self.find_callers, self.get_call_graph, self.find_similar)

    async def find_symbol(
        self,
        ctx: Ctx,
        name: Annotated[str, Field(min_length=1, max_length=2000, description="A name, or Class.method.")],
        knowledge_base: Base = None,
        file: Annotated[str | None, Field(description="Only in files whose path ends so.")] = None,
        kind: Annotated[str | None, Field(description="class, function, method, ...")] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> answers.Symbols:
        """Where a symbol of source code is defined, with file and line."""
        bounds = Bounds(limit, CHARACTERS)
        question = partial(code.find_symbol, name=name, file=file, kind=kind, bounds=bounds, cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)

    async def find_callers(
        self, ctx: Ctx, symbol: Symbol, knowledge_base: Base = None, limit: Limit = 100, cursor: Cursor = None
    ) -> answers.Callers:
        """Who calls a symbol, with file and line of the first call."""
        bounds = Bounds(limit, CHARACTERS)
        return await self._ask(
            ctx, knowledge_base, partial(code.find_callers, symbol=symbol, bounds=bounds, cursor=cursor)
        )

    async def get_call_graph(
        self,
        ctx: Ctx,
        symbol: Symbol,
        knowledge_base: Base = None,
        depth: Depth = 2,
        max_nodes: MaxNodes = 100,
        direction: Annotated[Direction, Field(description="out: what it calls; in: who calls it.")] = Direction.OUT,
        cursor: Cursor = None,
    ) -> answers.CallGraph:
        """The calls around a symbol, nearest first."""
        question = partial(
            code.get_call_graph, symbol=symbol, depth=depth, max_nodes=max_nodes, direction=direction,
            bounds=Bounds(5000, CHARACTERS), cursor=cursor,
        )  # fmt: skip
        return await self._ask(ctx, knowledge_base, question)

    async def find_similar(
        self,
        ctx: Ctx,
        symbol: Symbol,
        knowledge_base: Base = None,
        top_k: Annotated[int, Field(ge=1, le=50)] = 5,
        cursor: Cursor = None,
    ) -> answers.SimilarCode:
        """Code most like a symbol's own, best first."""
        question = partial(
            code.find_similar, symbol=symbol, top_k=top_k, bounds=Bounds(top_k, CHARACTERS), cursor=cursor, text=TEXT
        )
        return await self._ask(ctx, knowledge_base, question)
