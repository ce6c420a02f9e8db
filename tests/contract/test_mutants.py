"""The contract can fail: each mutant is caught, by the test that names the promise it breaks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mutants import MUTANTS, Mutant

HERE = Path(__file__).parent
SUITE = HERE / "mutants" / "suite.py"
A_TEST_THEY_PASS = "test_a_node_comes_back_as_it_was"


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], bool]:
    """Whether each test failed, by mutant and test; all in one run of pytest."""
    report = tmp_path_factory.mktemp("mutants") / "report.xml"
    wanted = [f"{SUITE}::Test{Mutant.__name__}"]
    wanted += [
        f"{SUITE}::Test{mutant.__name__}::{test}" for mutant in MUTANTS for test in (mutant.caught_by, A_TEST_THEY_PASS)
    ]
    path = os.pathsep.join((str(HERE), str(HERE.parent / "storage")))
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *wanted],
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout[-4000:] + run.stderr[-4000:]
    cases = ElementTree.parse(report).iter("testcase")
    return {
        (case.attrib["classname"].rpartition(".Test")[2], case.attrib["name"]): case.find("failure") is not None
        for case in cases
        if case.find("error") is None
    }


def test_the_storage_they_are_made_from_keeps_every_promise(failed: dict[tuple[str, str], bool]) -> None:
    outcomes = {test: broken for (mutant, test), broken in failed.items() if mutant == Mutant.__name__}
    assert len(outcomes) > 100
    assert [test for test, broken in outcomes.items() if broken] == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_broken_promise_is_caught_by_its_test(mutant: type[Mutant], failed: dict[tuple[str, str], bool]) -> None:
    assert failed[mutant.__name__, mutant.caught_by], f"{mutant.__name__} passes {mutant.caught_by}"
    assert not failed[mutant.__name__, A_TEST_THEY_PASS], f"{mutant.__name__} is too broken to prove anything"
