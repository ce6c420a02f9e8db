from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from serve_server import TOKENS, fill, served, settings


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the knowledge bases town and smithy; tests that change them clean up."""
    home = tmp_path_factory.mktemp("home")
    fill(settings(home))
    return home


@pytest.fixture(scope="session")
def open_server(filled: Path) -> Generator[str]:
    """Address of a server without tokens."""
    with served(settings(filled)) as address:
        yield address


@pytest.fixture(scope="session")
def guarded_server(filled: Path) -> Generator[str]:
    """Address of a server with the tokens of `serve_server`."""
    with served(settings(filled, tokens=TOKENS)) as address:
        yield address


@pytest.fixture
def client(open_server: str) -> Generator[httpx.Client]:
    with httpx.Client(base_url=open_server, timeout=30) as client:
        yield client


@pytest.fixture
def guarded(guarded_server: str) -> Generator[httpx.Client]:
    with httpx.Client(base_url=guarded_server, timeout=30) as client:
        yield client
