"""MCP, with the SDK's own client over both transports."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from serve_server import READER, SMITH, WRITER, bearer, fill, served, settings

from graphport import Entry, KnowledgeBase, open_knowledge_base
from graphport.errors import StorageCorruptError, StorageUnavailableError

TOOLS = {
    "search_knowledge", "make_report", "find_symbol", "find_callers", "get_call_graph", "find_similar", "get_graph",
    "find_entity", "find_concept", "list_entities", "list_gazetteer", "add_entity", "remove_entity",
    "get_entry", "list_knowledge_bases", "describe_knowledge_base", "find_nodes", "find_evidence", "list_shared_names",
    "propose_entities", "accept_proposals", "reject_proposals", "reconsider_proposals",
}  # fmt: skip
CHANGES = {"add_entity", "remove_entity", "accept_proposals", "reject_proposals", "reconsider_proposals"}


def over_http(address: str, use: Callable[[Client], Awaitable[None]], token: str | None = None) -> None:
    async def run() -> None:
        async with (
            httpx2.AsyncClient(headers=bearer(token) if token else {}, timeout=30) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
        ):
            await use(client)

    anyio.run(run)


def over_stdio(home: Path, use: Callable[[Client], Awaitable[None]], *arguments: str) -> None:
    config = home.parent / "graphport.json"
    config.write_text(json.dumps(settings(home)))
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "graphport.cli.main", "mcp", "--config", str(config), *arguments],
        env={**os.environ},
    )

    async def run() -> None:
        async with Client(stdio_client(command)) as client:
            await use(client)

    anyio.run(run)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    found: dict[str, Any] | None = result.structured_content
    assert found is not None
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return "".join(getattr(block, "text", "") for block in result.content)


async def all_of_it(client: Client) -> None:
    """What both transports must do alike."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name not in CHANGES), name
        assert bool(tool.annotations.destructive_hint) is (name == "remove_entity"), name
        assert tool.output_schema is not None
        assert tool.output_schema["properties"]
        assert tool.description
    found = await call(client, "search_knowledge", query="Geneva", knowledge_base="town", graph=True, explain=True)
    assert found["graph"] is True
    assert found["hits"][0]["why"]["ranks"]["lexical"] >= 1
    report = await call(client, "make_report", knowledge_base="town", query="cathedral")
    assert report["cites"][0] == "noyon"
    around = await call(client, "get_graph", knowledge_base="town", node="entity:location:Geneva")
    assert "entry:geneva" in {node["id"] for node in around["nodes"]}
    entity = await call(client, "find_entity", knowledge_base="town", name="genf")
    assert (entity["id"], entity["mentions"][0]["entry"]) == ("entity:location:Geneva", "geneva")
    listed = await call(client, "list_entities", knowledge_base="town", type="person")
    assert [item["name"] for item in listed["entities"]] == ["John Calvin"]
    assert "missing-node" in await refused(client, "find_concept", knowledge_base="town", name="Geneva")
    added = await call(client, "add_entity", knowledge_base="town", type="location", names=["Noyon"])
    assert added["origin"] == "runtime"
    rows = await call(client, "list_gazetteer", knowledge_base="town")
    assert {row["id"]: row["origin"] for row in rows["entities"]}["entity:location:Noyon"] == "runtime"
    assert await call(client, "remove_entity", knowledge_base="town", type="location", name="Noyon") == {
        "removed": True
    }
    assert "knowledge-base-not-found" in await refused(client, "search_knowledge", query="x", knowledge_base="nowhere")
    assert "missing-node" in await refused(client, "get_graph", knowledge_base="town", node="nobody")
    assert "entity-conflict" in await refused(
        client, "remove_entity", knowledge_base="town", type="person", name="John Calvin"
    )
    assert "top_k" in await refused(client, "search_knowledge", query="x", knowledge_base="town", top_k=0)
    assert "smithy, town" in await refused(client, "search_knowledge", query="x")
    await what_a_curator_does(client)


