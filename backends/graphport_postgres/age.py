"""Graphs as AGE graphs: vertices with the label Node, edges with the label Edge, our columns in their properties.

One label for all nodes and one for all edges, with the kind as a property: kinds are free text, labels
are not (letters, digits, underscores, 63 bytes, never both a vertex's and an edge's).
"""

from __future__ import annotations

from psycopg import Connection
from psycopg.rows import TupleRow

from graphport.errors import StorageUnavailableError
from graphport_postgres import age_rows
from graphport_postgres.cypher import run_cypher
from graphport_postgres.layout import Layout


def dba_statements(role: str, database: str) -> tuple[str, ...]:
    """What a superuser runs, once, so that ``role`` can keep AGE graphs in ``database``."""
    quoted_role, quoted_database = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (role, database))
    return (
        "CREATE EXTENSION IF NOT EXISTS age;",
        f"ALTER DATABASE {quoted_database} SET session_preload_libraries = 'age';",
        f"ALTER DATABASE {quoted_database} SET age.enable_containment = off;",
        f"GRANT USAGE ON SCHEMA ag_catalog TO {quoted_role};",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA ag_catalog TO {quoted_role};",
        f"GRANT CREATE ON DATABASE {quoted_database} TO {quoted_role};",
    )


def require_age(connection: Connection[TupleRow], read_only: bool) -> None:
    """Raises `StorageUnavailableError`, with what a DBA must run, where AGE is absent or closed to the role.

    A superuser who may write gets the extension made.
    """
    row = connection.execute(
        "SELECT (SELECT extversion FROM pg_extension WHERE extname = 'age'),"
        " (SELECT rolsuper FROM pg_roles WHERE rolname = current_user), current_user, current_database()"
    ).fetchone()
    assert row is not None
    version, is_superuser, role, database = row
    if version is None and is_superuser and not read_only:
        connection.execute("SELECT pg_advisory_lock(%s)", (_EXTENSION_LOCK,))
        connection.execute("CREATE EXTENSION IF NOT EXISTS age")
        connection.execute("SELECT pg_advisory_unlock(%s)", (_EXTENSION_LOCK,))
        return
    if version is None:
        problem = f"the extension age is not in database {database!r}"
    elif not may_use_age(connection):
        problem = f"role {role!r} may not use AGE in database {database!r}"
    else:
        return
    raise StorageUnavailableError(f"{problem}; let a superuser run there: {' '.join(dba_statements(role, database))}")


def may_use_age(connection: Connection[TupleRow]) -> bool:
    """Whether the role may read AGE's catalog; True for one that has no extension at all."""
    row = connection.execute(
        "SELECT bool_and(has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'))"
        " FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'ag_catalog' AND c.relname IN ('ag_graph', 'ag_label')"
    ).fetchone()
    return row is None or row[0] is not False


_EXTENSION_LOCK = 0x67726170_0001
"""Two sessions creating the extension at once: without a lock one of them fails."""

AGE_LAYOUT = Layout(
    backend="age",
    prefix="gpa",
    node_table="Node",
    edge_table="Edge",
    every_edge="_ag_label_edge",
    pk="id",
    pk_type="graphid",
    pk_send="graphid_send",
    start="start_id",
    end="end_id",
    key_type="agtype",
    node_columns={"properties": "agtype"},
    edge_columns={"properties": "agtype"},
    # The very expression that Cypher makes of n.id and r.kind, so that Cypher finds by our indexes too.
    node_key="agtype_access_operator(VARIADIC ARRAY[{a}.properties, '\"id\"'::agtype])",
    node_id="coalesce({a}.properties ->> 'long_id'::text, {a}.properties ->> 'id'::text) COLLATE \"C\"",
    node_kind="({a}.properties ->> 'kind'::text)",
    node_name=(
        "coalesce({a}.properties ->> 'name'::text, {a}.properties ->> 'long_id'::text, {a}.properties ->> 'id'::text)"
    ),
    node_entry="({a}.properties ->> 'entry'::text)",
    edge_kind_key="agtype_access_operator(VARIADIC ARRAY[{a}.properties, '\"kind\"'::agtype])",
    edge_kind="coalesce({a}.properties ->> 'long_kind'::text, {a}.properties ->> 'kind'::text) COLLATE \"C\"",
    edge_weight="coalesce(({a}.properties -> 'weight'::text)::float8, 1.0)",
    node_row="{a}.properties",
    edge_row="{a}.properties",
    encode_key=age_rows.encode_key,
    encode_node=age_rows.encode_node,
    encode_edge=age_rows.encode_edge,
    decode_node=age_rows.decode_node,
    decode_edge=age_rows.decode_edge,
    create=(
        "SELECT create_graph({space_text})",
        "SELECT create_vlabel({space_text}, 'Node')",
        "SELECT create_elabel({space_text}, 'Edge')",
        # AGE 1.8 makes these two keys itself, AGE 1.5 makes none.
        'CREATE UNIQUE INDEX IF NOT EXISTS "Node_pkey" ON {nodes} (id)',
        # The unique index on (start_id, ...) serves what this one of AGE 1.8 is for.
        'DROP INDEX IF EXISTS {schema}."Edge_start_id_idx"',
    ),
    drop="SELECT drop_graph({space_text}, true)",
    indexes=(
        'CREATE UNIQUE INDEX "Node_key" ON {nodes} (({node_key_column}))',
        # A hash index takes texts of any length.
        'CREATE INDEX "Node_name" ON {nodes} USING hash ({node_name_column})',
        'CREATE INDEX "Node_entry" ON {nodes} USING hash ({node_entry_column})',
        'CREATE UNIQUE INDEX "Edge_key" ON {edges} (start_id, end_id, ({edge_kind_column}))',
        'CREATE INDEX IF NOT EXISTS "Edge_end_id_idx" ON {edges} (end_id)',
    ),
    drop_indexes=(
        'DROP INDEX IF EXISTS {schema}."Node_key", {schema}."Node_name", {schema}."Node_entry"',
        'DROP INDEX IF EXISTS {schema}."Edge_key", {schema}."Edge_end_id_idx"',
    ),
    # A graphid is the label's number << 48 plus a counter.
    load_bases="SELECT _label_id({space_text}, 'Node')::bigint << 48, _label_id({space_text}, 'Edge')::bigint << 48",
    copy_nodes="COPY {nodes} (id, properties) FROM STDIN",
    copy_edges="COPY {edges} (id, start_id, end_id, properties) FROM STDIN",
    restart=(
        "SELECT setval('{schema}.\"Node_id_seq\"', greatest(%(nodes)s, 1), %(nodes)s > 0)",
        "SELECT setval('{schema}.\"Edge_id_seq\"', greatest(%(edges)s, 1), %(edges)s > 0)",
    ),
    node_lines=age_rows.node_lines,
    edge_lines=age_rows.edge_lines,
    require_server=require_age,
    grants=dba_statements,
    warm_up=(
        # Loads the library also where it is not preloaded and the role may not LOAD it: without it the
        # first cypher() of a session fails with "unhandled cypher(cstring) function call".
        "SELECT '0'::ag_catalog.agtype",
        # Off, {id: $id} in a pattern is looked up by the index on id; on, it is a scan or needs a GIN index.
        # From AGE 1.8 only a superuser may turn it off; for others it is among the statements for the DBA.
        (
            "SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'age.enable_containment'"
            " AND (context = 'user' OR (SELECT rolsuper FROM pg_roles WHERE rolname = current_user))"
        ),
    ),
    settings={"search_path": "pg_catalog, ag_catalog"},
    cypher=run_cypher,
)
