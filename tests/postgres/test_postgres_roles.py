"""Roles that are no superuser: what works, and what is said when it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from postgres_engine import Engine
from postgres_servers import connect
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from graphport import Edge, GraphSnapshot, Node
from graphport.errors import StorageUnavailableError, UnsupportedError
from graphport_postgres.diagnose import diagnose
from graphport_postgres.plugin import AGE
from graphport_postgres.storage import PostgresStorage

PASSWORD = "of a role"


@pytest.fixture
def role(engine: Engine) -> Iterator[str]:
    """A new role without any rights in the engine's database."""
    name = f'gp "role" {conninfo_to_dict(engine.dsn)["dbname"]}'
    identifier = sql.Identifier(name)
    admin = engine.admin()
    admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(identifier, sql.Literal(PASSWORD)))
    admin.execute("REVOKE ALL ON SCHEMA public FROM public")
    yield name
    engine.stack.close()
    with connect(engine.dsn) as admin:
        admin.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(identifier))
        admin.execute(sql.SQL("DROP ROLE {}").format(identifier))


@pytest.fixture
def as_role(engine: Engine, role: str) -> Engine:
    return Engine(engine.backend, make_conninfo(engine.dsn, user=role, password=PASSWORD), engine.stack)


def _advised(message: str) -> list[str]:
    """The statements in an error message."""
    return re.findall(r"(?:CREATE|ALTER|GRANT)[^;]*;", message)


def _use(storage: PostgresStorage) -> None:
    storage.upsert_nodes([Node("a", "k", "a"), Node("b", "k", "b")])
    storage.upsert_edges([Edge("a", "b", "e")])
    storage.bulk_load(GraphSnapshot.from_rows([Node("a", "k", "a")], [Edge("a", "a", "e")]))
    storage.delete_nodes(["a"])
    with storage.transaction():
        storage.upsert_nodes([Node("c", "k", "c")])
    assert list(storage.snapshot().ids) == ["c"]
    assert storage.drop_graph("graph")


def test_the_statements_of_the_error_are_all_that_is_missing(engine: Engine, as_role: Engine) -> None:
    with pytest.raises(StorageUnavailableError) as refused:
        as_role.open()
    advice = _advised(str(refused.value))
    assert advice == _advised(" ".join(check.detail for check in diagnose(as_role.dsn, backend=engine.backend.name)))
    for statement in advice:
        engine.admin().execute(statement.encode())
    assert all(check.ok for check in diagnose(as_role.dsn, backend=engine.backend.name))
    _use(as_role.open())


def test_cypher_works_for_any_role_with_and_without_preload(age: Engine) -> None:
    name = f"gp_role_{conninfo_to_dict(age.dsn)['dbname']}"
    admin = age.admin()
    admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'".encode())
    dsn = make_conninfo(age.dsn, user=name, password=PASSWORD)
    database = sql.Identifier(str(conninfo_to_dict(age.dsn)["dbname"]))
    try:
        with pytest.raises(StorageUnavailableError) as refused:
            Engine(AGE, dsn, age.stack).open()
        for statement in _advised(str(refused.value)):
            admin.execute(statement.encode())
        for libraries in ("age", "plpgsql"):
            admin.execute(sql.SQL("ALTER DATABASE {} SET session_preload_libraries = {}").format(database, libraries))
            with Engine(AGE, dsn, age.stack).open(graph=libraries) as storage:
                storage.upsert_nodes([Node("a", "k", "a")])
                assert storage.cypher("MATCH (n:Node) RETURN n.id") == [("a",)]
    finally:
        age.stack.close()
        with connect(age.dsn) as admin:
            admin.execute(f"DROP OWNED BY {name} CASCADE; DROP ROLE {name}".encode())


def test_a_superuser_gets_the_extension_made_and_others_are_told(age: Engine, tables: Engine) -> None:
    admin = age.admin()
    admin.execute("DROP EXTENSION age CASCADE")
    with pytest.raises(StorageUnavailableError, match="CREATE EXTENSION IF NOT EXISTS age;"):
        age.open(read_only=True)
    assert ("AGE", False) in [check[:2] for check in diagnose(age.dsn)]
    age.open().upsert_nodes([Node("a", "k", "a")])
    assert ("AGE", True) in [check[:2] for check in diagnose(age.dsn)]


def test_a_role_that_may_only_read_opens_read_only(engine: Engine, role: str, as_role: Engine) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node("a", "k", "a")])
    storage.upsert_edges([Edge("a", "a", "e")])
    who = sql.Identifier(role)
    admin = engine.admin()
    for schema in ("graphport", storage.space, *(["ag_catalog"] if engine.backend is AGE else [])):
        admin.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(sql.Identifier(schema), who))
        admin.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}").format(sql.Identifier(schema), who))
    reader = as_role.open(read_only=True)
    assert list(reader.iter_nodes()) == [Node("a", "k", "a")]
    assert reader.snapshot().n_edges == 1
    assert reader.neighborhood(["a"]).edges == (Edge("a", "a", "e"),)
    with pytest.raises(UnsupportedError):
        reader.clear()
    writer = as_role.open()
    with pytest.raises(StorageUnavailableError, match=r"permission denied.*GRANT"):
        writer.clear()
