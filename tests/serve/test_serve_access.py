"""Who may ask: tokens, scopes, and knowledge bases that a token must not know of."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_server import READER, SMITH, TOKENS, TOWN, WRITER, bearer, served, settings

from graphport.config import load_config
from graphport.errors import ConfigError
from graphport_serve.access import EVERYTHING, Tokens, check_exposure, is_loopback, tokens_of
from graphport_serve.app import make_app
from graphport_serve.errors import UnauthorizedError

ENTITY = {"type": "thing", "name": "Bell"}


@pytest.mark.parametrize(
    "header", [None, "", READER, f"Basic {READER}", "Bearer", "Bearer wrong", f"Bearer {READER}x", "Bearer é"]
)
def test_without_a_known_token_nothing_is_told(guarded: httpx.Client, header: str | None) -> None:
    headers: dict[bytes, bytes] = {} if header is None else {b"Authorization": header.encode()}
    for path in (TOWN, "/api/vectordb", "/api/vectordb/nowhere", "/metrics", "/mcp", "/nothing"):
        response = guarded.get(path, headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "unauthorized")
        assert response.headers["www-authenticate"] == "Bearer"
        assert "town" not in response.text


def test_health_and_the_page_need_no_token(guarded: httpx.Client) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json", "/knowledge", "/knowledge/app.js"):
        response = guarded.get(path)
        assert response.status_code == 200
        assert "town" not in response.text


def test_a_path_beside_the_page_is_no_way_around_the_token(guarded: httpx.Client) -> None:
    for path in (
        "/knowledge/../api/vectordb",
        "/knowledge/%2e%2e/api/vectordb",
        "/knowledge//../../etc/passwd",
        "/knowledge/../app.py",
    ):
        assert guarded.get(path).status_code in {401, 404}


def test_reading_needs_read_and_changing_needs_write(guarded: httpx.Client) -> None:
    assert guarded.get(TOWN, headers=bearer(READER)).status_code == 200
    refused = guarded.post(f"{TOWN}/gazetteer/add", json=ENTITY, headers=bearer(READER))
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert guarded.post(f"{TOWN}/gazetteer/add", json=ENTITY, headers=bearer(WRITER)).status_code == 200
    params = {"type": "thing", "name": "Bell"}
    assert guarded.delete(f"{TOWN}/gazetteer/remove", params=params, headers=bearer(READER)).status_code == 403
    assert guarded.delete(f"{TOWN}/gazetteer/remove", params=params, headers=bearer(WRITER)).json()["removed"]


def test_a_token_that_writes_but_does_not_read_is_held_to_that(filled: Path) -> None:
    token = "only-writes-0123456789"
    with (
        served(settings(filled, tokens=[{"token": token, "scopes": ["write"]}])) as address,
        httpx.Client(base_url=address, headers=bearer(token)) as client,
    ):
        assert client.get(TOWN).status_code == 403
        assert client.get("/api/vectordb").status_code == 403
        assert client.get("/metrics").status_code == 403
        assert client.delete(f"{TOWN}/gazetteer/remove", params={"type": "a", "name": "b"}).status_code == 200


def every_request(document: dict[str, Any], name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each operation of the OpenAPI document on the knowledge base ``name``, with parameters that would do."""
    values = {
        "q": "zyzzyva", "node": "entry:noyon", "entry_id": "noyon", "type": "location", "name": "Geneva",
        "symbol": "x", "source": "entry:noyon", "target": "entity:location:Geneva", "kind": "mentions",
    }  # fmt: skip
    bodies = {
        "gazetteer/add": {"type": "thing", "name": "Bell"},
        "proposals/accept": {"type": "thing", "names": ["Bell"]},
        "proposals/reject": {"names": ["Bell"]},
        "entries": {"entries": [{"id": "new", "text": "text"}]},
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            query = {
                item["name"]: values.get(item["name"], "x")
                for item in operation.get("parameters", [])
                if item["in"] == "query" and item["required"]
            }
            url = path.replace("{name}", name).replace("{entry_id}", "noyon")
            request: dict[str, Any] = {"params": query}
            if "requestBody" in operation:
                request["json"] = next((body for end, body in bodies.items() if path.endswith(end)), {})
            yield method.upper(), url, request


def test_a_token_of_one_knowledge_base_sees_no_trace_of_another_on_any_route(guarded: httpx.Client) -> None:
    document = guarded.get("/openapi.json").json()
    walked = 0
    for (method, path, request), (_, absent, _) in zip(
        every_request(document, "town"), every_request(document, "nowhere"), strict=True
    ):
        seen = guarded.request(method, path, headers=bearer(SMITH), **request)
        unseen = guarded.request(method, absent, headers=bearer(SMITH), **request)
        for secret in ("zyzzyva", "Noyon", "Calvin", "Geneva"):
            assert secret not in seen.text.replace(str(request), ""), path
        if path != absent:  # the routes of a knowledge base: as if there were none of that name
            assert seen.status_code == unseen.status_code == 404, path
            assert seen.text.replace("town", "nowhere") == unseen.text
            walked += 1
        else:
            assert "town" not in seen.text, path
    assert walked >= 28
    assert guarded.get("/api/vectordb", headers=bearer(SMITH)).json() == {"knowledge_bases": [{"name": "smithy"}]}
    assert guarded.get("/api/vectordb/smithy", headers=bearer(SMITH)).status_code == 200
    assert guarded.get("/metrics", headers=bearer(SMITH)).status_code == 403
    assert guarded.get(TOWN, headers=bearer(WRITER)).json()["entries"] == 4


def test_every_route_that_changes_something_needs_write(guarded: httpx.Client) -> None:
    changing = [
        (method, path, request)
        for method, path, request in every_request(guarded.get("/openapi.json").json(), "town")
        if method != "GET"
    ]
    assert len(changing) >= 9
    for method, path, request in changing:
        refused = guarded.request(method, path, headers=bearer(READER), **request)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path


def test_listening_to_others_without_a_token_is_refused() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "knowledge.example"):
        with pytest.raises(ConfigError, match="public-without-token"):
            make_app(load_config({"server": {"host": host}}))
    check_exposure("0.0.0.0", Tokens(load_config({"server": {"tokens": TOKENS}}).server.tokens))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost", "LOCALHOST"])
