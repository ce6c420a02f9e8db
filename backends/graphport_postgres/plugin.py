"""The PostgreSQL backends: `age` on Apache AGE, `postgres` on plain tables. No driver is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from graphport import Backend, Capability, GraphStorage, hookimpl
from graphport.errors import BackendUnavailableError
from graphport.storage import Check
from graphport_postgres.options import PostgresOptions


def _missing() -> str | None:
    absent = [name for name in ("psycopg", "psycopg_pool") if find_spec(name) is None]
    return f"the driver {' and '.join(absent)} is not installed" if absent else None


def _open_age(options: PostgresOptions) -> GraphStorage:
    _require_libpq(AGE)
    from graphport_postgres.age import AGE_LAYOUT
    from graphport_postgres.storage import PostgresStorage

    return PostgresStorage(AGE_LAYOUT, options)


def _open_tables(options: PostgresOptions) -> GraphStorage:
    _require_libpq(POSTGRES)
    from graphport_postgres.storage import PostgresStorage
    from graphport_postgres.tables import TABLE_LAYOUT

    return PostgresStorage(TABLE_LAYOUT, options)


def _diagnose_age(options: PostgresOptions) -> Sequence[Check]:
    from graphport_postgres.diagnose import diagnose

    return diagnose(options.dsn, backend="age")


def _diagnose_tables(options: PostgresOptions) -> Sequence[Check]:
    from graphport_postgres.diagnose import diagnose

    return diagnose(options.dsn, backend="postgres")


def _require_libpq(backend: Backend) -> None:
    try:
        import_module("psycopg")  # without its binary it needs the system's libpq, which may be absent
    except ImportError as error:
        raise BackendUnavailableError(
            f"backend {backend.name!r} cannot be opened here: {error}; {backend.install_hint}"
        ) from error


_CAPABILITIES = frozenset(
    {Capability.PERSISTENT, Capability.CONCURRENT_WRITERS, Capability.READ_ONLY, Capability.CHANGES}
)

AGE = Backend(
    name="age",
    open=_open_age,
    capabilities=_CAPABILITIES | {Capability.CYPHER},
    options_model=PostgresOptions,
    install_hint="pip install 'graphport[age]'",
    missing=_missing,
    diagnose=_diagnose_age,
)

POSTGRES = Backend(
    name="postgres",
    open=_open_tables,
    capabilities=_CAPABILITIES,
    options_model=PostgresOptions,
    install_hint="pip install 'graphport[postgres]'",
    missing=_missing,
    diagnose=_diagnose_tables,
)


@hookimpl
def graphport_backends() -> Sequence[Backend]:
    return [AGE, POSTGRES]
