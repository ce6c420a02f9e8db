"""The code tools over REST and MCP, on a project of two files whose calls are counted by hand."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from serve_server import served, settings

from graphport import open_knowledge_base

DATES = '''
def parse_date(text):
    """Read a date."""
    return text.split("-")


def normalize_date(text):
    return "-".join(parse_date(text))
'''
REPORT = """
from dates import parse_date


def build_report(lines):
    return [parse_date(line) for line in lines]


def handle_summary(lines):
    # parse_date is only mentioned here
    return build_report(lines)
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder = tmp_path_factory.mktemp("project")
    (folder / "dates.py").write_text(DATES)
    (folder / "report.py").write_text(REPORT)
    config: dict[str, Any] = {**settings(tmp_path_factory.mktemp("home")), "vector_dbs": [{"name": "project"}]}
    with open_knowledge_base("project", config=config) as kb:
        kb.index([folder])
    with served(config) as address:
        yield address


def get(address: str, path: str, **params: Any) -> Any:
    response = httpx.get(f"{address}/api/vectordb/project/{path}", params=params, timeout=30)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_symbol_is_found_with_file_and_line(address: str) -> None:
    found = get(address, "symbols", name="parse_date")["symbols"]
    assert [(Path(symbol["file"]).name, symbol["line"], symbol["kind"]) for symbol in found] == [
        ("dates.py", 2, "function")
    ]
    assert get(address, "symbols", name="PARSE_DATE")["symbols"][0]["match"] == "case-insensitive"
    assert get(address, "symbols", name="nothing_like_it") == {"symbols": [], "next_cursor": None}


def test_callers_are_those_who_call_and_not_those_who_mention(address: str) -> None:
    found = get(address, "callers", symbol="parse_date")
    assert found["precise"] is True
    assert {caller["symbol"]["name"] for caller in found["callers"]} == {"build_report", "normalize_date"}
    first = get(address, "callers", symbol="parse_date", limit=1)
    second = get(address, "callers", symbol="parse_date", limit=1, cursor=first["next_cursor"])
    assert first["callers"] + second["callers"] == found["callers"]


def test_the_call_graph_is_walked_as_deep_as_asked(address: str) -> None:
    found = get(address, "callgraph", symbol="handle_summary", depth=1)
    assert {node["symbol"]["name"] for node in found["nodes"]} == {"handle_summary", "build_report"}
    assert found["cut_by_depth"] is True
    found = get(address, "callgraph", symbol="handle_summary", depth=2)
    assert {node["symbol"]["name"]: node["depth"] for node in found["nodes"]} == {
        "handle_summary": 0, "build_report": 1, "parse_date": 2,
    }  # fmt: skip
    assert len(found["edges"]) == 2


def test_similar_code_leaves_the_symbol_itself_out(address: str) -> None:
    hits = get(address, "similar", symbol="normalize_date")["hits"]
    assert hits
    assert not any(hit["title"].endswith("normalize_date") for hit in hits)


@pytest.mark.parametrize("path", ["callers", "callgraph", "similar"])
def test_a_symbol_that_is_not_there_is_a_404(address: str, path: str) -> None:
    response = httpx.get(f"{address}/api/vectordb/project/{path}", params={"symbol": "nobody"}, timeout=30)
    assert (response.status_code, response.json()["code"]) == (404, "symbol-not-found")


def test_mcp_answers_as_rest_does(address: str) -> None:
    async def run() -> None:
        async with Client(f"{address}/mcp") as client:
            for tool, path, arguments in (
                ("find_symbol", "symbols", {"name": "parse_date"}),
                ("find_callers", "callers", {"symbol": "parse_date"}),
                ("get_call_graph", "callgraph", {"symbol": "handle_summary"}),
                ("find_similar", "similar", {"symbol": "normalize_date"}),
            ):
                result = await client.call_tool(tool, arguments)
                assert result.structured_content == get(address, path, **arguments)

    anyio.run(run)
