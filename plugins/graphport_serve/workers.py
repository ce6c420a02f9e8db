"""Blocking work off the event loop: so many at once, so many waiting, and no longer than so long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from graphport_serve.errors import OverloadedError, RequestTimeoutError

T = TypeVar("T")

THREAD_NAME = "graphport-serve"


class Workers:
    """A bounded pool of threads.

    A call that comes while ``threads`` are busy and ``queue`` are waiting is refused at once
    (`OverloadedError`); one not done after ``seconds`` raises `RequestTimeoutError`. A thread cannot be
    stopped, so what it does goes on and keeps its place: slow calls can never pile up beyond the bound.
    """

    def __init__(self, threads: int, queue: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=THREAD_NAME)
        self._places = threads + queue
        self._seconds = seconds
        self._changed = threading.Condition()
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
        with self._changed:
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
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    def close(self, seconds: float) -> bool:
        """Let running calls end, and drop those still waiting; whether all have ended within that time."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._changed:
            return self._changed.wait_for(lambda: not self._taken, seconds)


def any_at_work() -> bool:
    """Whether, with all `Workers` closed, some call goes on: Python would wait for its end before it exits."""
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(THREAD_NAME)]
    for thread in threads:
        thread.join(1)
    return any(thread.is_alive() for thread in threads)
