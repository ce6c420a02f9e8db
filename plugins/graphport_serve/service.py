"""The one layer under REST and MCP: knowledge bases by name, opened when first asked for, and who sees which."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from graphport.config import Config
from graphport.errors import KnowledgeBaseNotFoundError, StorageClosedError
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.folders import knowledge_bases
from graphport.knowledge.opening import open_knowledge_base
from graphport.server_config import Scope
from graphport_serve.access import Access
from graphport_serve.workers import Workers

T = TypeVar("T")

log = logging.getLogger("graphport.serve")

CLOSE_SECONDS = 5.0


class Service:
    """Answers questions to knowledge bases, each on `Workers` of its own: one whose database hangs stops no other.

    A question is a function of a `KnowledgeBase`. A knowledge base is there if it is on disk or in the
    config; one that the caller may not see is answered exactly as one that is not there.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._finding = self._new_workers()
        self._workers: dict[str, Workers] = {}
        self._lock = threading.Lock()
        self._opening: dict[str, threading.Lock] = {}
        self._open: dict[str, KnowledgeBase] = {}
        self._closed = False

    async def ask(
        self, access: Access, name: str, question: Callable[[KnowledgeBase], T], *, scope: Scope = "read"
    ) -> T:
        """What ``question`` makes of the knowledge base ``name``.

        Raises `ForbiddenError` without the scope, `KnowledgeBaseNotFoundError` for a name that is not
        there or not the caller's, `OverloadedError`, `RequestTimeoutError`, and what the question raises.
        """
        access.require(scope)
        if name not in self._workers or not access.sees(name):  # how busy it is would tell that it is there
            await self._finding.run(lambda: self._require(access, name))
        workers = self._workers.get(name) or self._workers.setdefault(name, self._new_workers())
        return await workers.run(lambda: question(self._base(access, name)))

    async def names(self, access: Access) -> list[str]:
        """Names of the knowledge bases the caller may see, sorted."""
        access.require("read")
        return await self._finding.run(lambda: access.visible(self._names()))

    async def check(self) -> None:
        """Raises what keeps the server from answering: the folder, or a knowledge base in use, is out of reach."""
        await self._finding.run(self._names)
        with self._lock:
            opened = [(self._workers[name], base) for name, base in self._open.items()]
        await asyncio.gather(*(workers.run(partial(_read, base)) for workers, base in opened))

    def taken(self) -> int:
        """How many questions are worked on or waiting."""
        return sum(workers.taken for workers in (self._finding, *self._workers.values()))

    def _new_workers(self) -> Workers:
        server = self.config.server
        return Workers(server.threads, server.queue, server.request_seconds)

    def _names(self) -> set[str]:
        return {*knowledge_bases(self.config), *(base.name for base in self.config.vector_dbs)}

    def _require(self, access: Access, name: str) -> None:
        if not access.sees(name) or (name not in self._open and name not in self._names()):
            raise KnowledgeBaseNotFoundError(
                f"no knowledge base {name!r:.120}; list the knowledge bases to see those there are"
            )

    def _base(self, access: Access, name: str) -> KnowledgeBase:
        self._require(access, name)
        with self._lock:
            if self._closed:
                raise StorageClosedError("the server is shutting down; try again when it is back")
            opening = self._opening.setdefault(name, threading.Lock())
        with opening:  # the second request for a name waits for the first one's opening, others do not
            if name in self._open and not self._open[name].is_there:
                self._open.pop(name).close()  # somebody deleted it, and perhaps made a new one
                self._require(access, name)
            if name not in self._open:
                self._open[name] = open_knowledge_base(name, config=self.config)
            return self._open[name]

    def close(self) -> None:
        """Let running questions end, then close every knowledge base.

        One with a question that has not ended after `CLOSE_SECONDS` is left as it is: its database hangs, and so
        would closing it. Nothing is lost by that, as nothing is when a process is killed.
        """
        with self._lock:
            self._closed = True
        until = time.monotonic() + CLOSE_SECONDS
        self._finding.close(CLOSE_SECONDS)
        for name, workers in self._workers.items():
            ended = workers.close(max(0.0, until - time.monotonic()))
            if not ended:
                log.error("knowledge base %r is not closed: a question did not end in %g s", name, CLOSE_SECONDS)
            elif name in self._open:
                self._open[name].close()
        self._open.clear()


def _read(base: KnowledgeBase) -> None:
    """A read of the truth, and of the graph."""
    base.get([])
    if base.config.strategy.graph:
        base.storage.revision()
