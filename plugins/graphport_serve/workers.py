"""Blocking work off the event loop: so many at once, so many waiting, and no longer than so long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from graphport_serve.errors import OverloadedError, RequestTimeoutError

T = TypeVar("T")


class Workers:
    """A bounded pool of threads.

    A call that comes while ``threads`` are busy and ``queue`` are waiting is refused at once
    (`OverloadedError`); one not done after ``seconds`` raises `RequestTimeoutError`. A thread cannot be
    stopped, so what it does goes on and keeps its place: slow calls can never pile up beyond the bound.
    """

    def __init__(self, threads: int, queue: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="graphport-serve")
        self._places = threads + queue
        self._seconds = seconds
        self._lock = threading.Lock()
        self._taken = 0

    @property
    def taken(self) -> int:
        """How many calls are worked on or waiting."""
        return self._taken

    async def run(self, call: Callable[[], T]) -> T:
        """What ``call`` returns or raises, from a thread of the pool."""
        future = asyncio.wrap_future(self._submit(call))
        try:
            done, _ = await asyncio.wait({future}, timeout=self._seconds)
            if not done:
                raise RequestTimeoutError(
                    f"no answer within {self._seconds:g} s; ask for less, or raise server.request_seconds"
                )
            return future.result()
        finally:
            future.cancel()  # gives up a call that has not begun

    def _submit(self, call: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self._taken >= self._places:
                raise OverloadedError(f"{self._taken} requests are being worked on or waiting; try again in a moment")
            self._taken += 1
        try:
            future = self._pool.submit(call)
        except BaseException:
            self._release(None)
            raise
        future.add_done_callback(self._release)
        return future

    def _release(self, _: Future[Any] | None) -> None:
        with self._lock:
            self._taken -= 1

    def close(self) -> None:
        """Let running calls end; those still waiting are dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)
