"""A real server on loopback, in a thread, and knowledge bases for it to serve."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from graphport import Entry, open_knowledge_base
from graphport.config import load_config
from graphport_serve.app import make_app

READER, WRITER, SMITH = "reader-0123456789abcdef", "writer-0123456789abcdef", "smith-0123456789abcdef"
"""Tokens: reading everything, writing everything, and both for the knowledge base ``smithy`` alone."""

TOKENS = [
    {"token": READER, "scopes": ["read"]},
    {"token": WRITER, "scopes": ["read", "write"]},
    {"token": SMITH, "scopes": ["read", "write"], "knowledge_bases": ["smithy"]},
]

TOWN = "/api/vectordb/town"
MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def settings(home: Path, **server: Any) -> dict[str, Any]:
    """A config of two knowledge bases, one of which declares an entity; no embedder."""
    return {
        "data_dir": str(home),
        "embedder": "none",
        "vector_dbs": [
            {"name": "town", "entities": [{"type": "person", "names": ["John Calvin", "Calvin"]}]},
            {"name": "smithy"},
        ],
        "server": server,
    }


def fill(config: Mapping[str, Any]) -> None:
    """A few entries in each knowledge base; ``zyzzyva`` is only in town, ``anvil`` only in smithy."""
    with open_knowledge_base("town", config=config) as kb:
        kb.add(
            [
                Entry("geneva", "Geneva lies at a lake. John Calvin preached there.", title="Geneva"),
                Entry("calvin", "John Calvin was born in Noyon and lived in Geneva.", title="John Calvin"),
                Entry("noyon", "Noyon is a town with a cathedral and a zyzzyva.", title="Noyon"),
                Entry("markup", f"Text that is markup: {MARKUP} of Geneva", title=MARKUP),
            ]
        )
        kb.add_entity("location", ["Geneva", "Genf"])
    with open_knowledge_base("smithy", config=config) as kb:
        kb.add([Entry("anvil", "An anvil stands in the smithy.", title="The anvil")])


@contextmanager
def served(config: Mapping[str, Any]) -> Generator[str]:
    """The address of a server with this config, for as long as the block lasts."""
    server = uvicorn.Server(
        uvicorn.Config(make_app(load_config(config)), host="127.0.0.1", port=0, log_level="warning", lifespan="on")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and thread.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started, "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)


def get(client: httpx.Client, path: str, **params: Any) -> Any:
    response = client.get(path, params=params)
    assert response.status_code == 200, response.text
    return response.json()


def problem(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == response.status_code
    assert body["type"] == f"urn:graphport:{body['code']}"
    assert body["detail"]
    return response.status_code, body["code"]
