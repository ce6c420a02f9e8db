"""Python in a process of its own, with the test's store at hand as ``OPTIONS`` and ``open_graph``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

DRIVER = os.environ.get("GRAPHPORT_KUZU_DRIVER", "ladybug")
"""The driver that the tests of this process are about."""

_PRELUDE = """
import os, sys, time
from pathlib import Path
from graphport import Edge, EdgeKey, GraphSnapshot, Node, open_storage
from graphport.errors import *
OPTIONS = {options!r}
def open_graph(**more):
    return open_storage("kuzu", **{{**OPTIONS, **more}})
def say(*what):
    print(*what, flush=True)
"""


class Child:
    """A running one: it says lines, and may be told some. It is killed at the end of the with block."""

    def __init__(self, options: Mapping[str, Any], code: str) -> None:
        prelude = _PRELUDE.format(options={**options, "path": str(options["path"])})
        self._process = subprocess.Popen(
            [sys.executable, "-c", prelude + code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent,
        )
        self.pid = self._process.pid

    def hear(self) -> str:
        """The next line it says; "" when it ended."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def tell(self, line: str = "") -> str:
        """What it says next, after it was told that line."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.hear()

    def kill(self) -> str:
        """All it said that nobody heard, after ``kill -9``."""
        self._process.kill()
        return self._process.communicate()[0].strip()

    def end(self, timeout: float = 120) -> str:
        """The rest it says; it must end well, by itself."""
        said, failed = self._process.communicate(timeout=timeout)
        assert self._process.returncode == 0, failed
        return said.strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()


def run(options: Mapping[str, Any], code: str) -> str:
    """What it says; it must end well."""
    with Child(options, code) as child:
        return child.end()
