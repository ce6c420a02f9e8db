"""A process that is killed at any instant leaves whole committed batches, and all that it said were committed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

KILLS = 20


def test_kill_9_while_committing_and_compacting(tmp_path: Path) -> None:
    script = Path(__file__).with_name("kill_while_writing.py")
    run = subprocess.run(
        [sys.executable, script, tmp_path, str(KILLS)], capture_output=True, text=True, timeout=300, check=True
    )
    kills = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(kills) == KILLS
    assert all(kill["killed"] for kill in kills)
    assert [kill for kill in kills if not kill["whole"]] == []
    before = 0
    for kill in kills:
        acknowledged = kill["said"] or before
        assert acknowledged <= kill["committed"] <= acknowledged + 1
        before = kill["committed"]
    assert before > KILLS, "hardly anything was written"
    assert len({kill["base"] for kill in kills}) > KILLS // 3, "hardly any new base was made"
