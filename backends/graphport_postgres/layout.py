"""How a graph lies in tables: what differs between AGE's label tables and our own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString

from psycopg import Connection, sql
from psycopg.rows import TupleRow

from graphport.model import Edge, Node
from graphport.snapshot import GraphSnapshot

_MAX_INDEXED_BYTES = 1000
"""A btree entry must stay below 2,704 bytes, the other columns of its index included."""
_DIGEST_MARK = "\x01sha256:"


def index_form(text: str) -> str:
    """``text`` as it is indexed: itself, or, where an index could not hold it, its SHA-256.

    One to one as far as SHA-256 is: a text that looks like a digest is digested too.
    """
    raw = text.encode()
    if len(raw) <= _MAX_INDEXED_BYTES and not text.startswith(_DIGEST_MARK):
        return text
    return _DIGEST_MARK + hashlib.sha256(raw).hexdigest()


def space_name(prefix: str, graph: str) -> str:
    """Name of the schema (and AGE graph) that holds the graph of that name.

    Graph names are any text and schema names are not, so it is a readable part and 128 bits of the
    name's SHA-256; ``graphport.graphs`` maps it back. At most 62 characters, as AGE 1.5 cuts longer ones.
    """
    readable = re.sub(r"[^a-z0-9]+", "_", graph.lower()).strip("_")[:20].strip("_")
    digest = hashlib.sha256(graph.encode()).hexdigest()[:32]
    return "_".join(part for part in (prefix, readable, digest) if part)


@dataclass(frozen=True, slots=True)
class Layout:
    """The fragments and codecs that the common statements are made of.

    ``node_columns`` and ``edge_columns`` map what a row is written to, besides its keys, to the types
    the text that `encode_node` and `encode_edge` give is cast to. Fragments name their table by the
    alias ``{a}``. ``every_edge`` are the edges of all labels, which go when their node goes.

    For bulk loads: ``load_bases`` selects the numbers below the first node's and the first edge's key,
    ``node_lines`` and ``edge_lines`` give a snapshot's rows as COPY text in big pieces, and ``restart``
    sets the sequences to what was loaded. ``indexes`` are those worth building afterwards.

    ``grants(role, database)`` are the statements that let a role keep graphs there;
    ``require_server(connection, read_only)`` raises where the layout cannot work at all. ``warm_up`` and
    ``settings`` prepare each new session.
    """

    backend: str
    prefix: str
    node_table: str
    edge_table: str
    every_edge: str
    pk: LiteralString
    pk_type: LiteralString
    pk_send: LiteralString
    start: LiteralString
    end: LiteralString
    key_type: LiteralString
    node_columns: Mapping[LiteralString, LiteralString]
    edge_columns: Mapping[LiteralString, LiteralString]
    node_key: LiteralString
    node_id: LiteralString
    node_kind: LiteralString
    node_name: LiteralString
    node_entry: LiteralString
    edge_kind_key: LiteralString
    edge_kind: LiteralString
    edge_weight: LiteralString
    node_row: LiteralString
    edge_row: LiteralString
    encode_key: Callable[[str], str]
    encode_node: Callable[[Node], tuple[str | None, ...]]
    encode_edge: Callable[[Edge], tuple[str | None, ...]]
    decode_node: Callable[[Sequence[Any]], Node]
    decode_edge: Callable[[Sequence[Any]], Edge]
    create: tuple[LiteralString, ...]
    drop: LiteralString
    indexes: tuple[LiteralString, ...]
    drop_indexes: tuple[LiteralString, ...]
    load_bases: LiteralString
    copy_nodes: LiteralString
    copy_edges: LiteralString
    restart: tuple[LiteralString, ...]
    node_lines: Callable[[GraphSnapshot, int], Iterator[str]]
    edge_lines: Callable[[GraphSnapshot, int, int], Iterator[str]]
    grants: Callable[[str, str], tuple[str, ...]]
    require_server: Callable[[Connection[TupleRow], bool], None] | None = None
    warm_up: tuple[LiteralString, ...] = ()
    cypher: Callable[..., list[tuple[Any, ...]]] | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])

    def fragments(self, space: str) -> dict[str, sql.Composable]:
        """Fragments for `psycopg.sql.SQL.format`: tables, columns, and for the aliases n, s, t (nodes), e (edges)."""
        parts: dict[str, sql.Composable] = {
            "schema": sql.Identifier(space),
            "space_text": sql.Literal(space),
            "nodes": sql.Identifier(space, self.node_table),
            "edges": sql.Identifier(space, self.edge_table),
            "every_edge": sql.Identifier(space, self.every_edge),
            "changes": sql.Identifier(space, "graphport_changes"),
            "pk": sql.SQL(self.pk),
            "pk_type": sql.SQL(self.pk_type),
            "start": sql.SQL(self.start),
            "end": sql.SQL(self.end),
            "key": sql.SQL(self.key_type),
        }
        for alias in ("n", "s", "t"):
            a = sql.SQL(alias)
            parts[f"{alias}_key"] = sql.SQL(self.node_key).format(a=a)
            parts[f"{alias}_id"] = sql.SQL(self.node_id).format(a=a)
        for name in ("node_kind", "node_name", "node_entry", "node_row"):
            parts[name] = sql.SQL(getattr(self, name)).format(a=sql.SQL("n"))
        for name in ("edge_kind_key", "edge_kind", "edge_weight", "edge_row"):
            parts[name] = sql.SQL(getattr(self, name)).format(a=sql.SQL("e"))
        parts["of_kinds"] = sql.SQL(
            "(%(kinds)b::text[] IS NULL OR {edge_kind_key} = ANY (%(kinds)b::text[]::{key}[]))"
        ).format(**parts)
        for name in ("node_key", "node_name", "node_entry"):
            parts[f"{name}_column"] = sql.SQL(getattr(self, name).replace("{a}.", ""))
        parts["edge_kind_column"] = sql.SQL(self.edge_kind_key.replace("{a}.", ""))
        return parts | _columns("node", self.node_columns, "n") | _columns("edge", self.edge_columns, "e")


def _columns(
    what: str, columns: Mapping[LiteralString, LiteralString], alias: LiteralString
) -> dict[str, sql.Composable]:
    comma = sql.SQL(", ")
    names = [sql.SQL(name) for name in columns]
    return {
        f"{what}_columns": comma.join(names),
        f"{what}_casts": comma.join(sql.SQL("i.{}::{}").format(sql.SQL(n), sql.SQL(t)) for n, t in columns.items()),
        f"{what}_arrays": comma.join(sql.SQL("{}::text[]").format(sql.Placeholder(n, "b")) for n in columns),
        f"{what}_set": comma.join(sql.SQL("{0} = excluded.{0}").format(name) for name in names),
        f"{what}_old": comma.join(sql.SQL("{}.{}").format(sql.SQL(alias), name) for name in names),
        f"{what}_new": comma.join(sql.SQL("excluded.{}").format(name) for name in names),
    }
