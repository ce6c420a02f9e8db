"""What the server refuses so that it can go on answering."""

from __future__ import annotations

import asyncio
import logging
import shutil
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_server import SMITH, TOKENS, TOWN, WRITER, bearer, fill, served, settings
from starlette.types import Message

from graphport import Entry, open_knowledge_base
from graphport.errors import StorageBusyError, StorageCorruptError, StorageFullError, StorageUnavailableError
from graphport.knowledge.base import KnowledgeBase
from graphport_serve.errors import OverloadedError, RequestTimeoutError
from graphport_serve.guards import BodyGuard
from graphport_serve.workers import Workers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "", "localhost.evil.example", "a@localhost", "localhost:x"]
)
def test_a_host_the_server_is_not_called_by_is_refused(client: httpx.Client, host: str) -> None:
    for path in ("/api/vectordb", "/mcp", "/knowledge", "/healthz"):
        response = client.get(path, headers={"Host": host})
        assert (response.status_code, response.json()["code"]) == (421, "host-not-allowed")


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1", "[::1]:8765", "192.0.2.7", "LOCALHOST"])
def test_loopback_names_and_addresses_are_answered(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_another_name_can_be_allowed(filled: Path) -> None:
    with (
        served(settings(filled, allowed_hosts=["knowledge.example"])) as address,
        httpx.Client(base_url=address) as client,
    ):
        assert client.get("/healthz", headers={"Host": "knowledge.example"}).status_code == 200


def test_a_page_of_another_origin_may_neither_read_nor_change(client: httpx.Client) -> None:
    origin = {"Origin": "https://evil.example"}
    entity = {"type": "thing", "name": "Bell"}
    for response in (
        client.get("/api/vectordb", headers=origin),
        client.post(f"{TOWN}/gazetteer/add", json=entity, headers=origin),
        client.options("/api/vectordb", headers={**origin, "Access-Control-Request-Method": "GET"}),
        client.post("/mcp", json={}, headers=origin),
        client.get("/api/vectordb", headers={"Origin": "null"}),
    ):
        assert response.status_code == 421
        assert "access-control-allow-origin" not in response.headers


def test_the_pages_own_origin_is_welcome(client: httpx.Client) -> None:
    assert client.get("/api/vectordb", headers={"Origin": str(client.base_url).rstrip("/")}).status_code == 200


def test_an_origin_that_the_config_names_gets_cors(filled: Path) -> None:
    origin = "https://app.example"
    with served(settings(filled, cors_origins=[origin])) as address, httpx.Client(base_url=address) as client:
        response = client.get("/api/vectordb", headers={"Origin": origin})
        assert response.headers["access-control-allow-origin"] == origin
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "DELETE",
            "Access-Control-Request-Headers": "authorization",
        }
        assert client.options("/api/vectordb", headers=asked).status_code == 200
        assert client.get("/api/vectordb", headers={"Origin": "https://evil.example"}).status_code == 421


def test_a_form_of_another_page_cannot_be_taken_for_json(client: httpx.Client) -> None:
    body = b'{"type":"thing","name":"Bell"}'
    response = client.post(f"{TOWN}/gazetteer/add", content=body, headers={"Content-Type": "text/plain"})
    assert response.status_code == 422


def test_a_body_beyond_the_limit_is_refused_whether_announced_or_not(filled: Path) -> None:
    def stream() -> Iterator[bytes]:
        yield from (b"x" * 500 for _ in range(4))

    with served(settings(filled, max_body_bytes=1000)) as address, httpx.Client(base_url=address) as client:
        for content in (b"x" * 2000, stream()):
            response = client.post(f"{TOWN}/entries", content=content)
            assert (response.status_code, response.json()["code"]) == (413, "body-too-large")
        assert client.post(f"{TOWN}/entries", content=b"x" * 1000).status_code == 422
        assert client.get("/healthz").status_code == 200


