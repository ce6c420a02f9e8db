"""Two processes on one knowledge base: both work, or the second is told at once that it is busy."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_server import fill, settings

from graphport import Entry, open_knowledge_base
from graphport.errors import StorageBusyError

pytestmark = pytest.mark.slow
CLI = [sys.executable, "-m", "graphport.cli.main"]


@contextmanager
def process(config: Path, log: Path) -> Generator[str]:
    """Address of ``graphport serve`` in a process of its own."""
    with log.open("w") as output:
        server = subprocess.Popen(
            [*CLI, "serve", "--config", str(config), "--port", "0"], stdout=output, stderr=output, env={**os.environ}
        )
        try:
            yield _address(server, log)
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(30) in {0, -signal.SIGTERM}


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        for line in log.read_text().splitlines():
            if "running on" in line:
                return line.split("running on ")[1].split()[0]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "graphport.json"
    file.write_text(json.dumps(settings(tmp_path / "home")))
    fill(settings(tmp_path / "home"))
    return file


def search(address: str, query: str) -> list[str]:
    response = httpx.get(f"{address}/api/vectordb/town/search", params={"q": query}, timeout=60)
    assert response.status_code == 200, response.text
    return [hit["entry"] for hit in response.json()["hits"]]


def test_a_server_sees_at_once_what_another_process_writes(config: Path, tmp_path: Path) -> None:
    with process(config, tmp_path / "log") as address:
        assert search(address, "swans") == []
        with open_knowledge_base("town", config=str(config)) as kb:
            kb.add([Entry("lake", "Swans on the lake.")])
        assert search(address, "swans") == ["lake"]
        added = subprocess.run(
            [*CLI, "--config", str(config), "gazetteer", "add", "town", "thing", "Swans"],
            capture_output=True,
            timeout=120,
        )
        assert added.returncode == 0, added.stderr
        around = httpx.get(f"{address}/api/vectordb/town/graph", params={"node": "entity:thing:Swans"}, timeout=60)
        assert "entry:lake" in {node["id"] for node in around.json()["nodes"]}


def test_two_servers_that_write_at_once_lose_nothing(config: Path, tmp_path: Path) -> None:
    with process(config, tmp_path / "one") as one, process(config, tmp_path / "two") as two:
        kept: list[str] = []
        for number in range(6):
            for address in (one, two):
                entry = {"id": f"{address[-5:]}-{number}", "text": f"Pelican number {number}"}
                response = httpx.post(f"{address}/api/vectordb/town/entries", json={"entries": [entry]}, timeout=60)
                assert response.status_code in {200, 503}, response.text
                if response.status_code == 200:
                    kept.append(entry["id"])
        assert len(kept) >= 6
        for address in (one, two):
            response = httpx.get(
                f"{address}/api/vectordb/town/search", params={"q": "pelican", "top_k": 50}, timeout=60
            )
            assert sorted(hit["entry"] for hit in response.json()["hits"]) == sorted(kept)
    with open_knowledge_base("town", config=str(config)) as kb:
        assert {entry.id for entry in kb.entries()} >= set(kept)


def test_a_knowledge_base_held_by_another_process_is_busy_and_says_so(tmp_path: Path) -> None:
    """A Kuzu file has one writer: whoever comes second works or gets the typed error, and never hangs."""
    pytest.importorskip("ladybug")
    settings_: dict[str, Any] = settings(tmp_path / "home")
    settings_["graph"] = {"backend": "kuzu"}
    file = tmp_path / "graphport.json"
    file.write_text(json.dumps(settings_))
    fill(settings_)
    with process(file, tmp_path / "log") as address:
        assert httpx.get(f"{address}/api/vectordb/town/graph", timeout=60).status_code == 200
        start = time.monotonic()
        with suppress(StorageBusyError), open_knowledge_base("town", config=str(file)) as kb:
            kb.add([Entry("lake", "Swans on the lake.")])
        assert time.monotonic() - start < 30
        assert search(address, "Geneva")


HANGING = """
import sys, time
from graphport.cli.main import main
from graphport.knowledge.base import KnowledgeBase
from graphport_serve import service

service.CLOSE_SECONDS = 0.5
KnowledgeBase.search = lambda *_, **__: time.sleep(120)
main()
"""


@pytest.mark.parametrize("told_by", [signal.SIGTERM, signal.SIGINT])
def test_a_server_ends_when_it_is_told_to_though_a_database_hangs(
    config: Path, tmp_path: Path, told_by: signal.Signals
) -> None:
    values = json.loads(config.read_text())
    values["server"] = {**values.get("server", {}), "request_seconds": 0.5}
    config.write_text(json.dumps(values))
    log = tmp_path / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-c", HANGING, "serve", "--config", str(config), "--port", "0"],
            stdout=output, stderr=output,
        )  # fmt: skip
    try:
        asked = httpx.get(f"{_address(server, log)}/api/vectordb/town/search", params={"q": "lake"}, timeout=60)
        assert asked.status_code == 503, asked.text
        server.send_signal(told_by)
        server.wait(30)  # of the 120 that the call takes
    finally:
        server.kill()
        server.wait()
    assert "'town' is not closed" in log.read_text()
