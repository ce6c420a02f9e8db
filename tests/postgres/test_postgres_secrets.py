"""Passwords show up nowhere, and no text is ever taken for SQL or Cypher."""

from __future__ import annotations

import logging
import traceback

import pytest
from postgres_engine import Engine
from psycopg.conninfo import conninfo_to_dict

from graphport import Edge, GraphSnapshot, Node, open_storage
from graphport.errors import ConfigError, GraphportError
from graphport_postgres.diagnose import diagnose
from graphport_postgres.options import PostgresOptions
from graphport_postgres.plugin import POSTGRES
from graphport_postgres.storage import PostgresStorage

SECRET = "hunter2-Zq%x"
UNREACHABLE = f"host=127.0.0.1 port=1 user=someone password='{SECRET}' dbname=none"
DSNS = [
    UNREACHABLE,
    f"postgresql://someone:{SECRET}@127.0.0.1:1/none",  # %x is no percent-encoding: libpq's error would quote it
    f"postgresql://someone:{SECRET.replace('%', '%25')}@127.0.0.1:1/none?sslmode=disable",
    f"{SECRET} {SECRET}",
    f"password={SECRET} {SECRET}",
]


@pytest.mark.parametrize("dsn", DSNS)
@pytest.mark.parametrize("backend", ["age", "postgres"])
def test_no_error_and_no_log_line_holds_the_password(dsn: str, backend: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(GraphportError) as refused:
        open_storage(backend, dsn=dsn, connect_timeout=2)
    shown = "".join(traceback.format_exception(refused.value))
    for text in (shown, repr(refused.value), caplog.text, repr(diagnose(dsn, backend=backend))):
        assert "hunter2" not in text


@pytest.mark.parametrize(
    "wrong", [{"dsn": ""}, {"dsn": [SECRET]}, {"dsn": UNREACHABLE, "nonsense": 1}, {"dsn": UNREACHABLE, "pool_min": 99}]
)
def test_no_complaint_about_options_holds_the_password(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError) as refused:
        open_storage("age", **wrong)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))
    assert "dsn" in str(refused.value)


def test_an_open_handle_shows_no_password(tables: Engine, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    admin = tables.admin()
    role = f"gp_secret_{conninfo_to_dict(tables.dsn)['dbname']}"
    admin.execute(f"CREATE ROLE {role} SUPERUSER LOGIN PASSWORD 'hunter2'".encode())
    try:
        with Engine(POSTGRES, f"{tables.dsn} user={role} password=hunter2", tables.stack).open() as storage:
            storage.upsert_nodes([Node("a", "k", "a")])
            rows = storage.iter_nodes()
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (role,))
            with pytest.raises(GraphportError) as failed:
                list(rows)
            shown = [repr(storage), repr(vars(storage)), repr(failed.value), caplog.text]
    finally:
        admin.execute(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}".encode())
    assert not any("hunter2" in text for text in shown)


def test_options_show_no_password() -> None:
    options = PostgresOptions(dsn=UNREACHABLE)  # type: ignore[arg-type]  # as a config gives it
    assert "hunter2" not in repr(options) + str(options) + options.model_dump_json()


ATTACKS = [
    "'; DROP SCHEMA graphport CASCADE; --",
    '"; DROP SCHEMA graphport CASCADE; --',
    "$$); DROP SCHEMA graphport CASCADE; --",
    "$q0$); DROP SCHEMA graphport CASCADE; --",
    '"}) DETACH DELETE n //',
    "\\'; DROP SCHEMA graphport CASCADE; --",
    "%(space)s %s {nodes} %%",
    "`) MATCH (n) DETACH DELETE n //",
    '{"$ref": "x"}::vertex',
    "\\.\nDROP\t\\N",
]


def test_text_is_only_ever_text(engine: Engine) -> None:
    bystander = engine.open(graph="bystander")
    bystander.upsert_nodes([Node("safe", "k", "safe")])
    for attack in ATTACKS:
        with engine.open(graph=attack) as storage:
            _attack(storage, attack)
        assert bystander.graphs() == ["bystander"]
        assert list(bystander.iter_nodes()) == [Node("safe", "k", "safe")]


def _attack(storage: PostgresStorage, attack: str) -> None:
    nodes = [Node(attack, attack, attack, attack, {attack: attack}), Node("a", "k", "a")]
    edges = [Edge(attack, "a", attack, 1.0, {attack: [attack]})]
    storage.upsert_nodes(nodes)
    storage.upsert_edges(edges)
    for _ in range(2):
        assert storage.get_nodes([attack]) == {attack: nodes[0]}
        assert list(storage.get_edges([edges[0].key]).values()) == edges
        assert list(storage.iter_nodes(kind=attack, name=attack, entry=attack)) == nodes[:1]
        assert list(storage.iter_edges(kinds=[attack])) == edges
        assert storage.incident_edges([attack], kinds=[attack]) == {attack: edges}
        assert storage.neighborhood([attack], kinds=[attack]).edges == tuple(edges)
        assert storage.snapshot(kinds=[attack]).edge_kinds == (attack,)
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
    if storage.layout.cypher is not None:
        query = "MATCH (n:Node) WHERE n.id = $id RETURN n.name, $id"
        assert storage.cypher(query, {"id": attack}, columns=[attack, "b"]) == [(attack, attack)]
        for query in (attack, f"RETURN '{attack}' AS {attack}"):
            with pytest.raises(GraphportError):
                storage.cypher(query)
    assert storage.delete_edges([edges[0].key]) == storage.delete_nodes([attack]) == 1
    assert storage.drop_graph(attack)
