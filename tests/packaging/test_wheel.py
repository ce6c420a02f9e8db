"""What is installed from the wheel does the main job."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE_PYTHON = (
    "graphport/cli/demo_data/acts.md",
    "graphport/docs/",
    "graphport_embed/VOCAB_NOTICE.md",
    "graphport_embed/vocab.txt",
    "graphport_serve/page/",
)
"""What the wheel holds that is not Python."""


def test_the_wheel_holds_every_package_typed_and_nothing_else(wheel: Path) -> None:
    names = {name for name in contents(wheel) if ".dist-info/" not in name}
    packages = {name.partition("/")[0] for name in names if name.endswith("py.typed")}
    assert {name.partition("/")[0] for name in names} == packages
    assert {"graphport", "graphport_memory", "graphport_kuzu", "graphport_postgres", "graphport_code"} <= packages
    assert {"graphport/testing/contract/rows.py", "graphport/docs/library.md"} <= names
    assert {"graphport_serve/page/index.html", "graphport_serve/page/vendor/sigma.min.js"} <= names
    assert all(any(name.startswith(each) for name in names) for each in BESIDE_PYTHON)
    assert [name for name in names if "test_" in name or "__pycache__" in name] == []
    assert [
        name for name in names if not name.endswith((".py", "/py.typed")) and not name.startswith(BESIDE_PYTHON)
    ] == []


def test_the_source_archive_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    hatchling = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)]
    subprocess.run([*hatchling, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    subprocess.run(["tar", "-xzf", archive], cwd=tmp_path, check=True)
    subprocess.run(
        [*hatchling, "-t", "wheel"],
        cwd=tmp_path / archive.name.removesuffix(".tar.gz"),
        check=True,
        capture_output=True,
    )
    (again,) = tmp_path.glob("*.whl")
    assert contents(again) == contents(wheel)


def contents(wheel: Path) -> dict[str, int]:
    """Names and checksums."""
    return {file.filename: file.CRC for file in zipfile.ZipFile(wheel).infolist()}


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
