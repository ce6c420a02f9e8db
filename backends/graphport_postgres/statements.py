"""Every statement on the rows of one graph, made once from the layout's fragments.

Arrays come in binary (``%(ids)b``): psycopg's text form of a list takes 14 us an element, its binary form 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import LiteralString

from psycopg import sql

from graphport.model import Direction
from graphport_postgres.feed import COMMITS
from graphport_postgres.layout import Layout

# The writer of a graph holds its row in graphport.graphs from before the first change to the commit. So writers
# take turns, what a transaction has read is still true when it commits, no edge can be inserted while its node
# is being deleted, and the revisions are in the order of the commits.
_LOCK = "SELECT present FROM graphport.graphs WHERE space = {space_text} FOR NO KEY UPDATE"
_REVISION = "SELECT revision FROM graphport.graphs WHERE space = {space_text}"
# With the database's name: one made from another as its template is a copy, catalog and all.
_IDENTITY = "SELECT identity::text || ' ' || current_database() FROM graphport.graphs WHERE space = {space_text}"

_FEED_IT = """INSERT INTO {changes} (slot, revision, touched)
    SELECT mod(revision, {commits}), revision, %(touched)s::text FROM bump
    ON CONFLICT (slot) DO UPDATE SET revision = excluded.revision, touched = excluded.touched"""

# A commit moves the revision and says in the feed what it touched, in one step.
_BUMP = """
WITH bump AS (UPDATE graphport.graphs SET revision = revision + 1 WHERE space = {space_text} RETURNING revision)
{feed}"""

# No rows where not all commits since then are in the feed.
_FEED = """
SELECT revision, touched FROM {changes} WHERE revision > %(since)s AND (
    SELECT count(touched) FROM {changes} WHERE revision > %(since)s
) = (SELECT revision FROM graphport.graphs WHERE space = {space_text}) - %(since)s
ORDER BY revision"""

# %(alone)s: not inside a transaction, which moves the revision itself, once, when it commits.
# record_image_ne compares bytes: AGE holds 1 and 1.0 for equal, we do not.
_UPSERT_NODES = """
WITH written AS (
    INSERT INTO {nodes} AS n ({node_columns})
    SELECT {node_casts} FROM unnest({node_arrays}) AS i ({node_columns})
    ON CONFLICT (({node_key_column})) DO UPDATE SET {node_set}
    WHERE record_image_ne(ROW({node_old}), ROW({node_new}))),
bump AS (
    UPDATE graphport.graphs SET revision = revision + 1 WHERE space = {space_text} AND %(alone)s RETURNING revision),
feed AS ({feed})
SELECT 1"""

_UPSERT_EDGES = """
WITH ends AS MATERIALIZED (
    SELECT i.row, n.{pk} AS pk FROM unnest(%(ids)b::text[]) WITH ORDINALITY AS i (id, row)
    LEFT JOIN {nodes} AS n ON {n_key} = i.id::{key}),
complete AS MATERIALIZED (SELECT NOT EXISTS (SELECT FROM ends WHERE pk IS NULL) AS yes),
written AS (
    INSERT INTO {edges} AS e ({start}, {end}, {edge_columns})
    SELECT a.pk, b.pk, {edge_casts}
    FROM unnest(%(sources)b::bigint[], %(targets)b::bigint[], {edge_arrays}) AS i (a, b, {edge_columns})
    JOIN ends AS a ON a.row = i.a JOIN ends AS b ON b.row = i.b, complete
    WHERE complete.yes
    ON CONFLICT ({start}, {end}, ({edge_kind_column})) DO UPDATE SET {edge_set}
    WHERE record_image_ne(ROW({edge_old}), ROW({edge_new}))),
bump AS (
    UPDATE graphport.graphs SET revision = revision + 1 FROM complete
    WHERE space = {space_text} AND %(alone)s AND complete.yes
    RETURNING revision),
