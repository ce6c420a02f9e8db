"""`GraphStorage` in PostgreSQL, over either layout."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn, Self

from graphport.changes import GraphChanges, check_revision
from graphport.errors import MissingNodeError, UnsupportedError
from graphport.model import (
    Direction,
    Edge,
    EdgeKey,
    GraphCounts,
    Node,
    Subgraph,
    check_edges,
    check_ids,
    check_keys,
    check_kinds,
    check_nodes,
    check_text,
)
from graphport.snapshot import GraphSnapshot
from graphport.traverse import check_direction, check_limit
from graphport_postgres.catalog import Catalog
from graphport_postgres.columns import Columns
from graphport_postgres.feed import MOST_KEYS, Touched, changes_of, read_touched
from graphport_postgres.layout import Layout
from graphport_postgres.load import bulk_load, require_loadable
from graphport_postgres.options import PostgresOptions
from graphport_postgres.session import GraphAbsentError, Session
from graphport_postgres.statements import Statements
from graphport_postgres.walk import Walk
from graphport_postgres.wire import Rows, Statement, run

ROWS_A_STATEMENT = 20_000
"""Rows of a batch that travel in one statement; a larger batch is several of them in one transaction."""


class PostgresStorage:
    """A graph in a PostgreSQL database, for any number of handles, threads and processes.

    Writers of one graph take turns: a transaction holds the graph's write lock from its start to its end,
    so that what it has read is still true when it commits; another writer waits ``busy_timeout`` seconds
    and then gets `StorageBusyError`. Readers wait only while `bulk_load` replaces a graph that nobody was
    reading when it began.
    """

    def __init__(self, layout: Layout, options: PostgresOptions) -> None:
        self._graph = check_text(options.graph, "graph name")
        self.layout = layout
        self._read_only = options.read_only
        self._catalog = Catalog(layout, self._graph)
        self._sql = Statements.of(layout, self._catalog.space)
        self._columns = Columns(layout, self._catalog.space)
        self._session = Session(layout, options, self._catalog, self._sql)
        try:
            self._session.call(lambda connection: self._catalog.open(connection, read_only=options.read_only))
        except BaseException:
            self._session.close()
            raise

    def __repr__(self) -> str:
        return f"PostgresStorage(backend={self.layout.backend!r}, graph={self._graph!r})"

    @property
    def graph(self) -> str:
        return self._graph

    @property
    def space(self) -> str:
        """The schema, and in AGE the graph, that holds this graph; for those who look with other tools."""
        return self._catalog.space

    # -- reads -------------------------------------------------------------------------------------

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        wanted = check_ids(ids)
        rows = self._read(self._sql.get_nodes, ids=self._keys(wanted)) if wanted else self._nothing()
        found = {node.id: node for node in map(self.layout.decode_node, rows)}
        return {node_id: found[node_id] for node_id in wanted if node_id in found}

    def get_edges(self, keys: Iterable[tuple[str, str, str]], /) -> dict[EdgeKey, Edge]:
        wanted = check_keys(keys)
        rows = self._read(self._sql.get_edges, **self._edge_keys(wanted)) if wanted else self._nothing()
        found = {edge.key: edge for edge in map(self.layout.decode_edge, rows)}
        return {key: found[key] for key in wanted if key in found}

    def iter_nodes(
        self, *, kind: str | None = None, name: str | None = None, entry: str | None = None
    ) -> Iterator[Node]:
        filters = {"kind": kind, "name": name, "entry": entry}
        for what, value in filters.items():
            if value is not None:
                check_text(value, what)
        return self._session.stream(Statement(self._sql.iter_nodes, filters), self.layout.decode_node)

    def iter_edges(self, *, kinds: Iterable[str] | None = None) -> Iterator[Edge]:
        filters = {"kinds": self._kind_keys(check_kinds(kinds))}
        return self._session.stream(Statement(self._sql.iter_edges, filters), self.layout.decode_edge)

    def incident_edges(
        self,
        ids: Iterable[str],
        /,
        *,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
        limit_per_node: int | None = None,
    ) -> dict[str, list[Edge]]:
        way, wanted_kinds = check_direction(direction), self._kind_keys(check_kinds(kinds))
        limit = None if limit_per_node is None else check_limit(limit_per_node, "limit_per_node")
        wanted = check_ids(ids)
        rows = (
            self._read(self._sql.incident[way], ids=self._keys(wanted), kinds=wanted_kinds, limit=limit)
            if wanted
            else self._nothing()
        )
        found: dict[int, list[Edge]] = {}
        for number, *row in rows:
            edges = found.setdefault(number, [])
            if row[0] is not None:  # the one row of a node without edges is all nulls
                edges.append(self.layout.decode_edge(row))
        return {
            node_id: sorted(found[number], key=lambda edge: edge.key)
            for number, node_id in enumerate(wanted, 1)
            if number in found
        }

    def neighborhood(
        self,
        seeds: Iterable[str],
        /,
        *,
        depth: int = 1,
        max_nodes: int = 1000,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
    ) -> Subgraph:
        check_limit(depth, "depth")
        max_nodes = check_limit(max_nodes, "max_nodes", least=1)
        way, wanted_kinds = check_direction(direction), self._kind_keys(check_kinds(kinds))
        first = Statement(self._sql.seeds, {"ids": self._keys(check_ids(seeds)), "room": max_nodes + 1})
        try:
            with self._session.still(first) as view:
                return Walk(view, self.layout, self._sql, max_nodes).onward(depth=depth, way=way, kinds=wanted_kinds)
        except GraphAbsentError:
            return Subgraph((), (), {})

    def snapshot(self, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
        wanted = self._kind_keys(check_kinds(kinds))
        try:
            with self._session.still(Statement(self._sql.revision, {})) as view:
                revision = None if self._session.sees_own_changes() else _revision(view.rows[0])
                return self._columns.read(view.connection, wanted, revision)
        except GraphAbsentError:
            return GraphSnapshot.from_arrays([], [], [], revision=self.revision())

    def revision(self) -> int:
        return _revision(self._session.read(Statement(self._sql.revision, {}))[0])

    def identity(self) -> str | None:
        rows = self._read(self._sql.identity)
        return str(rows[0][0]) if rows else None

    def changes_since(self, revision: int, /) -> GraphChanges | None:
        check_revision(revision)
        first = Statement(self._sql.revision, {}), Statement(self._sql.feed, {"since": revision})
        try:
            with self._session.still(*first) as view:
                current = _revision(view.rows[0])
                touched = read_touched(revision, current, view.rows[1])
                if touched is None or self._session.sees_own_changes():
                    return None
                ids = [*touched.nodes, *touched.gone]
                nodes = Statement(self._sql.get_nodes, {"ids": self._keys(ids)})
                edges = Statement(self._sql.get_edges, self._edge_keys(touched.edges))
                node_rows, edge_rows = run(view.connection, nodes, edges, *view.ending)[:2]
        except GraphAbsentError:
            return GraphChanges(revision, {}, {}) if revision == self.revision() else None
        decode_node, decode_edge = self.layout.decode_node, self.layout.decode_edge
        return changes_of(touched, current, map(decode_node, node_rows), map(decode_edge, edge_rows))

    def counts(self) -> GraphCounts:
        kinds: dict[str, dict[str, int]] = {"node": {}, "edge": {}}
        for what, kind, count in self._read(self._sql.counts):
            kinds[what][kind] = count
        nodes, edges = (dict(sorted(kinds[what].items())) for what in ("node", "edge"))
        return GraphCounts(sum(nodes.values()), sum(edges.values()), nodes, edges)

    # -- writes ------------------------------------------------------------------------------------

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        self._require_writable()
        batch = list(check_nodes(nodes).values())
        with self._in_parts(batch) as parts:
            for part in parts:
                columns = zip(*map(self.layout.encode_node, part), strict=True)
                arrays: dict[str, Any] = dict(zip(self.layout.node_columns, map(list, columns), strict=True))
                touched = None if len(part) > MOST_KEYS else Touched(nodes=[node.id for node in part])
                self._session.write(touched, Statement(self._sql.upsert_nodes, arrays))
                self._session.changed(touched)

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        self._require_writable()
        batch = list(check_edges(edges).values())
        with self._in_parts(batch) as parts:
            missing = dict.fromkeys(node_id for part in parts for node_id in self._upsert_edges(part))
            if missing:
                shown = ", ".join(f"{node_id!r:.80}" for node_id in [*missing][:10])
                raise MissingNodeError(
                    f"edges end in {len(missing)} absent nodes: {shown}; insert them first", tuple(missing)
                )

    def _upsert_edges(self, edges: Sequence[Edge]) -> list[str]:
        """The ids that are missing; if any are, nothing was written."""
        ends = list(dict.fromkeys(node_id for edge in edges for node_id in (edge.source, edge.target)))
        place = {node_id: number for number, node_id in enumerate(ends, 1)}
        columns = zip(*map(self.layout.encode_edge, edges), strict=True)
        arrays: dict[str, Any] = dict(zip(self.layout.edge_columns, map(list, columns), strict=True))
        arrays["ids"] = self._keys(ends)
        arrays["sources"] = [place[edge.source] for edge in edges]
        arrays["targets"] = [place[edge.target] for edge in edges]
        touched = None if len(edges) > MOST_KEYS else Touched(edges=[edge.key for edge in edges])
        missing = self._session.write(touched, Statement(self._sql.upsert_edges, arrays))[0]
        if not missing:
            self._session.changed(touched)
        return [ends[int(row[0]) - 1] for row in missing]

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        self._require_writable()
        wanted = check_ids(ids)
        if not wanted:
            return 0
        keys = {"ids": self._keys(wanted)}
        steps = (self._sql.delete_edges_from, self._sql.delete_edges_to, self._sql.delete_nodes)
        touched = Touched(gone=wanted)
        return self._deleted(touched, self._session.write(touched, *(Statement(step, keys) for step in steps))[-1])

    def delete_edges(self, keys: Iterable[tuple[str, str, str]], /) -> int:
        self._require_writable()
        wanted = check_keys(keys)
        if not wanted:
            return 0
        touched = Touched(edges=wanted)
        delete = Statement(self._sql.delete_edges, self._edge_keys(wanted))
        return self._deleted(touched, self._session.write(touched, delete)[0])

    def _deleted(self, touched: Touched, rows: Rows) -> int:
        count = int(rows[0][0])
        if count:
            self._session.changed(touched)
        return count

    def clear(self) -> None:
        self._require_writable()
        self._session.write(None, Statement(self._sql.clear_edges, {}), Statement(self._sql.clear_nodes, {}))
        self._session.changed(None)

    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        self._require_writable()
        self._session.refuse_transaction("bulk_load")
        require_loadable(graph)
        with self._session.transaction():
            self._session.call(lambda connection: bulk_load(connection, self.layout, self._catalog.space, graph))
            self._session.changed(None)

    @contextmanager
    def transaction(self) -> Generator[None]:
        self._require_writable()
        with self._session.transaction():
            yield

    @contextmanager
    def _in_parts(self, batch: Sequence[Any]) -> Generator[Iterable[Sequence[Any]]]:
        """The batch in statements' worth; what is done with them is done as a whole or not at all."""
        if len(batch) <= ROWS_A_STATEMENT:
            yield [batch] if batch else []
            return
        with self._session.all_or_none():
            yield (batch[first : first + ROWS_A_STATEMENT] for first in range(0, len(batch), ROWS_A_STATEMENT))

    # -- graphs and the handle -----------------------------------------------------------------------

    def graphs(self) -> list[str]:
        return self._session.call(self._catalog.names)

    def drop_graph(self, name: str, /) -> bool:
        self._require_writable()
        self._session.refuse_transaction("drop_graph")
        check_text(name, "graph name")
        return self._session.call(lambda connection: self._catalog.drop(connection, name))

    def cypher(
        self, query: str, params: Mapping[str, Any] | None = None, /, *, columns: Iterable[str] = ("result",)
    ) -> list[tuple[Any, ...]]:
        self._session.require_usable()
        if self.layout.cypher is None:
            self._refuse_cypher()
        return self.layout.cypher(self._session, self._catalog.space, query, params, columns)

    def _refuse_cypher(self) -> NoReturn:
        raise UnsupportedError(f"the {self.layout.backend} backend has no Cypher; choose the backend age or kuzu")

    def close(self) -> None:
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    # -- what the methods share ------------------------------------------------------------------------

    def _read(self, statement: bytes, **params: Any) -> Rows:
        return self._session.read(Statement(statement, params))[0]

    def _nothing(self) -> Rows:
        self._session.require_usable()
        return []

    def _keys(self, ids: Iterable[str]) -> list[str]:
        return [self.layout.encode_key(node_id) for node_id in ids]

    def _kind_keys(self, kinds: frozenset[str] | None) -> list[str] | None:
        return None if kinds is None else self._keys(sorted(kinds))

    def _edge_keys(self, keys: Sequence[EdgeKey]) -> dict[str, list[str]]:
        columns = {"sources": 0, "targets": 1, "kinds": 2}
        return {name: self._keys(key[place] for key in keys) for name, place in columns.items()}

    def _require_writable(self) -> None:
        self._session.require_usable()
        if self._read_only:
            raise UnsupportedError(f"graph {self._graph!r:.80} was opened read_only; open it without to write")


def _revision(rows: Rows) -> int:
    return int(rows[0][0]) if rows else 0
