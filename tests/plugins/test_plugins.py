"""Plugins are found one by one: a broken one is a warning, two of one name are an error."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from graphport import Backend, GraphStorage, available_backends, hookimpl, open_storage
from graphport.errors import BackendNotFoundError, BackendUnavailableError, ConfigError, PluginConflictError
from graphport.hookspecs import PROJECT
from graphport.registry import Plugins, plugins
from graphport.storage import BackendOptions


def refuse(options: BackendOptions) -> GraphStorage:
    raise AssertionError("must not be opened")


def backend(name: str, reason: str | None = None) -> Backend:
    return Backend(name, refuse, frozenset(), BackendOptions, f"pip install '{name}-driver'", lambda: reason)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("third_party")
    monkeypatch.setitem(sys.modules, "third_party", made)
    return made


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, PROJECT)


def offer(module: ModuleType, *offered: Backend) -> None:
    @hookimpl
    def graphport_backends() -> Sequence[Backend]:
        return offered

    module.graphport_backends = graphport_backends  # type: ignore[attr-defined]  # a module made here


def test_the_plugins_shipped_here_all_load_and_answer_to_hooks() -> None:
    found = plugins()
    assert found.broken == {}
    for name, plugin in found.manager.list_name_plugin():
        assert found.manager.get_hookcallers(plugin), f"{name} has no hook: a forgotten @hookimpl"


def test_a_third_party_backend_is_found(module: ModuleType) -> None:
    offer(module, backend("mystore"))
    assert list(Plugins([point("mystore", "third_party")]).backends()) == ["mystore"]


@pytest.mark.parametrize("value", ["no_such_module", "third_party:missing"])
def test_a_plugin_that_cannot_be_imported_is_a_warning_and_the_rest_go_on(
    module: ModuleType, caplog: pytest.LogCaptureFixture, value: str
) -> None:
    offer(module, backend("mystore"))
    found = Plugins([point("broken", value), point("mystore", "third_party")])
    assert list(found.backends()) == ["mystore"]
    assert list(found.broken) == [f"broken ({value})"]
    assert f"plugin broken ({value}) is left out" in caplog.text


def test_a_plugin_whose_hook_raises_is_left_out(module: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    @hookimpl
    def graphport_backends() -> Sequence[Backend]:
        raise RuntimeError("no luck")

    module.graphport_backends = graphport_backends  # type: ignore[attr-defined]  # a module made here
    assert Plugins([point("unlucky", "third_party")]).backends() == {}
    assert "RuntimeError: no luck" in caplog.text


@pytest.mark.parametrize("offered", ["kuzu", None, 3, replace(backend("x"), name=3)])  # type: ignore[arg-type]  # the mistake
def test_a_plugin_that_offers_no_backend_is_left_out(
    module: ModuleType, caplog: pytest.LogCaptureFixture, offered: Any
) -> None:
    offer(module, offered)
    found = Plugins([point("mystore", "third_party"), point("memory", "graphport_memory.plugin")])
    assert list(found.backends()) == ["memory"]
    assert "third_party is left out: TypeError: it offers" in caplog.text


def test_a_plugin_that_ends_the_process_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_script.py").write_text("raise SystemExit('usage: a_script FILE')")
    monkeypatch.syspath_prepend(tmp_path)
    found = Plugins([point("a_script", "a_script"), point("memory", "graphport_memory.plugin")])
    assert list(found.backends()) == ["memory"]
    assert found.broken == {"a_script (a_script)": "SystemExit: usage: a_script FILE"}


def test_a_driver_that_is_missed_only_while_opening_is_named_with_its_command() -> None:
    def open_without_driver(_: BackendOptions) -> GraphStorage:
        return importlib.import_module("no_such_driver").open()  # type: ignore[no-any-return]  # it never gets there

    with pytest.raises(BackendUnavailableError, match=r"no_such_driver.*pip install 'mystore-driver'"):
        open_storage(replace(backend("mystore"), open=open_without_driver))


def test_a_hook_with_an_argument_that_is_not_in_the_spec_is_left_out(
    module: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    @hookimpl
    def graphport_backends(wrong: int) -> Sequence[Backend]:
        return []

    module.graphport_backends = graphport_backends  # type: ignore[attr-defined]  # a module made here
    assert list(Plugins([point("wrong", "third_party")]).broken) == ["wrong (third_party)"]
    assert "left out" in caplog.text


def test_two_plugins_of_one_name_are_an_error_that_names_both(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(module, backend("mystore"))
    other = ModuleType("fourth_party")
    offer(other, backend("mystore"))
    monkeypatch.setitem(sys.modules, "fourth_party", other)
    found = Plugins([point("one", "third_party"), point("two", "fourth_party")])
    with pytest.raises(PluginConflictError, match="'mystore' is offered by third_party and by fourth_party"):
        found.backends()


def test_an_unknown_backend_names_those_there_are_and_the_likely_one() -> None:
    with pytest.raises(BackendNotFoundError, match=r"no backend 'kuzo'; installed: age, kuzu, .*did you mean 'kuzu'\?"):
        open_storage("kuzo")


def test_a_backend_without_its_driver_is_a_state_and_opening_it_says_what_to_install() -> None:
    missing = backend("mystore", reason="the module mystore_driver is not installed")
    with pytest.raises(BackendUnavailableError, match=r"mystore_driver is not installed; pip install 'mystore-driver'"):
        open_storage(missing)


def test_an_option_the_backend_does_not_take_is_an_error_before_it_is_opened() -> None:
    with pytest.raises(ConfigError, match=r"its options are .*path.*bad-backend-option"):
        open_storage("memory", paht="x")


def test_finding_backends_imports_no_driver() -> None:
    import subprocess

    code = (
        "import sys, graphport; graphport.available_backends();"
        "print(sorted({'kuzu','ladybug','psycopg','pyarrow','scipy','igraph','tantivy'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_the_backends_shipped_here_are_declared() -> None:
    assert set(available_backends()) >= {"memory", "kuzu", "age", "postgres"}