feed AS ({feed})
SELECT row FROM ends WHERE pk IS NULL ORDER BY row"""

_DELETE_EDGES_FROM = """
DELETE FROM {every_edge} AS e USING {nodes} AS n
WHERE {n_key} = ANY (%(ids)b::text[]::{key}[]) AND e.{start} = n.{pk}"""

_DELETE_EDGES_TO = """
DELETE FROM {every_edge} AS e USING {nodes} AS n
WHERE {n_key} = ANY (%(ids)b::text[]::{key}[]) AND e.{end} = n.{pk}"""

_DELETE_NODES = """
WITH gone AS (DELETE FROM {nodes} AS n WHERE {n_key} = ANY (%(ids)b::text[]::{key}[]) RETURNING 1),
bump AS (
    UPDATE graphport.graphs SET revision = revision + 1
    WHERE space = {space_text} AND %(alone)s AND EXISTS (SELECT FROM gone)
    RETURNING revision),
feed AS ({feed})
SELECT count(*) FROM gone"""

_DELETE_EDGES = """
WITH gone AS (
    DELETE FROM {edges} AS e
    USING unnest(%(sources)b::text[], %(targets)b::text[], %(kinds)b::text[]) AS i (source, target, kind)
    JOIN {nodes} AS s ON {s_key} = i.source::{key} JOIN {nodes} AS t ON {t_key} = i.target::{key}
    WHERE e.{start} = s.{pk} AND e.{end} = t.{pk} AND {edge_kind_key} = i.kind::{key}
    RETURNING 1),
bump AS (
    UPDATE graphport.graphs SET revision = revision + 1
    WHERE space = {space_text} AND %(alone)s AND EXISTS (SELECT FROM gone)
    RETURNING revision),
feed AS ({feed})
SELECT count(*) FROM gone"""

_CLEAR_EDGES = "DELETE FROM {every_edge}"
_CLEAR_NODES = """
WITH gone AS (DELETE FROM {nodes}),
bump AS (
    UPDATE graphport.graphs SET revision = revision + 1 WHERE space = {space_text} AND %(alone)s RETURNING revision),
feed AS ({feed})
SELECT 1"""

_GET_NODES = "SELECT {node_row} FROM {nodes} AS n WHERE {n_key} = ANY (%(ids)b::text[]::{key}[])"

_GET_EDGES = """
SELECT {s_id}, {t_id}, {edge_row}
FROM unnest(%(sources)b::text[], %(targets)b::text[], %(kinds)b::text[]) AS i (source, target, kind)
JOIN {nodes} AS s ON {s_key} = i.source::{key} JOIN {nodes} AS t ON {t_key} = i.target::{key}
JOIN {edges} AS e ON e.{start} = s.{pk} AND e.{end} = t.{pk} AND {edge_kind_key} = i.kind::{key}"""

_ITER_NODES = """
SELECT {node_row} FROM {nodes} AS n
WHERE (%(kind)s::text IS NULL OR {node_kind} = %(kind)s) AND (%(name)s::text IS NULL OR {node_name} = %(name)s)
AND (%(entry)s::text IS NULL OR {node_entry} = %(entry)s)
ORDER BY {n_id}"""

_ITER_EDGES = """
SELECT {s_id}, {t_id}, {edge_row}
FROM {edges} AS e JOIN {nodes} AS s ON s.{pk} = e.{start} JOIN {nodes} AS t ON t.{pk} = e.{end}
WHERE {of_kinds}
ORDER BY {s_id}, {t_id}, {edge_kind}"""

_OUT = "SELECT e.* FROM {edges} AS e WHERE e.{start} = n.{pk} AND {of_kinds}"
_IN = "SELECT e.* FROM {edges} AS e WHERE e.{end} = n.{pk} AND {of_kinds}"
_IN_BUT_LOOPS = _IN + " AND e.{start} <> e.{end}"

_INCIDENT = """
SELECT i.row, f.* FROM unnest(%(ids)b::text[]) WITH ORDINALITY AS i (id, row)
JOIN {nodes} AS n ON {n_key} = i.id::{key}
LEFT JOIN LATERAL (
    SELECT {s_id}, {t_id}, {edge_row}
    FROM ({branches}) AS e
    JOIN {nodes} AS s ON s.{pk} = e.{start} JOIN {nodes} AS t ON t.{pk} = e.{end}
    ORDER BY {s_id}, {t_id}, {edge_kind} LIMIT %(limit)s) AS f ON true"""

_SEEDS = """
SELECT n.{pk}::text, {node_row} FROM {nodes} AS n WHERE {n_key} = ANY (%(ids)b::text[]::{key}[])
ORDER BY {n_id} LIMIT %(room)s"""

_AHEAD = "SELECT e.{end} AS pk FROM {edges} AS e WHERE e.{start} = ANY (level.pks) AND {of_kinds}"
_BACK = "SELECT e.{start} AS pk FROM {edges} AS e WHERE e.{end} = ANY (level.pks) AND {of_kinds}"

_STEP = """
SELECT n.{pk}::text, {node_row}
FROM (
    SELECT DISTINCT f.pk FROM (SELECT %(level)b::text[]::{pk_type}[] AS pks) AS level, LATERAL ({branches}) AS f
    EXCEPT SELECT * FROM unnest(%(seen)b::text[]::{pk_type}[])) AS ahead
