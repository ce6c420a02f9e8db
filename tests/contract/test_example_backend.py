"""A backend from elsewhere: found through its entry point, and held to the contract by its own test file."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "plugins" / "example_backend"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the example is installed, as far as importlib.metadata can tell; nothing is built."""
    info = tmp_path_factory.mktemp("site") / "graphport_example-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: graphport-example\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[graphport]\nexample = graphport_example.plugin\n")
    path = os.pathsep.join((str(info.parent), str(EXAMPLE)))
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def python(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=EXAMPLE, capture_output=True, text=True, timeout=300
    )


def test_it_is_found_and_opened_by_name(installed: dict[str, str]) -> None:
    code = (
        "from graphport import Node, available_backends, open_storage\n"
        "assert 'example' in available_backends()\n"
        "with open_storage('example', graph='mine') as storage:\n"
        "    storage.upsert_nodes([Node('a', 'k', 'A')])\n"
        "    print(type(storage).__name__, storage.graphs(), storage.counts().nodes)\n"
    )
    done = python(installed, "-c", code)
    assert done.stdout == "ExampleStorage ['mine'] 1\n", done.stderr


def test_the_entry_point_is_the_one_it_declares() -> None:
    declared = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    assert declared == {"graphport": {"example": "graphport_example.plugin"}}


def test_it_keeps_the_contract(installed: dict[str, str]) -> None:
    done = python(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == pytest.ExitCode.OK, done.stdout[-4000:] + done.stderr[-2000:]
