"""The graph."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport.model import Direction, EdgeKey
from graphport_serve import answers
from graphport_serve.answers_curating import Evidence
from graphport_serve.paging import Bounds
from graphport_serve.questions import graphs
from graphport_serve.questions.evidence import find_evidence
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
    Query,
    Tools,
)

NodeId = Annotated[str, Field(min_length=1, max_length=2000, description="Id of a node.")]


class GraphTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.get_graph, self.find_nodes, self.find_evidence)

    async def get_graph(
        self,
        ctx: Ctx,
        knowledge_base: Base = None,
        node: Annotated[str | None, Field(description="Id of a node; without one, the best connected.")] = None,
        depth: Depth = 1,
        max_nodes: MaxNodes = 100,
        direction: Direction = Direction.BOTH,
        kinds: Annotated[list[str] | None, Field(max_length=50, description="Edge kinds that count.")] = None,
        cursor: Cursor = None,
    ) -> answers.GraphAnswer:
        """The neighbourhood of a node in the graph, nearest first."""
        wanted = None if kinds is None else frozenset(kinds)
        around = graphs.Around(node, depth, max_nodes, direction, wanted)
        return await self._ask(ctx, knowledge_base, partial(around, bounds=Bounds(5000, CHARACTERS), cursor=cursor))

    async def find_nodes(
        self,
        ctx: Ctx,
        name: Query,
        knowledge_base: Base = None,
        kind: Annotated[str | None, Field(max_length=200, description="Only nodes of this kind.")] = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> answers.FoundNodes:
        """Nodes of the graph by a part of their name, whole names first; `get_graph` walks on from their ids."""
        question = partial(graphs.find_nodes, text=name, kind=kind, bounds=Bounds(limit, CHARACTERS), cursor=cursor)
        return await self._ask(ctx, knowledge_base, question)

    async def find_evidence(
        self,
        ctx: Ctx,
        source: NodeId,
        target: NodeId,
        kind: Annotated[str, Field(min_length=1, max_length=200)],
        knowledge_base: Base = None,
        limit: Limit = 20,
        cursor: Cursor = None,
    ) -> Evidence:
        """The texts that an edge of the graph is known from."""
        question = partial(
            find_evidence, edge=EdgeKey(source, target, kind), bounds=Bounds(limit, CHARACTERS), cursor=cursor,
            text=TEXT,
        )  # fmt: skip
        return await self._ask(ctx, knowledge_base, question)