def test_a_body_without_end_is_not_read_to_its_end() -> None:
    received: list[int] = []
    sent: list[Message] = []

    async def receive() -> Message:
        received.append(1)
        return {"type": "http.request", "body": b"x" * 500, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    async def never(*_: Any) -> None:
        raise AssertionError("the application saw it")

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    asyncio.run(BodyGuard(never, limit=1000, seconds=5)(scope, receive, send))
    assert sent[0]["status"] == 413
    assert len(received) == 3


def test_a_body_that_does_not_arrive_is_not_waited_for(filled: Path) -> None:
    def slow() -> Iterator[bytes]:
        yield b"{"
        time.sleep(1.5)

    with served(settings(filled, request_seconds=0.5)) as address, httpx.Client(base_url=address) as client:
        response = client.post(f"{TOWN}/entries", content=slow())
        assert (response.status_code, response.json()["code"]) == (503, "request-timeout")


def test_a_client_that_goes_away_while_it_sends_is_no_error_of_the_server(
    filled: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    with served(settings(filled)) as address, httpx.Client(base_url=address) as client:
        port = client.base_url.port
        assert port
        for path in ("/mcp", f"{TOWN}/entries"):
            with socket.create_connection(("127.0.0.1", port)) as sender:
                sender.sendall(f"POST {path} {head}".encode())
        deadline = time.monotonic() + 20
        while 'method="POST",route="other",status="499"} 2.0' not in client.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


# -- a database that cannot answer ----------------------------------------------------------------------


def test_a_busy_database_is_503_with_retry_after_and_never_an_empty_answer(tmp_path: Path) -> None:
    config = settings(tmp_path, request_seconds=5)
    fill(config)
    with (
        served(config) as address,
        httpx.Client(base_url=address, timeout=30) as client,
        closing(sqlite3.connect(tmp_path / "town" / "truth.sqlite3", isolation_level=None)) as other,
    ):
        assert client.get(f"{TOWN}/search", params={"q": "lake"}).status_code == 200
        other.execute("BEGIN IMMEDIATE")
        response = client.post(f"{TOWN}/gazetteer/add", json={"type": "thing", "name": "Bell"})
        assert response.status_code == 503
        assert response.json()["code"] in {"storage-busy", "request-timeout"}
        assert int(response.headers["retry-after"]) > 0
        other.execute("ROLLBACK")
        deadline = time.monotonic() + 20
        while client.get(f"{TOWN}/search", params={"q": "lake"}).status_code != 200:
            assert time.monotonic() < deadline
        assert len(client.get(f"{TOWN}/search", params={"q": "lake"}).json()["hits"]) == 1


def test_a_knowledge_base_that_is_deleted_or_made_anew_under_the_server_is_what_it_is_now(tmp_path: Path) -> None:
    config = settings(tmp_path)
    fill(config)
    new = {"entries": [{"id": "narwhal", "text": "A narwhal swims."}]}
    with open_knowledge_base("guest", config=config) as kb:
        kb.add([Entry("walrus", "A walrus sleeps.")])
    with served(config) as address, httpx.Client(base_url=address, timeout=30) as client:
        guest = "/api/vectordb/guest"
        assert client.get(guest).json()["entries"] == 1
        shutil.rmtree(tmp_path / "guest")
        for response in (client.post(f"{guest}/entries", json=new), client.get(guest)):
            assert (response.status_code, response.json()["code"]) == (404, "knowledge-base-not-found")
        assert not (tmp_path / "guest").exists()
        with open_knowledge_base("guest", config=config) as kb:
            kb.add([Entry("egret", "An egret stands.")])
        assert client.post(f"{guest}/entries", json=new).json() == {"added": 1}
        with open_knowledge_base("guest", config=config) as kb:
            assert sorted(entry.id for entry in kb.entries()) == ["egret", "narwhal"]
        shutil.rmtree(tmp_path / "town")  # the config names it, so it is there: empty
        assert client.get(TOWN).json()["entries"] == 0


@pytest.mark.parametrize(
    "error,status,retry",
    [(StorageBusyError, 503, True), (StorageUnavailableError, 503, True), (StorageFullError, 507, False),
     (StorageCorruptError, 500, False), (RuntimeError, 500, False)],
)  # fmt: skip
def test_trouble_inside_has_its_code_and_keeps_its_details(
    filled: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception], status: int, retry: bool
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error("postgresql://user:secret@db.internal is not there")

    with served(settings(filled)) as address, httpx.Client(base_url=address) as client:
        monkeypatch.setattr(KnowledgeBase, "search", fail)
        response = client.get(f"{TOWN}/search", params={"q": "lake"})
        assert response.status_code == status
        assert response.json()["code"] == getattr(error, "code", "internal-error")
        assert ("retry-after" in response.headers) is retry
        assert "secret" not in response.text
        assert "hits" not in response.json()


def test_a_server_whose_database_is_gone_is_alive_and_not_ready(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise StorageUnavailableError("gone")

    with served(settings(filled)) as address, httpx.Client(base_url=address) as client:
        assert client.get(TOWN).status_code == 200
        monkeypatch.setattr(KnowledgeBase, "get", fail)
        assert client.get("/healthz").status_code == 200
        response = client.get("/readyz")
        assert (response.status_code, response.json()["code"]) == (503, "storage-unavailable")
        assert "town" not in response.text


# -- more than it can do --------------------------------------------------------------------------------


def test_too_many_requests_are_refused_at_once_and_the_server_recovers(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    search = KnowledgeBase.search

    def slow(self: KnowledgeBase, *args: Any, **options: Any) -> Any:
        gate.wait(20)
        return search(self, *args, **options)

    monkeypatch.setattr(KnowledgeBase, "search", slow)
    with (
        served(settings(filled, threads=2, queue=3)) as address,
        httpx.Client(base_url=address, timeout=30) as client,
        ThreadPoolExecutor(20) as callers,
    ):
        asked = [callers.submit(client.get, f"{TOWN}/search", params={"q": "lake"}) for _ in range(20)]
        deadline = time.monotonic() + 20
        while sum(future.done() for future in asked) < 15:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert client.get("/healthz").status_code == 200
        refused = client.get(f"{TOWN}/search", params={"q": "lake"})
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert int(refused.headers["retry-after"]) > 0
        gate.set()
        answers = [future.result() for future in asked]
        assert sorted(answer.status_code for answer in answers) == [200] * 5 + [503] * 15
        assert all(len(answer.json()["hits"]) == 1 for answer in answers if answer.status_code == 200)
        assert client.get(f"{TOWN}/search", params={"q": "lake"}).status_code == 200


def test_a_knowledge_base_whose_database_hangs_keeps_no_other_from_answering(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, hanging = threading.Event(), threading.Semaphore(0)
    search = KnowledgeBase.search

    def hang(self: KnowledgeBase, *args: Any, **options: Any) -> Any:
        if self.config.name == "town":
            hanging.release()
            gate.wait(30)
        return search(self, *args, **options)

    monkeypatch.setattr(KnowledgeBase, "search", hang)
    limits = {"threads": 2, "queue": 0, "tokens": TOKENS}
    with (
        served(settings(filled, **limits)) as address,
        httpx.Client(base_url=address, timeout=30, headers=bearer(WRITER)) as client,
        ThreadPoolExecutor(2) as callers,
    ):
        try:
            stuck = [callers.submit(client.get, f"{TOWN}/search", params={"q": "lake"}) for _ in range(2)]
            for _ in stuck:
                assert hanging.acquire(timeout=20)
            refused = client.get(f"{TOWN}/search", params={"q": "lake"})
            assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
            found = client.get("/api/vectordb/smithy/search", params={"q": "anvil"})
            assert [hit["entry"] for hit in found.json()["hits"]] == ["anvil"]
            assert len(client.get("/api/vectordb").json()["knowledge_bases"]) == 2
            # and a caller who may not know of it learns nothing from its being busy
            for path in (f"{TOWN}/search", "/api/vectordb/nowhere/search"):
                assert client.get(path, params={"q": "lake"}, headers=bearer(SMITH)).status_code == 404
        finally:
            gate.set()
        assert [len(future.result().json()["hits"]) for future in stuck] == [1, 1]


def test_a_slow_answer_ends_in_time_and_keeps_its_place_until_it_is_done() -> None:
    gate = threading.Event()

    async def run() -> None:
        workers = Workers(threads=1, queue=0, seconds=0.2)
        with pytest.raises(RequestTimeoutError):
            await workers.run(lambda: gate.wait(20))
        with pytest.raises(OverloadedError):
            await workers.run(lambda: 1)
        gate.set()
        while workers.taken:
            await asyncio.sleep(0.01)
        assert await workers.run(lambda: 1) == 1
        assert workers.close(10)

    asyncio.run(run())


def test_a_question_that_waited_too_long_is_never_begun() -> None:
    gate = threading.Event()
    begun: list[int] = []

    async def run() -> None:
        workers = Workers(threads=1, queue=1, seconds=0.2)
        first = asyncio.create_task(workers.run(lambda: gate.wait(20)))
        second = asyncio.create_task(workers.run(lambda: begun.append(1)))
        for task in (first, second):
            with pytest.raises(RequestTimeoutError):
                await task
        gate.set()
        while workers.taken:
            await asyncio.sleep(0.01)
        assert workers.close(10)

    asyncio.run(run())
    assert begun == []


def test_an_error_of_the_question_itself_comes_through_even_a_timeout() -> None:
    def fail() -> None:
        raise TimeoutError("the question's own")

    async def run() -> None:
        workers = Workers(threads=1, queue=0, seconds=5)
        with pytest.raises(TimeoutError, match="own"):
            await workers.run(fail)
        assert workers.close(10)

    asyncio.run(run())
