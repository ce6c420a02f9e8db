"""Connections to one database: pooled, each prepared the same way, replaced whole after one was lost."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from graphport.errors import ConfigError, StorageUnavailableError
from graphport_postgres.layout import Layout
from graphport_postgres.options import PostgresOptions

Link = Connection[TupleRow]


class Lease(NamedTuple):
    """A connection and the pool it came from."""

    pool: ConnectionPool[Link]
    connection: Link


def connection_string(options: PostgresOptions) -> str:
    """The dsn completed by our defaults, which the user's own words in it overrule.

    Raises `ConfigError`, without a cause: libpq's message quotes what it could not parse, a password perhaps.
    """
    try:
        given = conninfo_to_dict(options.dsn.get_secret_value())
    except psycopg.Error:
        raise ConfigError(
            "the dsn cannot be parsed; expected postgresql://user@host/database or 'host=... dbname=...'",
            problem="bad-dsn",
            key="dsn",
        ) from None
    defaults: dict[str, Any] = {"application_name": "graphport", "connect_timeout": round(options.connect_timeout)}
    return make_conninfo("", **{**defaults, **given, "client_encoding": "UTF8"})


class Connections:
    """A pool of connections in autocommit mode, for all handles of a process that open the same database alike.

    When one is lost (the server went away, somebody cut it), all the others are taken for lost too: the
    next call makes a new pool, so that one call fails and not one for each idle connection.
    """

    def __init__(self, conninfo: str, layout: Layout, options: PostgresOptions) -> None:
        self._conninfo = conninfo
        self._layout = layout
        self._options = options
        self._settings = _settings(layout, options)
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Link] | None = None
        self._process = os.getpid()
        self.users = 0

    def take(self) -> Lease:
        """A connection until `give_back`."""
        pool = self._ready_pool()
        try:
            return Lease(pool, pool.getconn())
        except PoolTimeout:
            self._probe()  # all taken, or none to be had: then this says why
            raise

    def give_back(self, lease: Lease) -> None:
        """Returns a connection; what was left open on it is rolled back."""
        pool, connection = lease
        if not connection.closed and connection.info.transaction_status is not TransactionStatus.IDLE:
            with suppress(psycopg.Error):  # a connection that cannot even roll back is closed by its pool
                connection.rollback()
        lost = connection.closed
        pool.putconn(connection)
        if lost:
            with self._lock:
                if self._pool is pool:
                    self._pool = None
            pool.close()

    @contextmanager
    def borrow(self) -> Generator[Link]:
        """A connection for the length of the block."""
        lease = self.take()
        try:
            yield lease.connection
        finally:
            self.give_back(lease)

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def require_same_process(self) -> None:
        """Raises in a forked child, which must not talk on its parent's connections."""
        if os.getpid() != self._process:
            raise StorageUnavailableError("the graph was opened before a fork; open it again in this process")

    def _ready_pool(self) -> ConnectionPool[Link]:
        with self._lock:
            if self._pool is None:
                self._probe()
                self._pool = self._new_pool()
            return self._pool

    def _probe(self) -> None:
        """Raises what keeps us from working on this server; a pool would go on trying in the background."""
        with Connection.connect(self._conninfo, autocommit=True) as connection:
            require_server(connection)
            if self._layout.require_server is not None:
                self._layout.require_server(connection, self._options.read_only)
            self._prepare(connection)

    def _new_pool(self) -> ConnectionPool[Link]:
        return ConnectionPool(
            self._conninfo,
            kwargs={"autocommit": True},
            configure=self._prepare,
            min_size=self._options.pool_min,
            max_size=self._options.pool_max,
            timeout=self._options.busy_timeout,
            name="graphport",
            open=True,
        )

    def _prepare(self, connection: Link) -> None:
        for statement in self._layout.warm_up:
            connection.execute(statement.encode())
        names = [part for setting in self._settings.items() for part in setting]
        calls = ", ".join(["set_config(%s, %s, false)"] * len(self._settings))
        connection.execute(f"SELECT {calls}".encode(), names)


OLDEST_SERVER = 140_000


def require_server(connection: Link) -> None:
    """Raises `StorageUnavailableError` for a server too old, or a database that cannot hold every text."""
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise StorageUnavailableError(f"the server is PostgreSQL {version // 10_000}; it must be 14 or newer")
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StorageUnavailableError(f"the database is encoded in {encoding}; graphs need one in UTF8")


def _settings(layout: Layout, options: PostgresOptions) -> dict[str, str]:
    return {
        **layout.settings,
        "lock_timeout": f"{options.busy_timeout * 1000:.0f}",
        "statement_timeout": f"{options.statement_timeout * 1000:.0f}",
        "default_transaction_read_only": "on" if options.read_only else "off",
        "client_min_messages": "warning",
        "extra_float_digits": "1",  # the shortest text that gives the same float again
        "jit": "off",  # 100 ms to compile what takes 1 ms to run
    }


_Key = tuple[int, str, str, PostgresOptions]
_shared: dict[_Key, Connections] = {}
_sharing = threading.Lock()


def _key(layout: Layout, options: PostgresOptions) -> _Key:
    alike = options.model_copy(update={"graph": ""})
    return os.getpid(), connection_string(options), layout.backend, alike


def shared_connections(layout: Layout, options: PostgresOptions) -> tuple[Connections, Callable[[], None]]:
    """The connections of all handles with these options, whatever their graph, and what gives them up again."""
    key = _key(layout, options)
    with _sharing:
        connections = _shared.get(key)
        if connections is None:
            connections = _shared[key] = Connections(key[1], layout, options)
        connections.users += 1

    def give_up() -> None:
        with _sharing:
            connections.users -= 1
            if connections.users:
                return
            if _shared.get(key) is connections:
                del _shared[key]
        connections.close()

    return connections, give_up
