"""What the tools share: their parameters, their bounds, and how each asks the service."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field
from starlette.requests import Request

from graphport.errors import GraphportError, InvalidQueryError
from graphport.knowledge.base import KnowledgeBase
from graphport.server_config import Scope
from graphport_serve.access import Access
from graphport_serve.problems import told
from graphport_serve.service import Service

log = logging.getLogger("graphport.serve")

T = TypeVar("T")
Ctx = Context[Any, Request]

CHARACTERS = 40_000
"""About how much JSON one answer holds, some 10,000 tokens; the rest follows by cursor."""
TEXT = 4_000
"""Characters of a hit's text that are shown."""

READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

Base = Annotated[
    str | None, Field(default=None, max_length=100, description="A knowledge base; may be left out if there is one.")
]
Cursor = Annotated[str | None, Field(default=None, max_length=200, description="next_cursor of the answer before.")]
Limit = Annotated[int, Field(ge=1, le=500, description="How many items at most.")]
Query = Annotated[str, Field(min_length=1, max_length=2000)]
Depth = Annotated[int, Field(ge=0, le=10, description="Steps from the node.")]
MaxNodes = Annotated[int, Field(ge=1, le=1000)]
Symbol = Annotated[str, Field(min_length=1, max_length=2000, description="A symbol's name, qualified name or id.")]
EntityType = Annotated[str, Field(min_length=1, max_length=200, description="person, location, topic, ...")]


class Tools:
    """Some tools, each a question to the service with the caller's access."""

    def __init__(self, service: Service, access: Callable[[Request | None], Access]) -> None:
        self._service = service
        self._access = access

    def offer(self, server: MCPServer[Any]) -> None:
        """Add the tools to a server."""
        raise NotImplementedError

    @staticmethod
    def _add(server: MCPServer[Any], hints: ToolAnnotations, *tools: Callable[..., Any]) -> None:
        for tool in tools:
            server.add_tool(tool, annotations=hints, structured_output=True)

    async def _ask(
        self, ctx: Ctx, base: str | None, question: Callable[[KnowledgeBase], T], *, scope: Scope = "read"
    ) -> T:
        with _refusals():
            access = self._access(ctx.request_context.request)
            name = base or await self._only_base(access)
            return await self._service.ask(access, name, question, scope=scope)

    async def _names(self, ctx: Ctx) -> list[str]:
        with _refusals():
            return await self._service.names(self._access(ctx.request_context.request))

    async def _only_base(self, access: Access) -> str:
        names = await self._service.names(access)
        if len(names) != 1:
            raise InvalidQueryError(f"say which knowledge_base; there are: {', '.join(names) or 'none'}")
        return names[0]


@contextmanager
def _refusals() -> Generator[None]:
    """Tells the caller why not, with the library's code; of a failure inside, which only the log tells, no more."""
    try:
        yield
    except GraphportError as error:
        raise ToolError(f"{error.code}: {told(error)}") from error
    except Exception:  # the SDK would send the exception's own text, which may hold a path or a password
        log.exception("a tool failed")
        raise ToolError("internal-error: the server failed to answer; its log says why") from None
