"""Running users' queries in a process of their own, because the engines die of some, and others never end.

``RETURN nodes(null)``, ``cost(p)`` or a thousand brackets are a segmentation fault in both engines (ladybug
0.22.0, kuzu 0.11.3), nodes compared after an UNWIND in kuzu: no list of what to refuse is complete.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from graphport.errors import InvalidQueryError
from graphport_kuzu import query_worker
from graphport_kuzu.query_worker import Reply, Request


class QueryProcess:
    """A worker process, started with the first query and kept for the next; queries wait for each other."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, prepare: Callable[[], Request]) -> Reply:
        """The worker's reply to the request that ``prepare`` makes when it is this query's turn.

        `InvalidQueryError` if the engine died of it. What interrupts the waiting ends the worker, and the
        query with it.
        """
        with self._turn:
            request = prepare()
            process = self._process = self._process or _start()
            try:
                return _exchange(process, request)
            except BaseException:
                self._stop()
                raise

    def rest(self) -> None:
        """Ends the worker unless it is at work; the next query starts another."""
        if self._turn.acquire(blocking=False):
            try:
                self._stop()
            finally:
                self._turn.release()

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(BrokenPipeError), process:  # waits for it, and closes the pipes
                pass


def _start() -> subprocess.Popen[bytes]:
    # -P: nothing that lies in the current folder is taken for a module.
    command = [sys.executable, "-P", query_worker.__file__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - this package's own


def _exchange(process: subprocess.Popen[bytes], request: Request) -> Reply:
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        pickle.dump(request, process.stdin)
        process.stdin.flush()
        reply: Reply = pickle.load(process.stdout)  # noqa: S301 - from a process that this one started
    except (BrokenPipeError, EOFError, pickle.UnpicklingError) as error:
        code = process.wait()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise InvalidQueryError(
            f"the engine died of this query ({how}); the graph is unharmed, ask differently"
        ) from error
    return reply
