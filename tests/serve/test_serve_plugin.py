"""The commands are found without any web framework, and say what to install where one is missing."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from graphport.cli.main import main
from graphport.registry import plugins


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_both_commands_are_found_through_the_hook() -> None:
    assert {"serve", "mcp"} <= set(plugins().commands())


def test_the_plugin_imports_no_web_framework() -> None:
    heavy = "{'fastapi', 'starlette', 'uvicorn', 'mcp', 'prometheus_client'}"
    assert run_python(f"import graphport_serve.plugin, sys; print(sorted({heavy} & set(sys.modules)))") == "[]"


def test_mcp_works_without_the_serve_extra() -> None:
    block = "import sys; sys.modules.update(dict.fromkeys(['fastapi', 'prometheus_client', 'uvicorn']))"
    assert run_python(f"{block}; import graphport_serve.mcp_server, graphport_serve.running; print('fine')") == "fine"


@pytest.mark.parametrize("command,extra", [("serve", "serve"), ("mcp", "mcp")])
def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, command: str, extra: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(main, [command])
    assert result.exit_code == 1
    assert f"pip install 'graphport[{extra}]'" in result.output


@pytest.mark.slow
def test_the_wheel_holds_the_page_and_its_licences(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=120)
    names = set(zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    page = root / "plugins" / "graphport_serve" / "page"
    shipped = {
        f"graphport_serve/page/{file.relative_to(page).as_posix()}" for file in page.rglob("*") if file.is_file()
    }
    assert shipped
    assert shipped <= names
    assert "graphport_serve/page/vendor/sigma.LICENSE.txt" in names