async def what_a_curator_does(client: Client) -> None:
    town = {"knowledge_base": "town"}
    assert await call(client, "list_knowledge_bases") == {"knowledge_bases": [{"name": "smithy"}, {"name": "town"}]}
    held = await call(client, "describe_knowledge_base", **town)
    assert "mentions" in held["graph"]["edge_kinds"]
    misspelt = await call(
        client, "search_knowledge", query="Genefa", graph=True, linkers=["fuzzy"], explain=True, **town
    )
    assert [link["linker"] for link in misspelt["hits"][0]["why"]["links"]] == ["fuzzy"]
    assert "linkers" in await refused(client, "search_knowledge", query="x", linkers=["magic"], **town)
    (node,) = (await call(client, "find_nodes", name="genev", kind="entity", **town))["nodes"]
    edge = {"source": "entry:calvin", "target": node["id"], "kind": "mentions"}
    (passage,) = (await call(client, "find_evidence", **edge, **town))["passages"]
    assert (passage["entry"], passage["text"]) == ("calvin", "John Calvin was born in Noyon and lived in Geneva.")
    assert "missing-node" in await refused(client, "find_evidence", **{**edge, "kind": "cites"}, **town)
    assert (await call(client, "get_entry", entry="calvin", **town))["text"] == passage["text"]
    assert (await call(client, "list_shared_names", **town))["names"] == []
    (noyon,) = (await call(client, "propose_entities", at_least=1, **town))["proposals"]
    assert (noyon["name"], noyon["passages"]) == ("Noyon", 1)
    assert [example["entry"] for example in noyon["examples"]] == ["calvin"]
    assert await call(client, "reject_proposals", names=["noyon"], **town) == {"rejected": 1}
    assert (await call(client, "propose_entities", at_least=1, **town))["proposals"] == []
    assert await call(client, "reconsider_proposals", names=["Noyon"], **town) == {"reconsidered": 1}
    accepted = await call(client, "accept_proposals", type="location", names=["Noyon"], **town)
    assert accepted == {"added": ["entity:location:Noyon"], "known": [], "declared": []}
    await call(client, "remove_entity", type="location", name="Noyon", **town)
    assert "no proposer" in await refused(client, "propose_entities", proposer="oracle", **town)


def test_tools_over_http(open_server: str) -> None:
    over_http(open_server, all_of_it)


def test_tools_over_stdio(filled: Path) -> None:
    over_stdio(filled, all_of_it)


def test_stdio_can_be_held_to_reading_and_to_some_knowledge_bases(filled: Path) -> None:
    async def use(client: Client) -> None:
        found = await call(client, "search_knowledge", query="zyzzyva")  # the only one, so it need not be named
        assert found["hits"][0]["entry"] == "noyon"
        assert "not-found" in await refused(client, "search_knowledge", query="anvil", knowledge_base="smithy")
        assert "forbidden" in await refused(client, "add_entity", type="thing", names=["Bell"])

    over_stdio(filled, use, "--db", "town", "--read-only")


def test_a_token_over_mcp_sees_no_trace_of_another_knowledge_base(guarded_server: str) -> None:
    async def smith(client: Client) -> None:
        found = await call(client, "search_knowledge", query="anvil")
        assert found["hits"][0]["entry"] == "anvil"
        assert await call(client, "list_knowledge_bases") == {"knowledge_bases": [{"name": "smithy"}]}
        for tool in (await client.list_tools()).tools:
            if tool.name == "list_knowledge_bases":
                continue
            arguments: dict[str, Any] = {"knowledge_base": "town"}
            values = {
                "query": "zyzzyva", "type": "location", "name": "Geneva", "names": ["Geneva"], "symbol": "x",
                "entry": "noyon", "source": "entry:noyon", "target": "entity:location:Geneva", "kind": "mentions",
            }  # fmt: skip
            for name in tool.input_schema.get("required", []):
                arguments[name] = values[name]
            told = await refused(client, tool.name, **arguments)
            absent = await refused(client, tool.name, **{**arguments, "knowledge_base": "nowhere"})
            assert told.replace("town", "nowhere") == absent
            assert "knowledge-base-not-found" in told
            assert "Noyon" not in told

    over_http(guarded_server, smith, SMITH)


def test_a_token_that_only_reads_cannot_change_over_mcp(guarded_server: str) -> None:
    async def reader(client: Client) -> None:
        assert (await call(client, "search_knowledge", query="zyzzyva", knowledge_base="town"))["hits"]
        for tool in CHANGES & {tool.name for tool in (await client.list_tools()).tools}:
            arguments = {"type": "location", "name": "Geneva", "names": ["Bell"], "query": "zyzzyva"}
            assert "forbidden" in await refused(client, tool, knowledge_base="town", **arguments)
        assert (await call(client, "propose_entities", knowledge_base="town", at_least=1))["proposals"]
        told = await refused(client, "propose_entities", knowledge_base="town", proposer="costly")
        assert "forbidden" in told  # whoever only reads cannot make a language model read

    async def writer(client: Client) -> None:
        await call(client, "add_entity", knowledge_base="town", type="thing", names=["Bell"])
        await call(client, "remove_entity", knowledge_base="town", type="thing", name="Bell")

    over_http(guarded_server, reader, READER)
    over_http(guarded_server, writer, WRITER)


