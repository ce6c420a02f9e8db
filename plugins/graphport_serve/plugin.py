"""``graphport serve`` and ``graphport mcp``; no web framework is imported before one of them runs."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import click

from graphport.cli.context import Cli, pass_cli
from graphport.config import Config
from graphport.errors import BackendUnavailableError
from graphport.hookspecs import hookimpl

_config_option = click.option(
    "--config", "file", type=click.Path(path_type=Path), help="graphport.yaml to use (also before the command)."
)


@click.command()
@_config_option
@click.option("--host", help="Address to listen on (default: server.host, 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on (default: server.port, 8765).")
@pass_cli
def serve(cli: Cli, file: Path | None, host: str | None, port: int | None) -> None:
    """Serve the knowledge bases: REST, MCP over HTTP, metrics, and a page at /knowledge."""
    _require("serve", "fastapi", "uvicorn", "prometheus_client")
    from graphport_serve.running import run_server

    given = {"host": host, "port": port}
    config = _config(cli, file)
    server = config.server.model_copy(update={key: value for key, value in given.items() if value is not None})
    run_server(config.model_copy(update={"server": server}))


@click.command()
@_config_option
@click.option("--db", "names", multiple=True, help="Knowledge bases to offer (default: all).")
@click.option("--read-only", is_flag=True, help="Refuse changes of the gazetteer.")
@pass_cli
def mcp(cli: Cli, file: Path | None, names: tuple[str, ...], read_only: bool) -> None:
    """Speak MCP on standard input and output, for a program that starts this one."""
    _require("mcp", "mcp")
    from graphport_serve.running import run_stdio

    asyncio.run(run_stdio(_config(cli, file), names, read_only=read_only))


@hookimpl
def graphport_commands() -> Sequence[click.Command]:
    return [serve, mcp]


def _config(cli: Cli, file: Path | None) -> Config:
    if file is None:
        return cli.config
    return Cli(file, click.get_current_context().find_root().params.get("home")).config


def _require(extra: str, *modules: str) -> None:
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if missing:
        raise BackendUnavailableError(f"{', '.join(missing)} not installed; pip install 'graphport[{extra}]'")
