"""The graph."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import Field

from graphport.model import Direction
from graphport_serve import answers
from graphport_serve.paging import Bounds
from graphport_serve.questions import graphs
from graphport_serve.tools.asking import CHARACTERS, READS, Base, Ctx, Cursor, Depth, MaxNodes, Tools


class GraphTools(Tools):
    def offer(self, server: MCPServer[Any]) -> None:
        self._add(server, READS, self.get_graph)

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
