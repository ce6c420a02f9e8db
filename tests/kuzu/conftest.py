"""All tests here are about one driver, for two cannot live in one process; `test_kuzu_drivers` runs them on both."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from kuzu_child import DRIVER

from graphport import GraphStorage, open_storage


@pytest.fixture(scope="session")
def driver() -> str:
    if find_spec(DRIVER) is None:
        if "CI" in os.environ:
            raise ModuleNotFoundError(f"CI must have the driver {DRIVER}")
        pytest.skip(f"NO DRIVER: {DRIVER} is not installed")
    return DRIVER


@pytest.fixture
def options(driver: str, tmp_path: Path) -> dict[str, Any]:
    return {"path": tmp_path / "store", "driver": driver, "buffer_pool_size": 256 * 2**20, "max_threads": 2}


@pytest.fixture
def open_graph(options: dict[str, Any]) -> Callable[..., GraphStorage]:
    """Opens the test's store; the handle is the test's to close."""
    return lambda **more: open_storage("kuzu", **{**options, **more})
