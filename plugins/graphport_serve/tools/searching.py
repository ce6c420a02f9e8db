"""Searching, and reports."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport.config import GraphMode, LinkerName, Mode
from graphport_serve import answers
from graphport_serve.paging import Bounds
from graphport_serve.questions import entries
from graphport_serve.questions.searching import Search, make_report
from graphport_serve.tools.asking import CHARACTERS, READS, TEXT, Base, Ctx, Cursor, Query, Tools

Linkers = Annotated[
    list[LinkerName] | None,
    Field(min_length=1, max_length=3, description="What links the question to names, in order; fuzzy: misspelt ones."),
]


class SearchTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.search_knowledge, self.make_report, self.get_entry)
        self._add(server, READS, self.list_knowledge_bases, self.describe_knowledge_base)

    async def search_knowledge(
        self,
        ctx: Ctx,
        query: Query,
        knowledge_base: Base = None,
        top_k: Annotated[int, Field(ge=1, le=100)] = 8,
        graph: Annotated[bool | None, Field(description="Follow the graph; default: as the config says.")] = None,
        mode: Mode | None = None,
        graph_mode: GraphMode | None = None,
        graph_weight: Annotated[float | None, Field(ge=0, le=1)] = None,
        linkers: Linkers = None,
        explain: Annotated[bool, Field(description="Say why each hit is where it is, with the path.")] = False,
        cursor: Cursor = None,
    ) -> answers.SearchAnswer:
        """Find the passages, symbols or chapters that answer a question, best first."""
        search = Search(
            query, top_k=top_k, graph=graph, mode=mode, graph_mode=graph_mode, graph_weight=graph_weight,
            linkers=linkers, explain=explain,
        )  # fmt: skip
        return await self._ask(
            ctx, knowledge_base, partial(search, bounds=Bounds(top_k, CHARACTERS), cursor=cursor, text=TEXT)
        )

    async def make_report(
        self,
        ctx: Ctx,
        query: Query,
        knowledge_base: Base = None,
        budget: Annotated[float, Field(ge=1, le=8000, description="About how many tokens of evidence.")] = 1000,
        linkers: Linkers = None,
    ) -> answers.Report:
        """A Markdown report on a question from the evidence that together says most, each sentence with its source."""
        return await self._ask(ctx, knowledge_base, partial(make_report, query=query, budget=budget, linkers=linkers))

    async def get_entry(
        self,
        ctx: Ctx,
        entry: Annotated[str, Field(min_length=1, max_length=1000, description="Id of an entry, as a hit has it.")],
        knowledge_base: Base = None,
        cursor: Cursor = None,
    ) -> answers.EntryPart:
        """The whole text of a passage, symbol or chapter, a part at a time."""
        bounds = Bounds(CHARACTERS, CHARACTERS)
        question = partial(entries.read_entry, entry_id=entry, bounds=bounds, text=TEXT, cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)

    async def list_knowledge_bases(self, ctx: Ctx) -> answers.KnowledgeBases:
        """The knowledge bases there are."""
        names = await self._names(ctx)
        return answers.KnowledgeBases(knowledge_bases=[answers.KnowledgeBaseName(name=name) for name in names])

    async def describe_knowledge_base(self, ctx: Ctx, knowledge_base: Base = None) -> answers.KnowledgeBaseStatus:
        """How many documents and entries a knowledge base holds, and which kinds of nodes and edges its graph has."""
        return await self._ask(ctx, knowledge_base, entries.status)
