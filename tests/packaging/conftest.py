"""The wheel, built once, and a Python that has it and what it requires, without any extra."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
Bare = Callable[[str], dict[str, object]]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Bare:
    """Runs a program where `pip install graphport` was all; answers with the JSON object it prints."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (metadata,) = site.glob("*.dist-info")
    for each in _required(PathDistribution(metadata)):
        for top in {file.parts[0] for file in each.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(each.locate_file(top))))

    def run(program: str) -> dict[str, object]:
        home = tmp_path_factory.mktemp("home")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GRAPHPORT"))}
        done = subprocess.run(
            [sys.executable, "-S", "-W", "error", "-c", program], capture_output=True, text=True, cwd=home,
            env={**kept, "PYTHONPATH": str(site), "HOME": str(home), "GRAPHPORT_HOME": str(home), "COLUMNS": "300"},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    return run


def _required(ours: Distribution) -> list[Distribution]:
    """The installed distributions that ours needs without an extra, and all that they need."""
    found: dict[str, Distribution] = {}
    waiting = [ours]
    while waiting:
        for text in waiting.pop().requires or ():
            needed = Requirement(text)
            name = canonicalize_name(needed.name)
            if name not in found and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
                found[name] = distribution(name)
                waiting.append(found[name])
    return list(found.values())
