"""Two drivers: each proved in a process of its own, kept out of the other's process and files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kuzu_child import DRIVER, run

from graphport.registry import find_backend
from graphport_kuzu.drivers import DRIVERS

OTHER = "kuzu" if DRIVER == "ladybug" else "ladybug"
ASK = """
try:
    open_graph(driver={driver!r}).close()
except GraphportError as error:
    say(type(error).__name__, error)
else:
    say("opened")
"""


@pytest.mark.skipif(DRIVER == "kuzu", reason="this is that run")
def test_everything_holds_on_kuzu_too(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """All tests of this folder again, in a process with the other driver."""
    chosen = ["-m", pytestconfig.option.markexpr] if pytestconfig.option.markexpr else []
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'kuzu'}", *chosen,
         str(Path(__file__).parent)],
        env={**os.environ, "GRAPHPORT_KUZU_DRIVER": "kuzu"},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]


def test_the_second_driver_of_a_process_is_refused(options: dict[str, Any]) -> None:
    said = run(options, f"open_graph().close()\n{ASK.format(driver=OTHER)}")
    assert said.startswith("BackendUnavailableError")
    assert DRIVER in said
    assert OTHER in said


def test_a_driver_that_somebody_else_imported_counts(options: dict[str, Any]) -> None:
    assert run(options, f"import {OTHER}\n{ASK.format(driver=DRIVER)}").startswith("BackendUnavailableError")


def test_a_driver_that_is_not_installed_says_how_to_install_it(options: dict[str, Any]) -> None:
    hide = "import importlib.util\nfind = importlib.util.find_spec\n"
    hide += "importlib.util.find_spec = lambda name, *rest: None if name == OPTIONS['driver'] else find(name, *rest)\n"
    said = run(options, hide + ASK.format(driver=DRIVER))
    assert said.startswith("BackendUnavailableError")
    assert DRIVERS[DRIVER].install_hint in said


def test_the_other_drivers_file_says_who_wrote_it(options: dict[str, Any]) -> None:
    run(options, "with open_graph() as graph:\n    graph.upsert_nodes([Node('a', 'k', 'a')])")
    said = run(options, ASK.format(driver=OTHER))
    assert said.startswith("StorageError")
    assert f"written by the driver {DRIVER!r}" in said
    assert "graphport migrate" in said
    assert run(options, "with open_graph() as graph:\n    say(graph.counts().nodes)") == "1"


def test_a_graph_is_copied_over_to_the_other_driver(options: dict[str, Any], tmp_path: Path) -> None:
    nodes = "Node('a', 'k', 'a', None, {'x': 0.1}), Node('b', 'k', 'b')"
    fill = f"    graph.upsert_nodes([{nodes}])\n    graph.upsert_edges([Edge('a', 'b', 'e', 0.3, {{'y': [1, None]}})])"
    run(options, f"with open_graph() as graph:\n{fill}")
    source = f"kuzu {{path: {options['path']}, driver: {DRIVER}}}"
    target = f"kuzu {{path: {tmp_path / 'copy'}, driver: {OTHER}}}"
    command = [sys.executable, "-m", "graphport.cli.main", "migrate", source, target]
    subprocess.run(command, check=True, capture_output=True)
    tell = "with open_graph() as graph:\n    say(list(graph.iter_nodes()), list(graph.iter_edges()))"
    copied = {**options, "path": tmp_path / "copy", "driver": OTHER}
    assert run(copied, tell) == run(options, tell) != "[] []"


def test_another_storage_version_is_refused_and_left_alone(options: dict[str, Any]) -> None:
    run(options, "open_graph().close()")
    (database,) = Path(options["path"]).glob("graph/gen-*/graph.db")
    data = bytearray(database.read_bytes())
    data[4] += 1
    database.write_bytes(data)
    said = run(options, ASK.format(driver=DRIVER))
    assert said.startswith("StorageError")
    assert "storage version" in said
    assert database.read_bytes() == data


def test_declaring_the_backend_imports_no_driver() -> None:
    code = "import sys, graphport; graphport.available_backends(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split()
    assert "graphport_kuzu.plugin" in loaded
    assert not {"ladybug", "kuzu", "pyarrow"} & set(loaded)


def test_the_backend_is_found_by_name() -> None:
    backend = find_backend("kuzu")
    assert backend.install_hint == "pip install 'graphport[kuzu]'"
    assert backend.missing() is None
