"""The knowledge bases as MCP tools: typed, structured, bounded in size, and safe to retry where they say so."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic import Field
from starlette.requests import Request
from starlette.routing import BaseRoute

from graphport import __version__
from graphport.config import Mode
from graphport.errors import GraphportError, InvalidQueryError
from graphport.knowledge.base import KnowledgeBase
from graphport.model import Direction
from graphport.server_config import Scope
from graphport_serve import answers
from graphport_serve.access import Access
from graphport_serve.guards import access_of
from graphport_serve.paging import Bounds
from graphport_serve.problems import told
from graphport_serve.questions import code, entities, gazetteer, graphs
from graphport_serve.questions.searching import Search, make_report
from graphport_serve.service import Service

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
    """The tools, each a question to the service with the caller's access."""

    def __init__(self, service: Service, access: Callable[[Request | None], Access]) -> None:
        self._service = service
        self._access = access

    async def _ask(
        self, ctx: Ctx, base: str | None, question: Callable[[KnowledgeBase], T], *, scope: Scope = "read"
    ) -> T:
        try:
            access = self._access(ctx.request_context.request)
            name = base or await self._only_base(access)
            return await self._service.ask(access, name, question, scope=scope)
        except GraphportError as error:
            raise ToolError(f"{error.code}: {told(error)}") from error

    async def _only_base(self, access: Access) -> str:
        names = await self._service.names(access)
        if len(names) != 1:
            raise InvalidQueryError(f"say which knowledge_base; there are: {', '.join(names) or 'none'}")
        return names[0]

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

    async def list_gazetteer(
        self, ctx: Ctx, knowledge_base: Base = None, limit: Limit = 200, cursor: Cursor = None
    ) -> answers.GazetteerAnswer:
        """The entities texts are searched for, each with its origin: declared in the config, or added at run time."""
        return await self._ask(
            ctx, knowledge_base,
            partial(gazetteer.list_gazetteer, bounds=Bounds(limit, CHARACTERS), cursor=cursor),
        )  # fmt: skip

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


def make_mcp(service: Service, access: Callable[[Request | None], Access]) -> MCPServer[Any]:
    """The MCP server over ``service``; ``access`` tells what the sender of an HTTP request may do (None: stdio)."""
    server: MCPServer[Any] = MCPServer(
        "graphport",
        version=__version__,
        instructions="Search knowledge bases whose passages a graph joins; walk that graph; keep the gazetteer.",
        log_level="WARNING",
    )
    tools = Tools(service, access)
    for tool in (
        tools.search_knowledge, tools.make_report, tools.find_symbol, tools.find_callers, tools.get_call_graph,
        tools.find_similar, tools.get_graph, tools.find_entity, tools.find_concept, tools.list_entities,
        tools.list_gazetteer,
    ):  # fmt: skip
        server.add_tool(tool, annotations=READS, structured_output=True)
    server.add_tool(tools.add_entity, annotations=ADDS, structured_output=True)
    server.add_tool(tools.remove_entity, annotations=REMOVES, structured_output=True)
    return server


def http_access(request: Request | None) -> Access:
    """The access that `AuthGuard` left in an HTTP request."""
    assert request is not None
    return access_of(request.scope)


def http_routes(server: MCPServer[Any]) -> list[BaseRoute]:
    """The route ``/mcp`` (streamable HTTP); run ``server.session_manager`` while it is served.

    Each request stands alone, so any token may speak at any time and nothing is kept between requests.
    Host and Origin are checked by `HostGuard` before.
    """
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return list(app.routes)
