"""What a subclass of the contract may and may not do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from graphport.testing import GraphStorageContract

HEADER = """
from contextlib import nullcontext
from dataclasses import replace
import pytest
from graphport_memory.plugin import MEMORY
from graphport.testing import GraphStorageContract, RoundTrips, Rows

class TestStore(GraphStorageContract):
    backend = replace(MEMORY, capabilities=frozenset())
    capabilities = frozenset()
"""


def run(folder: Path, body: str, *selected: str) -> str:
    """What pytest prints about those tests of a store whose test class has this body."""
    file = _store(folder, body)
    tests = [f"{file}::TestStore::{test}" for test in selected]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *tests],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def _store(folder: Path, body: str) -> Path:
    file = folder / "test_store.py"
    file.write_text(HEADER + indent(body, "    "))
    return file


def test_a_contract_test_cannot_be_overridden() -> None:
    with pytest.raises(TypeError, match="test_an_edge_to_itself overrides a test of RowPromises"):

        class Cheat(GraphStorageContract):
            def test_an_edge_to_itself(self) -> None: ...  # type: ignore[override]  # that is the cheat


def test_a_contract_test_cannot_be_overridden_by_a_mixin_or_switched_off() -> None:
    class Mixin:
        def test_an_edge_to_itself(self) -> None: ...

    with pytest.raises(TypeError, match="overrides a test"):
        type("Cheat", (Mixin, GraphStorageContract), {})
    with pytest.raises(TypeError, match="overrides a test"):
        type("Cheat", (GraphStorageContract,), {"test_an_edge_to_itself": None})


def test_a_gap_must_name_a_contract_test() -> None:
    with pytest.raises(TypeError, match="test_no_such_thing"):
        type("Typo", (GraphStorageContract,), {"known_gaps": {"test_no_such_thing": "a typo"}})


def test_tests_of_its_own_are_welcome() -> None:
    own = type("Own", (GraphStorageContract,), {"test_something_else": lambda self: None})
    assert hasattr(own, "test_something_else")


def test_a_known_gap_is_an_expected_failure_with_its_reason(tmp_path: Path) -> None:
    body = """
backend = MEMORY
known_gaps = {"test_the_declared_capabilities_are_those_of_the_test": "not ours, #12"}
"""
    said = run(tmp_path, body, "test_the_declared_capabilities_are_those_of_the_test", "test_a_handle_knows_its_graph")
    assert "1 passed, 1 xfailed" in said
    assert "not ours, #12" in said


def test_a_known_gap_that_is_closed_turns_red(tmp_path: Path) -> None:
    said = run(tmp_path, 'known_gaps = {"test_an_edge_to_itself": "fixed long ago"}', "test_an_edge_to_itself")
    assert "1 failed" in said
    assert "XPASS(strict)" in said


def test_one_case_of_a_test_can_be_a_gap(tmp_path: Path) -> None:
    case = "test_a_write_reaches_its_own_graph_only[clear]"
    said = run(tmp_path, f'known_gaps = {{"{case}": "fixed long ago"}}', "test_a_write_reaches_its_own_graph_only")
    assert "1 failed, 6 passed" in said


def test_a_forgotten_fixture_says_what_it_must_be(tmp_path: Path) -> None:
    said = run(tmp_path, "pass", "test_the_engine_holds_what_was_written")
    assert "give the contract a fixture 'peek'" in said


def test_a_capability_that_is_declared_but_not_tested_is_noticed(tmp_path: Path) -> None:
    said = run(tmp_path, "backend = MEMORY", "test_the_declared_capabilities_are_those_of_the_test")
    assert "1 failed" in said


def test_a_failure_shows_the_values(tmp_path: Path) -> None:
    said = run(tmp_path, "backend = MEMORY", "test_the_declared_capabilities_are_those_of_the_test")
    assert "assert frozenset() ==" in said


def test_simple_promises_come_first_and_the_long_random_test_last(tmp_path: Path) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", _store(tmp_path, "pass")],
        capture_output=True,
        text=True,
    )
    ran = [line for line in listed.stdout.split("\n") if "::TestStore::" in line]
    assert ran[0].endswith("test_a_node_comes_back_as_it_was")
    assert ran[-1].endswith("test_any_sequence_of_calls_agrees_with_networkx")