@pytest.mark.parametrize("token", [None, "unknown-token-0123456789"])
def test_mcp_over_http_needs_a_token_too(guarded_server: str, token: str | None) -> None:
    headers = bearer(token) if token else {}
    response = httpx2.post(f"{guarded_server}/mcp", json={}, headers=headers)
    assert response.status_code == 401


@pytest.mark.parametrize(
    "error,code",
    [(StorageUnavailableError, "storage-unavailable"), (StorageCorruptError, "storage-corrupt"),
     (RuntimeError, "internal-error")],
)  # fmt: skip
def test_trouble_inside_keeps_its_details_over_mcp(
    filled: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], code: str
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error("postgresql://user:secret@db.internal is not there")

    async def use(client: Client) -> None:
        told = await refused(client, "search_knowledge", query="lake", knowledge_base="town")
        assert code in told
        assert "secret" not in told

    with served(settings(filled)) as address:
        monkeypatch.setattr(KnowledgeBase, "search", fail)
        over_http(address, use)


def test_no_stream_is_kept_open_that_nothing_would_come_on(open_server: str) -> None:
    headers = {"Accept": "text/event-stream, application/json"}
    for method in ("GET", "DELETE"):
        response = httpx2.request(method, f"{open_server}/mcp", headers=headers, timeout=10)
        assert response.status_code == 405


def test_answers_are_bounded_and_go_on_by_cursor(tmp_path: Path) -> None:
    config = settings(tmp_path)
    fill(config)
    long_name = "bell " * 60

    async def use(client: Client) -> None:
        for number in range(0, 300, 100):
            names = [f"{long_name}{number + i}" for i in range(100)]
            await call(client, "add_entity", knowledge_base="smithy", type="thing", names=names)
        for i in range(40):
            await call(client, "add_entity", knowledge_base="town", type="thing", names=[f"{i} {long_name * 5}"])
        seen: list[Any] = []
        cursor = None
        while True:
            page = await call(client, "list_gazetteer", knowledge_base="town", cursor=cursor)
            assert len(json.dumps(page)) < 60_000
            seen += page["entities"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len({row["id"] for row in seen}) == len(seen) == 42

    with served(config) as address:
        over_http(address, use)


def test_a_hit_is_no_larger_for_what_hangs_on_it(tmp_path: Path) -> None:
    config = settings(tmp_path)
    with open_knowledge_base("smithy", config=config) as kb:
        kb.add(
            [
                Entry("small", "An anvil.", meta={"page": 3}),
                Entry("large", "Anvil anvil.", "x" * 90_000, meta={"x": "y" * 90_000}),
            ]
        )

    async def use(client: Client) -> None:
        found = await call(client, "search_knowledge", query="anvil", knowledge_base="smithy")
        assert len(json.dumps(found)) < 20_000
        hits = {hit["entry"]: hit for hit in found["hits"]}
        assert (hits["small"]["meta"], hits["small"]["meta_cut"]) == ({"page": 3}, False)
        assert (hits["large"]["meta"], hits["large"]["meta_cut"]) == ({}, True)
        for name, cut in (("small", False), ("large", True)):
            part = await call(client, "get_entry", entry=name, knowledge_base="smithy")
            assert (part["meta_cut"], part["text"]) == (cut, hits[name]["text"])
            assert len(json.dumps(part)) < 20_000

    with served(config) as address:
        over_http(address, use)


def test_a_text_longer_than_an_answer_is_read_part_by_part(tmp_path: Path) -> None:
    text = '\x01 \U0001f42b "' * 15_000  # characters that take one to six in JSON
    config = settings(tmp_path)
    with open_knowledge_base("smithy", config=config) as kb:
        kb.add([Entry("long", text)])

    async def use(client: Client) -> None:
        smithy = {"knowledge_base": "smithy"}
        parts: list[str] = []
        cursor = None
        while not parts or cursor is not None:
            part = await call(client, "get_entry", entry="long", cursor=cursor, **smithy)
            assert len(json.dumps(part, ensure_ascii=False)) < 45_000
            parts.append(part["text"])
            cursor = part["next_cursor"]
        assert "".join(parts) == text
        assert "entry-not-found" in await refused(client, "get_entry", entry="short", **smithy)

    with served(config) as address:
        over_http(address, use)
