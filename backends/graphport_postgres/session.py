"""Statements on one graph: in one round trip, in the calling thread's transaction, or streamed."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import psycopg
from psycopg import errors as pg
from psycopg.pq import TransactionStatus

from graphport.errors import StorageClosedError, TransactionError
from graphport_postgres.catalog import Catalog
from graphport_postgres.connections import Lease, Link, shared_connections
from graphport_postgres.failures import typed
from graphport_postgres.feed import Touched, Touches
from graphport_postgres.layout import Layout
from graphport_postgres.options import PostgresOptions
from graphport_postgres.statements import Statements
from graphport_postgres.wire import Row, Rows, Statement, fetched, run

TRIES = 6
FIRST_PAUSE = 0.02
"""Seconds; doubled after each try, and varied by half so that two losers do not meet again."""

T = TypeVar("T")

_CONFLICTS = (pg.DeadlockDetected, pg.SerializationFailure)
_GONE = (pg.UndefinedTable, pg.InvalidSchemaName)

_BEGIN = Statement(b"BEGIN", {})
_BEGIN_STILL = Statement(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {})
_COMMIT = Statement(b"COMMIT", {})


class GraphAbsentError(Exception):
    """The graph was dropped, or never made: it has no rows."""


@dataclass
class _Transaction:
    lease: Lease
    changed: bool = False
    touches: Touches = field(default_factory=Touches)
    cursors: Iterator[int] = field(default_factory=lambda: iter(range(1, 2**31)))

    @property
    def connection(self) -> Link:
        return self.lease.connection


class View(NamedTuple):
    """A connection that sees one state; what it was asked first; what may be sent along with the last statement."""

    connection: Link
    rows: list[Rows]
    ending: tuple[Statement, ...]


class Session:
    """What a handle does its work through; safe with threads."""

    def __init__(self, layout: Layout, options: PostgresOptions, catalog: Catalog, statements: Statements) -> None:
        self._what = f"graph {options.graph!r:.80} in PostgreSQL"
        self._connections, self._give_up = shared_connections(layout, options)
        self._closed = False
        self._catalog = catalog
        self._statements = statements
        self._transactions: dict[int, _Transaction] = {}

    # -- one round trip ------------------------------------------------------------------------------

    def read(self, *statements: Statement) -> list[Rows]:
        """The rows of each statement; none of a graph that is absent."""
        own = self._own()
        with typed(self._what):
            if own is not None:
                return run(own.connection, *statements)
            try:
                return self._unless_absent(lambda: self._alone(*statements))
            except GraphAbsentError:
                return [[] for _ in statements]

    def write(self, touched: Touched | None, *statements: Statement) -> list[Rows]:
        """The rows of each statement, all of them done or none; by itself, or in the thread's transaction.

        ``touched`` (None: everything) goes into the change feed, by itself at once. By itself, a conflict with
        other transactions is tried again, and an absent graph is made.
        """
        with typed(self._what):
            own = self._own()
            if own is not None:
                return run(own.connection, *(_in(statement, alone=False, touched=None) for statement in statements))
            lock = Statement(self._statements.lock, {})
            text = Touches([touched]).text()
            work = [_in(statement, alone=True, touched=text) for statement in statements]
            return self._tried_again(lambda: self._alone(_BEGIN, lock, *work, _COMMIT)[2:-1])

    def changed(self, touched: Touched | None) -> None:
        """Says that what the thread's transaction wrote is a change; by itself a statement knows."""
        own = self._own()
        if own is not None:
            own.changed = True
            own.touches.add(touched)

    def require_usable(self) -> None:
        """Raises when the handle was closed, or came here by a fork."""
        if self._closed:
            raise StorageClosedError(f"{self._what} was closed; open it again")
        self._connections.require_same_process()

    def close(self) -> None:
        if self._closed:
            return
        self.refuse_transaction("close")
        self._closed = True
        self._give_up()

    def call(self, work: Callable[[Link], T]) -> T:
        """What ``work`` returns, on the thread's connection if it is in a transaction."""
        with typed(self._what):
            own = self._own()
            if own is not None:
                return work(own.connection)
            with self._connections.borrow() as connection:
                return work(connection)

    def _alone(self, *statements: Statement) -> list[Rows]:
        with self._connections.borrow() as connection:
            return run(connection, *statements)

    def _unless_absent(self, work: Callable[[], T]) -> T:
        """``work``'s answer; `GraphAbsentError` where it failed for lack of tables and there is no such graph."""
        try:
            return work()
        except _GONE:
            with self._connections.borrow() as connection:
                if not self._catalog.is_present(connection):
                    raise GraphAbsentError from None
            return work()

    def _tried_again(self, work: Callable[[], T]) -> T:
        pause = FIRST_PAUSE
        for _ in range(TRIES - 1):
            try:
                return work()
            except _GONE:
                self.make_graph()
            except _CONFLICTS:
                time.sleep(pause * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
                pause *= 2
        return work()

    def make_graph(self) -> None:
        """The graph's tables and its entry in the catalog, if they are not there."""
        with typed(self._what), self._connections.borrow() as connection:
            self._catalog.register(connection)

    # -- transactions --------------------------------------------------------------------------------

    def _own(self) -> _Transaction | None:
        self.require_usable()
        return self._transactions.get(threading.get_ident())

    def refuse_transaction(self, what: str) -> None:
        if self._own() is not None:
            raise TransactionError(f"{what} inside a transaction; end the open transaction of this thread first")

    @contextmanager
    def transaction(self) -> Generator[Link]:
        """The graph's write lock and one transaction, from here to the end of the block."""
        self.refuse_transaction("transaction")
        own = self._begun()
        thread = threading.get_ident()
        self._transactions[thread] = own
        try:
            yield own.connection
            self._commit(own)
        finally:
            del self._transactions[thread]
            self._connections.give_back(own.lease)

    @contextmanager
    def all_or_none(self) -> Generator[None]:
        """What several writes in the block did is undone together when it raises."""
        own = self._own()
        if own is None:
            with self.transaction():
                yield
            return
        changed, writes = own.changed, len(own.touches.writes)
        with typed(self._what):
            own.connection.execute(b"SAVEPOINT gp_batch")
        try:
            yield
        except BaseException:
            with suppress(psycopg.Error):  # the connection is gone, and with it the transaction
                own.connection.execute(b"ROLLBACK TO SAVEPOINT gp_batch")
            own.changed = changed
            del own.touches.writes[writes:]
            raise
        with typed(self._what):
            own.connection.execute(b"RELEASE SAVEPOINT gp_batch")

    def _begun(self) -> _Transaction:
        with typed(self._what):
            for _ in range(TRIES):
                lease = self._connections.take()
                try:
                    present = run(lease.connection, _BEGIN, Statement(self._statements.lock, {}))[1]
                except BaseException:
                    self._connections.give_back(lease)
                    raise
                if present == [(True,)]:
                    return _Transaction(lease)
                self._connections.give_back(lease)
                self.make_graph()
        raise TransactionError(f"{self._what} is dropped again and again while a transaction begins; try again")

    def _commit(self, own: _Transaction) -> None:
        if own.connection.info.transaction_status is TransactionStatus.INERROR:
            raise TransactionError(f"{self._what}: a statement of this transaction failed, so all of it was undone")
        with typed(self._what):
            bump = [Statement(self._statements.bump, {"touched": own.touches.text()})] if own.changed else []
            run(own.connection, *bump, _COMMIT)

    # -- several statements, one view ----------------------------------------------------------------

    @contextmanager
    def still(self, *first: Statement) -> Generator[View]:
        """A connection that sees one state of the graph throughout the block, and the rows of the first statements.

        Raises `GraphAbsentError`. Driver errors are typed here, also those from the block.
        """
        own = self._own()
        with typed(self._what):
            if own is not None:
                yield View(own.connection, run(own.connection, *first) if first else [], ())
                return
            lease, rows = self._unless_absent(lambda: self._stilled(*first))
            try:
                yield View(lease.connection, rows, (_COMMIT,))
            finally:
                self._connections.give_back(lease)

    def _stilled(self, *first: Statement) -> tuple[Lease, list[Rows]]:
        lease = self._connections.take()
        try:
            rows = run(lease.connection, _BEGIN_STILL, Statement(self._statements.hold, {}), *first)[2:]
        except BaseException:
            self._connections.give_back(lease)
            raise
        return lease, rows

    @contextmanager
    def undone(self) -> Generator[Link]:
        """As `still`, but writing is refused, and what the block did to the database is undone at its end."""
        own = self._own()
        if own is None:
            with self.still() as view:
                yield view.connection
            return
        with typed(self._what):
            run(
                own.connection,
                Statement(b"SAVEPOINT gp_undone", {}),
                Statement(b"SET LOCAL transaction_read_only = on", {}),
            )
            try:
                yield own.connection
            finally:
                own.connection.execute(b"ROLLBACK TO SAVEPOINT gp_undone")

    def sees_own_changes(self) -> bool:
        own = self._own()
        return own is not None and own.changed

    def stream(self, statement: Statement, decode: Callable[[Row], T]) -> Generator[T]:
        """Decoded rows one by one, as they were at the first; some thousand at a time are in memory."""
        own = self._own()
        return self._streamed_alone(statement, decode) if own is None else self._streamed_in(own, statement, decode)

    def _streamed_alone(self, statement: Statement, decode: Callable[[Row], T]) -> Generator[T]:
        try:
            with self.still() as view:
                yield from map(decode, fetched(view.connection, "gp", statement))
        except GraphAbsentError:
            return

    def _streamed_in(self, own: _Transaction, statement: Statement, decode: Callable[[Row], T]) -> Generator[T]:
        name = f"gp_{next(own.cursors)}"
        try:
            rows = fetched(own.connection, name, statement)
            while True:
                if self._own() is not own:
                    raise TransactionError("the transaction in which this iteration began has ended; iterate inside it")
                with typed(self._what):
                    row = next(rows, None)
                if row is None:
                    return
                yield decode(row)
        finally:
            # Not while psycopg is at work on the connection: the garbage collector may bring us here from within.
            if self._transactions.get(threading.get_ident()) is own and not own.connection.lock.locked():
                with suppress(psycopg.Error):  # the transaction failed already, and its cursors are gone
                    own.connection.execute(f"CLOSE {name}".encode())


def _in(statement: Statement, *, alone: bool, touched: str | None) -> Statement:
    return Statement(statement.sql, {**statement.params, "alone": alone, "touched": touched})
