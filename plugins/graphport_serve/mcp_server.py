"""The knowledge bases as an MCP server, over HTTP and over standard input and output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from graphport import __version__
from graphport_serve.access import Access
from graphport_serve.guards import access_of
from graphport_serve.service import Service
from graphport_serve.tools.code import CodeTools
from graphport_serve.tools.entities import EntityTools
from graphport_serve.tools.gazetteer import GazetteerTools
from graphport_serve.tools.graphs import GraphTools
from graphport_serve.tools.proposals import ProposalTools
from graphport_serve.tools.searching import SearchTools


def make_mcp(service: Service, access: Callable[[Request | None], Access]) -> MCPServer[Any]:
    """The MCP server over ``service``; ``access`` tells what the sender of an HTTP request may do (None: stdio)."""
    server: MCPServer[Any] = MCPServer(
        "graphport",
        version=__version__,
        instructions="Search knowledge bases whose passages a graph joins; walk that graph; keep the gazetteer.",
        log_level="WARNING",
    )
    for tools in (SearchTools, CodeTools, GraphTools, EntityTools, GazetteerTools, ProposalTools):
        tools(service, access).offer(server)
    return server


def http_access(request: Request | None) -> Access:
    """The access that `AuthGuard` left in an HTTP request."""
    assert request is not None
    return access_of(request.scope)


def http_routes(server: MCPServer[Any]) -> list[BaseRoute]:
    """The route ``/mcp`` (streamable HTTP); run ``server.session_manager`` while it is served.

    Each request stands alone, so any token may speak at any time and nothing is kept between requests. GET
    would open a stream that stays open and on which, therefore, nothing ever comes: 405, as the protocol has it.
    Host and Origin are checked by `HostGuard` before.
    """
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return [
        Route(route.path, route.endpoint, methods=["POST"]) if isinstance(route, Route) else route
        for route in app.routes
    ]
