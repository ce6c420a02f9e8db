"""What is installed from the wheel does the main job."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_holds_every_package_typed_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    packages = {name.partition("/")[0] for name in names if name.endswith("py.typed")}
    assert {top for top in tops if not top.endswith(".dist-info")} == packages
    assert {"graphport", "graphport_memory", "graphport_kuzu", "graphport_postgres", "graphport_code"} <= packages
    assert {"graphport/cli/demo_data/acts.md", "graphport/docs/library.md"} <= set(names)
    assert not [name for name in names if "test_" in name or "__pycache__" in name]


@pytest.mark.slow
def test_the_installed_demo_shows_what_the_graph_changed_and_why(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    shown = subprocess.run(
        [sys.executable, "-W", "error", "-m", "graphport.cli.main", "demo"],
        capture_output=True, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target), "HOME": str(tmp_path), "COLUMNS": "200"},
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.count("without the graph") == 3
    assert "because: Apollos" in shown.stdout
    assert "docs/library.md" in shown.stdout
    assert shown.stderr == ""
