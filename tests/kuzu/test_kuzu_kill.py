"""``kill -9`` at random instants: what was committed is there whole, and of the rest there is nothing."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

VICTIM = Path(__file__).with_name("kuzu_victim.py")


def _killed_after(seconds: float, options: dict[str, Any], seed: int, *, opening: bool) -> tuple[int, int, int] | None:
    """What a victim found, what it last said it committed, and how many half-built generations it found.

    ``opening``: the time runs from its start, so that it may be killed while it opens the graph and repairs
    what the one before it left; then there may be nothing to tell.
    """
    given = json.dumps({**options, "path": str(options["path"])})
    with subprocess.Popen(
        [sys.executable, str(VICTIM), given, str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as victim:
        assert victim.stdout is not None
        first = "" if opening else victim.stdout.readline()
        time.sleep(seconds)
        died = victim.poll() is not None
        victim.kill()
        said, failed = victim.communicate()
    if died:
        pytest.fail(failed)
    lines = (first + said).splitlines()
    checked = re.fullmatch(r"checked (\d+) half-built=(\d+)", lines[0]) if lines else None
    if checked is None:
        return None
    return int(checked[1]), int(lines[-1]) if len(lines) > 1 else int(checked[1]), int(checked[2])


@pytest.mark.parametrize("kills", [5, pytest.param(30, marks=pytest.mark.slow)])
def test_a_killed_writer_leaves_whole_commits_and_loses_none(options: dict[str, Any], kills: int) -> None:
    chance = random.Random(kills)
    half_built = committed = 0
    for number in range(kills):
        # each victim compares all it finds with the history; one commit may have been sealed and not yet told
        told = _killed_after(chance.uniform(0, 0.7), options, seed=kills, opening=number % 5 == 4)
        if told is not None:
            found, last, left_over = told
            assert committed <= found <= committed + 1
            committed, half_built = last, half_built + left_over
    assert committed > kills
    if kills >= 30:
        assert half_built > 0, "no kill hit a bulk load or a compaction; the test proves less than it says"
