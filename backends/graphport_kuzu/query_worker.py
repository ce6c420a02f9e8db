"""The process that runs users' queries, started by `query_process`.

It takes requests from its standard input and answers each on its standard output, both pickled, until its
input ends. It imports a driver and nothing else of this project, so that it is there in a moment.
"""

from __future__ import annotations

import importlib
import importlib.util  # pyright: ignore[reportUnusedImport]  # kuzu's C++ part needs it imported
import os
import pickle
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Request(TypedDict):
    """``state`` changes whenever what lies at ``file`` does; without a file, the tables of ``ddl`` are empty."""

    driver: str
    file: str | None
    state: object
    options: Mapping[str, Any]
    ddl: Sequence[str]
    query: str
    values: Mapping[str, Any]


Step = Literal["opening", "query"]
Reply = tuple[Literal["answer"], list[str], list[list[Any]]] | tuple[Literal["failure"], Step, str]
"""Names of the columns and the rows; or what failed, and the driver's message."""


class Worker:
    """The database of the last request, kept for the next one."""

    def __init__(self) -> None:
        self._database: Any = None
        self._opened: object = None

    def reply(self, request: Request) -> Reply:
        step: Step = "opening"
        try:
            driver = importlib.import_module(request["driver"])
            self._open(driver, request)
            step = "query"
            return ("answer", *_run(driver.Connection(self._database), request))
        except Exception as error:  # noqa: BLE001 - whatever it is goes to the other process, which raises it
            return "failure", step, str(error) or type(error).__name__

    def _open(self, driver: Any, request: Request) -> None:
        wanted = (request["file"], request["state"])
        if self._database is not None and self._opened == wanted:
            return
        if self._database is not None:
            self._database.close()
            self._database = None
        file = request["file"]
        self._database = driver.Database(file or ":memory:", **{**request["options"], "read_only": file is not None})
        if file is None:
            connection = driver.Connection(self._database)
            for statement in request["ddl"]:
                connection.execute(statement).close()
            connection.close()
        self._opened = wanted


def _run(connection: Any, request: Request) -> tuple[list[str], list[list[Any]]]:
    try:
        connection.execute("BEGIN TRANSACTION READ ONLY").close()
        result = connection.execute(request["query"], dict(request["values"]))
        return result.get_column_names(), result.get_all()
    finally:
        connection.close()


def _end_with(parent: int) -> None:
    """A query may never end, and then its process would not notice that nobody waits for it any more."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    worker = Worker()
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the engine prints is no reply
    while True:
        try:
            request: Request = pickle.load(requests)  # noqa: S301 - from the process that started this one
        except EOFError:
            return
        pickle.dump(worker.reply(request), replies)
        replies.flush()


if __name__ == "__main__":
    main()