JOIN {nodes} AS n ON n.{pk} = ahead.pk
ORDER BY {n_id} LIMIT %(room)s"""

_INSIDE = """
SELECT e.{start}::text, e.{end}::text, {edge_row} FROM {edges} AS e
WHERE e.{start} = ANY (%(seen)b::text[]::{pk_type}[]) AND e.{end} = ANY (%(seen)b::text[]::{pk_type}[])
AND {of_kinds}"""

_COUNTS = """
SELECT 'node', {node_kind}, count(*) FROM {nodes} AS n GROUP BY 2
UNION ALL SELECT 'edge', {edge_kind}, count(*) FROM {edges} AS e GROUP BY 2"""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements as bytes, ready for psycopg."""

    lock: bytes
    bump: bytes
    revision: bytes
    identity: bytes
    feed: bytes
    upsert_nodes: bytes
    upsert_edges: bytes
    delete_edges_from: bytes
    delete_edges_to: bytes
    delete_nodes: bytes
    delete_edges: bytes
    clear_edges: bytes
    clear_nodes: bytes
    get_nodes: bytes
    get_edges: bytes
    iter_nodes: bytes
    iter_edges: bytes
    incident: Mapping[Direction, bytes]
    seeds: bytes
    step: Mapping[Direction, bytes]
    inside: bytes
    counts: bytes
    hold: bytes

    @classmethod
    def of(cls, layout: Layout, space: str) -> Statements:
        parts = layout.fragments(space)

        parts["feed"] = sql.SQL(_FEED_IT).format(**parts, commits=sql.Literal(COMMITS))

        def made(template: LiteralString, *branches: LiteralString) -> bytes:
            either = sql.SQL(" UNION ALL ").join(sql.SQL(branch).format(**parts) for branch in branches)
            return sql.SQL(template).format(**parts, branches=either).as_bytes()

        return cls(
            lock=made(_LOCK),
            bump=made(_BUMP),
            revision=made(_REVISION),
            identity=made(_IDENTITY),
            feed=made(_FEED),
            upsert_nodes=made(_UPSERT_NODES),
            upsert_edges=made(_UPSERT_EDGES),
            delete_edges_from=made(_DELETE_EDGES_FROM),
            delete_edges_to=made(_DELETE_EDGES_TO),
            delete_nodes=made(_DELETE_NODES),
            delete_edges=made(_DELETE_EDGES),
            clear_edges=made(_CLEAR_EDGES),
            clear_nodes=made(_CLEAR_NODES),
            get_nodes=made(_GET_NODES),
            get_edges=made(_GET_EDGES),
            iter_nodes=made(_ITER_NODES),
            iter_edges=made(_ITER_EDGES),
            incident={
                Direction.OUT: made(_INCIDENT, _OUT),
                Direction.IN: made(_INCIDENT, _IN),
                Direction.BOTH: made(_INCIDENT, _OUT, _IN_BUT_LOOPS),
            },
            seeds=made(_SEEDS),
            step={
                Direction.OUT: made(_STEP, _AHEAD),
                Direction.IN: made(_STEP, _BACK),
                Direction.BOTH: made(_STEP, _AHEAD, _BACK),
            },
            inside=made(_INSIDE),
            counts=made(_COUNTS),
            # A read of several statements keeps the tables from being truncated or dropped under it.
            hold=made("LOCK TABLE {nodes}, {edges} IN ACCESS SHARE MODE"),
        )
