"""A database for each test, on servers that a session starts once.

On a laptop a server that cannot be had is a loud skip, with ``CI`` set it is an error.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest
from postgres_engine import Engine
from postgres_servers import TEMPLATE, NoServer, Server, connect, shared, start_newest, start_old
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphport_postgres.plugin import AGE, POSTGRES

ENGINES = {"age-newest": ("newest", AGE), "age-old": ("old", AGE), "tables": ("newest", POSTGRES)}
_numbers = count(1)


def _server_folder(name: str) -> Path:
    """Below the temporary folder and not pytest's, which the server's system user may not enter."""
    return Path(tempfile.gettempdir()) / f"graphport-postgres-{os.getpid()}-{name}"


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Gives the dsn of the superuser of the server called ``newest`` or ``old``."""
    starts: dict[str, Callable[[Path], Server]] = {"newest": start_newest, "old": start_old}
    running: dict[str, str] = {}
    base = tmp_path_factory.getbasetemp()
    session = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # what the workers have in common
    with ExitStack() as stack:

        def dsn_of(name: str) -> str:
            if name not in running:
                try:
                    server = shared(session / f"postgres-{name}", _server_folder(name), starts[name])
                    running[name] = stack.enter_context(server)
                except NoServer as error:
                    if "CI" in os.environ:
                        raise
                    pytest.skip(f"NO POSTGRESQL SERVER: {error}")
                _make_template(running[name])
            return running[name]

        yield dsn_of


def _make_template(dsn: str) -> None:
    # A collation that is not by code point, so that a missing COLLATE "C" shows.
    with connect(dsn) as admin:
        admin.execute("SELECT pg_advisory_lock(1)")
        if admin.execute("SELECT 1 FROM pg_database WHERE datname = %s", (TEMPLATE,)).fetchone() is None:
            admin.execute(
                f"CREATE DATABASE {TEMPLATE} TEMPLATE template0 ENCODING 'UTF8'"
                " LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'"
            )
            with connect(make_conninfo(dsn, dbname=TEMPLATE)) as fresh:
                fresh.execute("CREATE EXTENSION IF NOT EXISTS age")


@pytest.fixture
def new_database(servers: Callable[[str], str]) -> Iterator[Callable[[str], str]]:
    """Makes an empty database with AGE on the named server; gives its superuser's dsn."""
    with ExitStack() as stack:

        def database(server: str) -> str:
            dsn = servers(server)
            name = f"gp_test_{os.getpid()}_{next(_numbers)}"
            admin = stack.enter_context(connect(dsn))
            admin.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                    sql.Identifier(name), sql.Identifier(TEMPLATE)
                )
            )
            stack.callback(admin.execute, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            return make_conninfo(dsn, dbname=name)

        yield database


def _engine(new_database: Callable[[str], str], name: str) -> Iterator[Engine]:
    server, backend = ENGINES[name]
    dsn = new_database(server)
    with ExitStack() as stack:
        yield Engine(backend, dsn, stack)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Iterator[Engine]:
    """Each backend on each server."""
    yield from _engine(new_database, request.param)


@pytest.fixture(params=["age-newest", "age-old"])
def age(request: pytest.FixtureRequest, new_database: Callable[[str], str]) -> Iterator[Engine]:
    """AGE, both versions."""
    yield from _engine(new_database, request.param)


@pytest.fixture
def tables(new_database: Callable[[str], str]) -> Iterator[Engine]:
    """Plain tables: for what is the same whatever the layout."""
    yield from _engine(new_database, "tables")
