"""REST, MCP, metrics and the page as one ASGI application."""

from __future__ import annotations

import importlib.util
import logging
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from graphport import __version__
from graphport.config import Config
from graphport.errors import GraphportError
from graphport_serve import problems
from graphport_serve.access import Tokens, check_exposure, tokens_of
from graphport_serve.caller import Who
from graphport_serve.errors import ForbiddenError
from graphport_serve.guards import AuthGuard, BodyGuard, HeadersGuard, HostGuard
from graphport_serve.metrics import CONTENT_TYPE, Metrics, MetricsGuard
from graphport_serve.rest import ROUTERS
from graphport_serve.service import Service

log = logging.getLogger("graphport.serve")

PAGE = files("graphport_serve") / "page"


def make_app(config: Config) -> ASGIApp:
    """The application for a config. Raises `ConfigError` where it would be open to others without a token."""
    tokens = tokens_of(config)
    check_exposure(config.server.host, tokens)
    service = Service(config)
    metrics = Metrics(service.taken)
    api = FastAPI(
        title="graphport", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False,
        lifespan=_lifespan(service),
    )  # fmt: skip
    api.state.service = service
    api.state.metrics = metrics
    for router in ROUTERS:
        api.include_router(router)
    _add_health(api)
    _add_page(api)
    _add_problems(api)
    if importlib.util.find_spec("mcp") is None:
        log.info("no MCP: pip install 'graphport[mcp]' serves it at /mcp")
    else:
        _add_mcp(api, service)
    _document(api)
    return _guarded(api, config, tokens, metrics)


def _guarded(api: FastAPI, config: Config, tokens: Tokens, metrics: Metrics) -> ASGIApp:
    """``api`` behind its guards, the last one named here being the first to see a request."""
    server = config.server
    app: ASGIApp = BodyGuard(api, server.max_body_bytes, server.request_seconds)
    app = AuthGuard(app, tokens)
    if server.cors_origins:
        app = CORSMiddleware(
            app, allow_origins=server.cors_origins, allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
        )  # fmt: skip
    app = HostGuard(app, {server.host, socket.gethostname(), *server.allowed_hosts}, server.cors_origins)
    app = HeadersGuard(app)
    return MetricsGuard(app, metrics)


def _lifespan(service: Service) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(api: FastAPI) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(service.close)
            if (sessions := getattr(api.state, "mcp_sessions", None)) is not None:
                await stack.enter_async_context(sessions.run())
            yield

    return lifespan


def _add_mcp(api: FastAPI, service: Service) -> None:
    from graphport_serve.mcp_server import http_access, http_routes, make_mcp

    server = make_mcp(service, http_access)
    api.router.routes.extend(http_routes(server))
    api.state.mcp_sessions = server.session_manager


def _add_health(api: FastAPI) -> None:
    @api.get("/healthz", summary="The process is alive", tags=["server"])
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @api.get("/readyz", summary="Questions can be answered", tags=["server"])
    async def readyz(request: Request) -> dict[str, str]:
        await request.app.state.service.check()
        return {"status": "ready"}

    @api.get("/metrics", summary="Numbers for Prometheus", tags=["server"], response_class=Response)
    async def metrics(who: Who, request: Request) -> Response:
        who.access.require("read")
        if who.access.bases is not None:
            raise ForbiddenError("the metrics are about all knowledge bases; use a token that sees all")
        return Response(request.app.state.metrics.text(), media_type=CONTENT_TYPE)


def _add_page(api: FastAPI) -> None:
    @api.get("/knowledge", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(str(PAGE / "index.html"))

    @api.get("/", include_in_schema=False)
    async def root() -> RedirectResponse:
        return RedirectResponse("knowledge")

    @api.get("/favicon.ico", include_in_schema=False)
    async def icon() -> FileResponse:
        return FileResponse(str(PAGE / "icon.svg"))

    api.mount("/knowledge", StaticFiles(directory=str(PAGE)), name="page")


def _add_problems(api: FastAPI) -> None:
    @api.exception_handler(GraphportError)
    async def graphport_error(_: Request, error: GraphportError) -> Response:
        return problems.problem_response(error)

    @api.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return problems.invalid_request(error.errors())

    @api.exception_handler(HTTPException)
    async def not_found(_: Request, error: HTTPException) -> Response:
        return problems.not_routed(error.status_code, dict(error.headers or {}))

    @api.exception_handler(Exception)
    async def internal(_: Request, __: Exception) -> Response:
        return problems.internal_error()


def _document(api: FastAPI) -> None:
    """The OpenAPI document, with the one form that every refusal has."""

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            document = get_openapi(title=api.title, version=api.version, routes=api.routes)
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            problem = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(problem.pop("$defs", {}), Problem=problem)
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            content = {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
            for operations in document["paths"].values():
                for operation in operations.values():
                    operation["responses"].pop("422", None)
                    operation["responses"]["default"] = {"description": "Why not", "content": content}
            api.openapi_schema = document
        return api.openapi_schema

    api.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to change the document