def test_loopback_addresses_are_known(host: str) -> None:
    assert is_loopback(host)


def test_the_command_refuses_a_public_address_before_it_listens(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "graphport.cli.main", "--home", str(tmp_path), "serve", "--host", "0.0.0.0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "public-without-token" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_token_from_the_environment_opens_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHPORT_TOKEN", "from-the-environment-1")
    tokens = tokens_of(load_config({}))
    assert tokens.access("Bearer from-the-environment-1") == EVERYTHING
    with pytest.raises(UnauthorizedError):
        tokens.access("Bearer from-the-environment-2")


@pytest.mark.parametrize("token", ["short", "with white space in it", "ünïcödé-0123456789"])
def test_a_poor_token_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config({"server": {"tokens": [{"token": token}]}})
    assert refused.value.problem == "bad-server"
    assert token not in str(refused.value)
    monkeypatch.setenv("GRAPHPORT_TOKEN", token)
    with pytest.raises(ConfigError) as refused:
        tokens_of(load_config({}))
    assert token not in str(refused.value)


def test_two_callers_cannot_have_one_token() -> None:
    with pytest.raises(ConfigError, match="duplicate-token"):
        tokens_of(load_config({"server": {"tokens": [TOKENS[0], TOKENS[0]]}}))


def test_no_token_is_ever_logged_or_shown(filled: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = load_config(settings(filled, tokens=TOKENS))
    assert READER not in repr(config)
    with (
        caplog.at_level(logging.DEBUG),
        served(settings(filled, tokens=TOKENS)) as address,
        httpx.Client(base_url=address) as client,
    ):
        for token in (READER, "unknown-token-0123456789"):
            answer = client.get(TOWN, headers=bearer(token))
            assert token not in answer.text
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert ours
    assert not any(READER in line or "unknown-token" in line for line in ours)
