"""Graphs as plain tables, for servers that have no AGE: one schema a graph, with the tables node and edge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from psycopg import Connection
from psycopg.rows import TupleRow

from graphport.errors import StorageUnavailableError
from graphport.model import Edge, Node, Props
from graphport.snapshot import GraphSnapshot
from graphport_postgres.layout import Layout, index_form

LINES_IN_A_PIECE = 10_000
_ESCAPES = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})

_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def _long(text: str, key: str) -> str | None:
    return None if key == text else text


def _props(props: Props | None) -> str | None:
    return _json(props) if props else None


def _encode_node(node: Node) -> tuple[str | None, ...]:
    key = index_form(node.id)
    return (key, _long(node.id, key), node.kind, node.name, node.entry, _props(node.props))


def _encode_edge(edge: Edge) -> tuple[str | None, ...]:
    key = index_form(edge.kind)
    return (key, _long(edge.kind, key), repr(edge.weight), _props(edge.props))


def _decode_node(row: Sequence[Any]) -> Node:
    node_id, kind, name, entry, props = row
    return Node(node_id, kind, name, entry, json.loads(props) if props else {})


def _decode_edge(row: Sequence[Any]) -> Edge:
    source, target, kind, weight, props = row
    return Edge(source, target, kind, weight, json.loads(props) if props else {})


def _node_lines(graph: GraphSnapshot, base: int) -> Iterator[str]:
    kinds = [_copy_text(kind) for kind in graph.node_kinds]
    rows = zip(graph.ids, graph.node_kind.tolist(), graph.names, graph.entries, strict=True)
    lines: list[str] = []
    for row, (node_id, kind, name, entry) in enumerate(rows):
        key = index_form(node_id)
        lines.append(
            f"{base + row + 1}\t{_copy_text(key)}\t{_copy_text(_long(node_id, key))}\t{kinds[kind]}\t{_copy_text(name)}"
            f"\t{_copy_text(entry)}\t{_copy_text(_props(graph.node_props.get(row)))}\n"
        )
        if len(lines) == LINES_IN_A_PIECE:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def _edge_lines(graph: GraphSnapshot, node_base: int, edge_base: int) -> Iterator[str]:
    del edge_base  # edges have no key of their own here
    keys = [index_form(kind) for kind in graph.edge_kinds]
    kinds = [
        f"{_copy_text(key)}\t{_copy_text(_long(kind, key))}" for key, kind in zip(keys, graph.edge_kinds, strict=True)
    ]
    for first in range(0, graph.n_edges, LINES_IN_A_PIECE):
        piece = slice(first, first + LINES_IN_A_PIECE)
        rows = zip(
            range(first, graph.n_edges),
            (graph.source_index[piece].astype("i8") + (node_base + 1)).tolist(),
            (graph.target_index[piece].astype("i8") + (node_base + 1)).tolist(),
            graph.edge_kind[piece].tolist(),
            graph.weight[piece].tolist(),
            strict=False,
        )
        yield "".join(
            f"{source}\t{target}\t{kinds[kind]}\t{weight!r}\t{_copy_text(_props(graph.edge_props.get(row)))}\n"
            for row, source, target, kind, weight in rows
        )


def _copy_text(text: str | None) -> str:
    return "\\N" if text is None else text.translate(_ESCAPES)


def _require_rights(connection: Connection[TupleRow], read_only: bool) -> None:
    row = connection.execute(
        "SELECT has_database_privilege(current_database(), 'CREATE'), current_user, current_database()"
    ).fetchone()
    assert row is not None
    allowed, role, database = row
    if not (allowed or read_only):
        raise StorageUnavailableError(
            f"role {role!r} may not create schemas in database {database!r}; let its owner run: "
            f"{grant_create(role, database)}"
        )


def grant_create(role: str, database: str) -> str:
    """The statement that lets ``role`` keep graphs in ``database``."""
    quoted_role, quoted_database = (f'"{name.replace(chr(34), chr(34) * 2)}"' for name in (role, database))
    return f"GRANT CREATE ON DATABASE {quoted_database} TO {quoted_role};"


TABLE_LAYOUT = Layout(
    backend="postgres",
    prefix="gp",
    node_table="node",
    edge_table="edge",
    every_edge="edge",
    pk="pk",
    pk_type="bigint",
    pk_send="int8send",
    start="source",
    end="target",
    key_type="text",
    node_columns={"id": "text", "long_id": "text", "kind": "text", "name": "text", "entry": "text", "props": "json"},
    edge_columns={"kind": "text", "long_kind": "text", "weight": "float8", "props": "json"},
    node_key="{a}.id",
    node_id="coalesce({a}.long_id, {a}.id)",
    node_kind="{a}.kind",
    node_name="{a}.name",
    node_entry="{a}.entry",
    edge_kind_key="{a}.kind",
    edge_kind="coalesce({a}.long_kind, {a}.kind)",
    edge_weight="{a}.weight",
    node_row="coalesce({a}.long_id, {a}.id), {a}.kind, {a}.name, {a}.entry, {a}.props::text",
    edge_row="coalesce({a}.long_kind, {a}.kind), {a}.weight, {a}.props::text",
    encode_key=index_form,
    encode_node=_encode_node,
    encode_edge=_encode_edge,
    decode_node=_decode_node,
    decode_edge=_decode_edge,
    create=(
        "CREATE SCHEMA {schema}",
        # json keeps props to the letter; jsonb would turn 1e5 into 100000 and -0.0 into 0.
        (
            "CREATE TABLE {nodes} (pk bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,"
            ' id text COLLATE "C" NOT NULL, long_id text COLLATE "C", kind text COLLATE "C" NOT NULL,'
            ' name text COLLATE "C" NOT NULL, entry text COLLATE "C", props json)'
        ),
        (
            "CREATE TABLE {edges} (source bigint NOT NULL, target bigint NOT NULL,"
            ' kind text COLLATE "C" NOT NULL, long_kind text COLLATE "C", weight float8 NOT NULL, props json)'
        ),
    ),
    drop="DROP SCHEMA {schema} CASCADE",
    indexes=(
        "CREATE UNIQUE INDEX node_id ON {nodes} (id)",
        "CREATE UNIQUE INDEX edge_key ON {edges} (source, target, kind)",
        "CREATE INDEX edge_target ON {edges} (target)",
    ),
    drop_indexes=("DROP INDEX {schema}.node_id, {schema}.edge_key, {schema}.edge_target",),
    load_bases="SELECT 0::bigint, 0::bigint",
    copy_nodes="COPY {nodes} (pk, id, long_id, kind, name, entry, props) FROM STDIN",
    copy_edges="COPY {edges} (source, target, kind, long_kind, weight, props) FROM STDIN",
    restart=("SELECT setval(pg_get_serial_sequence('{schema}.node', 'pk'), greatest(%(nodes)s, 1), %(nodes)s > 0)",),
    node_lines=_node_lines,
    edge_lines=_edge_lines,
    require_server=_require_rights,
    settings={"search_path": "pg_catalog"},
)
