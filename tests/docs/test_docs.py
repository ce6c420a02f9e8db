"""The docs tell the truth: their Python runs, and every hook, capability, error and public name is in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphport
from graphport import Capability, errors, hookspecs

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHPORT_HOME", str(tmp_path / "home"))
    names: dict[str, object] = {"__name__": f"docs_{page.stem}"}
    for block in blocks(page):
        exec(compile(block, f"{page.name}", "exec"), names)


@pytest.mark.parametrize("hook", [name for name in dir(hookspecs) if name.startswith("graphport_")])
def test_every_hook_is_documented(hook: str) -> None:
    assert f"`{hook}`" in TEXT


@pytest.mark.parametrize("capability", list(Capability))
def test_every_capability_is_documented(capability: Capability) -> None:
    assert f"`{capability.name}`" in TEXT


@pytest.mark.parametrize("name", [name for name in dir(errors) if name.endswith("Error")])
def test_every_error_is_documented_with_its_code(name: str) -> None:
    code = getattr(errors, name).code
    assert re.search(rf"^\| `{name}` \|.*`{code}`", TEXT, re.MULTILINE)


@pytest.mark.parametrize("name", graphport.__all__)
def test_every_public_name_exists_and_is_documented(name: str) -> None:
    assert getattr(graphport, name).__doc__
    assert f"{name}" in TEXT


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("file", ["pyproject.toml", "graphport_example/plugin.py", "tests/test_example.py"])
def test_the_backend_page_quotes_the_example_as_it_is(file: str) -> None:
    example = (ROOT / "plugins/example_backend" / file).read_text("utf-8")
    assert example.strip() in (ROOT / "docs/write-a-backend.md").read_text("utf-8")
