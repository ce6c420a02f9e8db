"""Running the surfaces until they are told to stop."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection
from typing import get_args

from graphport.config import Config
from graphport.server_config import Scope
from graphport_serve.access import Access
from graphport_serve.service import Service
from graphport_serve.workers import any_at_work

MAX_CONNECTIONS = 1000
SHUTDOWN_SECONDS = 10


def run_server(config: Config) -> None:
    """Serve HTTP until SIGINT or SIGTERM. Raises `ConfigError` before listening where a token is missing."""
    import uvicorn

    from graphport_serve.app import make_app

    uvicorn.run(
        make_app(config),
        host=config.server.host.strip("[]"),
        port=config.server.port,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        log_level="info",
    )
    _exit_though_calls_hang()


async def run_stdio(config: Config, names: Collection[str], *, read_only: bool) -> None:
    """Speak MCP on standard input and output until the input ends; ``names`` are offered, all if there are none."""
    from graphport_serve.mcp_server import make_mcp

    scopes: frozenset[Scope] = frozenset({"read"}) if read_only else frozenset(get_args(Scope))
    access = Access(scopes, frozenset(names) or None)
    service = Service(config)
    try:
        await make_mcp(service, lambda _: access).run_stdio_async()
    finally:
        service.close()
        _exit_though_calls_hang()


def _exit_though_calls_hang() -> None:
    if any_at_work():
        logging.shutdown()
        os._exit(1)
