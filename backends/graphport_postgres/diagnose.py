"""What ``graphport doctor`` asks a database: whether graphs can live there, and what to do if not."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection
from pydantic import SecretStr

from graphport.errors import GraphportError
from graphport.storage import Check
from graphport_postgres.age import dba_statements, may_use_age
from graphport_postgres.catalog import FORMAT, format_version
from graphport_postgres.connections import OLDEST_SERVER, Link, connection_string
from graphport_postgres.failures import storage_error
from graphport_postgres.options import PostgresOptions
from graphport_postgres.tables import grants


def diagnose(dsn: str | SecretStr, *, backend: str = "age") -> list[Check]:
    """The state of the database for ``backend`` (``age`` or ``postgres``); writes nothing.

    A server that cannot be reached is a failed check, not an exception.
    """
    try:
        options = PostgresOptions(dsn=dsn if isinstance(dsn, SecretStr) else SecretStr(dsn))
        connection = Connection.connect(connection_string(options), autocommit=True)
    except psycopg.Error as error:
        return [Check("server", False, str(storage_error(error, "PostgreSQL")))]
    except (GraphportError, ValueError) as error:  # ValueError: pydantic's, which hides its input
        return [Check("dsn", False, str(error))]
    with connection:
        checks = [_server(connection), _encoding(connection)]
        if backend == "age":
            checks += [_extension(connection), _preload(connection)]
        return [*checks, _rights(connection, backend), _format(connection)]


def _value(connection: Link, query: str, *values: Any) -> Any:
    row = connection.execute(query.encode(), values).fetchone()
    return None if row is None else row[0]


def _whose(connection: Link) -> tuple[str, str]:
    return str(_value(connection, "SELECT current_user")), str(_value(connection, "SELECT current_database()"))


def _server(connection: Link) -> Check:
    version = connection.info.server_version
    ok = version >= OLDEST_SERVER
    found = f"PostgreSQL {version // 10_000}.{version % 10_000} as {_whose(connection)[0]}"
    return Check("server", ok, found if ok else f"{found}; it must be 14 or newer")


def _encoding(connection: Link) -> Check:
    encoding = connection.info.parameter_status("server_encoding")
    ok = encoding == "UTF8"
    return Check("encoding", ok, f"{encoding}" if ok else f"{encoding}; graphs need a database in UTF8")


def _extension(connection: Link) -> Check:
    version = _value(connection, "SELECT extversion FROM pg_extension WHERE extname = 'age'")
    if version is not None:
        return Check("AGE", True, f"version {version}")
    offered = _value(connection, "SELECT default_version FROM pg_available_extensions WHERE name = 'age'")
    if offered is None:
        return Check("AGE", False, "not installed on the server; install it there, or choose the backend postgres")
    return Check("AGE", False, f"{offered} is on the server; let a superuser run: CREATE EXTENSION age;")


def _preload(connection: Link) -> Check:
    # Whether the library is there without our doing; a role may not read session_preload_libraries.
    found = _value(connection, "SELECT count(*) FROM pg_settings WHERE name LIKE 'age.%%' AND context <> 'internal'")
    if found:
        return Check("AGE preloaded", True, "in every session")
    database = _whose(connection)[1]
    return Check(
        "AGE preloaded",
        True,
        f"no; graphport loads it itself, other tools need: {dba_statements('', database)[1]}",
    )


def _rights(connection: Link, backend: str) -> Check:
    role, database = _whose(connection)
    ok = bool(_value(connection, "SELECT has_database_privilege(current_database(), 'CREATE')"))
    if backend == "age":
        ok = ok and may_use_age(connection)
    needed = " ".join((dba_statements if backend == "age" else grants)(role, database))
    return Check("rights", ok, f"{role} may make graphs" if ok else f"let a superuser run: {needed}")


def _format(connection: Link) -> Check:
    try:
        version = format_version(connection)
    except psycopg.errors.InsufficientPrivilege as error:
        return Check("graphs", False, f"{error.diag.message_primary}; let the owner of the schema graphport GRANT it")
    if version is None:
        return Check("graphs", True, "none yet")
    if version != FORMAT:
        return Check(
            "graphs", False, f"format {version}, this graphport reads {FORMAT}; use the version that wrote them"
        )
    count = _value(connection, "SELECT count(*) FROM graphport.graphs WHERE present")
    return Check("graphs", True, f"{count} in format {version}")
