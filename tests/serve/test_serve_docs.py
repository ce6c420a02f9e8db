"""docs/server.md names every route, tool, code and setting there is."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
import httpx
import pytest

from graphport.config import Config
from graphport.server_config import ServerConfig
from graphport_serve import errors
from graphport_serve.access import EVERYTHING
from graphport_serve.mcp_server import make_mcp
from graphport_serve.service import Service

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text("utf-8")


def test_every_route_is_documented_with_its_parameters(client: httpx.Client) -> None:
    for path, operations in client.get("/openapi.json").json()["paths"].items():
        told = re.sub(r"^/api/vectordb/\{name\}/", ".../", path).replace("{entry_id}", "{id}")
        assert told in PAGE, path
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["in"] == "query" and parameter["name"] not in {"limit", "cursor", "budget"}:
                    assert re.search(rf"{re.escape(told)}\?[^`]*{parameter['name']}=", PAGE), (path, parameter["name"])


def test_every_tool_is_documented() -> None:
    service = Service(Config())
    tools = anyio.run(make_mcp(service, lambda _: EVERYTHING).list_tools)
    service.close()
    for tool in tools:
        assert f"`{tool.name}`" in PAGE


@pytest.mark.parametrize("name", [name for name in dir(errors) if name.endswith("Error") and name != "GraphportError"])
def test_every_code_is_documented(name: str) -> None:
    assert f"`{getattr(errors, name).code}`" in PAGE


@pytest.mark.parametrize("setting", list(ServerConfig.model_fields))
def test_every_setting_is_documented_with_its_default(setting: str) -> None:
    found = re.search(rf"^  {setting}:(.*?)(#|$)", PAGE, re.MULTILINE)
    assert found
    default = ServerConfig.model_fields[setting].default
    if isinstance(default, int | float | str):
        assert found[1].strip() == (f"{default:g}" if isinstance(default, float) else str(default))
