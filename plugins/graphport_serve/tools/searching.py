"""Searching, and reports."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport.config import Mode
from graphport_serve import answers
from graphport_serve.paging import Bounds
from graphport_serve.questions.searching import Search, make_report
from graphport_serve.tools.asking import CHARACTERS, READS, TEXT, Base, Ctx, Cursor, Query, Tools


class SearchTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.search_knowledge, self.make_report)

    async def search_knowledge(
        self,
        ctx: Ctx,
        query: Query,
        knowledge_base: Base = None,
        top_k: Annotated[int, Field(ge=1, le=100)] = 8,
        graph: Annotated[bool | None, Field(description="Follow the graph; default: as the config says.")] = None,
        mode: Mode | None = None,
        explain: Annotated[bool, Field(description="Say why each hit is where it is, with the path.")] = False,
        cursor: Cursor = None,
    ) -> answers.SearchAnswer:
        """Find the passages, symbols or chapters that answer a question, best first."""
        search = Search(query, top_k=top_k, graph=graph, mode=mode, explain=explain)
        return await self._ask(
            ctx, knowledge_base, partial(search, bounds=Bounds(top_k, CHARACTERS), cursor=cursor, text=TEXT)
        )

    async def make_report(
        self,
        ctx: Ctx,
        query: Query,
        knowledge_base: Base = None,
        budget: Annotated[float, Field(ge=1, le=8000, description="About how many tokens of evidence.")] = 1000,
    ) -> answers.Report:
        """A Markdown report on a question from the evidence that together says most, each sentence with its source."""
        return await self._ask(ctx, knowledge_base, partial(make_report, query=query, budget=budget))
