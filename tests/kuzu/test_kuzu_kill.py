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


def _killed_after(seconds: float, options: dict[str, Any], seed: int) -> tuple[int, int, int]:
    """What a victim found, what it last said it committed, and how many half-built generations it found."""
    given = json.dumps({**options, "path": str(options["path"])})
    with subprocess.Popen(
        [sys.executable, str(VICTIM), given, str(seed)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as victim:
        assert victim.stdout is not None
        checked = re.fullmatch(r"checked (\d+) half-built=(\d+)\n", victim.stdout.readline())
        if checked is None:
            _, failed = victim.communicate(timeout=60)
            pytest.fail(failed)
        time.sleep(seconds)
        victim.kill()
        said = victim.communicate()[0].split()
    return int(checked[1]), int(said[-1]) if said else int(checked[1]), int(checked[2])


@pytest.mark.parametrize("kills", [5, pytest.param(30, marks=pytest.mark.slow)])
def test_a_killed_writer_leaves_whole_commits_and_loses_none(options: dict[str, Any], kills: int) -> None:
    chance = random.Random(kills)
    half_built = committed = 0
    for _ in range(kills):
        found, last, left_over = _killed_after(chance.uniform(0, 0.6), options, seed=kills)
        # each victim compares all it finds with the history; one commit may have been sealed and not yet told
        assert committed <= found <= committed + 1
        committed, half_built = last, half_built + left_over
    assert committed > kills
    if kills >= 30:
        assert half_built > 0, "no kill hit a bulk load or a compaction; the test proves less than it says"
