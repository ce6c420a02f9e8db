"""graphport in PostgreSQL beside what other libraries do on the same server, in one run.

    python benchmarks/postgres_peers.py DSN [--large] [--repeat 3]

DSN is a superuser's on a server with AGE (``scripts/postgres-age.sh start`` prints one); a database of its own is
made there and dropped. 20,000 nodes and 100,000 edges, or with ``--large`` 200,000 and 1,000,000. The peers' ways are
Cypher through psycopg with bound parameters: batches of 1,000 rows by UNWIND, or a query for each node. They have the
indexes that graphport makes, which most of them lack. What would take hours is timed on a part and scaled up: marked ~.
Times are the best of ``--repeat``; trust the ratios.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import igraph
import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphport import Direction, Edge, GraphSnapshot, Node, open_storage
from graphport_postgres.cypher import read_agtype
from graphport_postgres.storage import PostgresStorage

DATABASE = "graphport_benchmark"
BATCH = 1000
SEEDS = 30


def make_graph(n: int, m: int) -> GraphSnapshot:
    """``n`` nodes and ``m`` different edges of three kinds, ends drawn evenly."""
    chance = np.random.default_rng(11)
    keys = np.unique(chance.integers(0, n * n * 3, size=m + m // 50))
    keys = np.sort(chance.permutation(keys)[:m])
    source, target = np.divmod(keys // 3, n)
    return GraphSnapshot.from_arrays(
        [f"src/module_{number % 997}.py::function_{number}" for number in range(n)],
        source,
        target,
        chance.integers(1, 30, size=m) / 7,
        node_kinds=("symbol",),
        edge_kind=keys % 3,
        edge_kinds=("calls", "cites", "uses"),
    )


class Peer:
    """An AGE graph used by Cypher alone, as the graph stores of other libraries do."""

    def __init__(self, dsn: str, graph: str) -> None:
        self.graph = graph
        self.connection = psycopg.connect(dsn, autocommit=True, cursor_factory=psycopg.RawCursor)
        for statement in ("LOAD 'age'", "SET search_path = ag_catalog, public", "SET age.enable_containment = off"):
            self.connection.execute(statement)
        self.version = str(self.rows("SELECT extversion FROM pg_extension WHERE extname = 'age'")[0][0])

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(statement.encode()).fetchall()

    def cypher(self, query: str, params: object = None, columns: int = 1) -> list[tuple[Any, ...]]:
        names = ", ".join(f"c{number} agtype" for number in range(columns))
        parameter = ", $1" if params is not None else ""
        text = f"SELECT * FROM cypher('{self.graph}', $q$ {query} $q${parameter}) AS ({names})"
        values = [json.dumps(params)] if params is not None else None
        rows = self.connection.execute(text.encode(), values).fetchall()
        return [tuple(map(read_agtype, row)) for row in rows]

    def create(self) -> None:
        """The graph, empty, with graphport's indexes."""
        if self.rows(f"SELECT 1 FROM ag_graph WHERE name = '{self.graph}'"):
            self.connection.execute(f"SELECT drop_graph('{self.graph}', true)".encode())
        self.connection.execute(f"SELECT create_graph('{self.graph}')".encode())
        self.connection.execute(f"SELECT create_vlabel('{self.graph}', 'Node')".encode())
        self.connection.execute(f"SELECT create_elabel('{self.graph}', 'Edge')".encode())
        key, schema = "agtype_access_operator(VARIADIC ARRAY[properties, '\"{}\"'::agtype])", f'"{self.graph}"'
        for statement in (
            f'CREATE UNIQUE INDEX ON {schema}."Node" (({key.format("id")}))',
            f'CREATE UNIQUE INDEX ON {schema}."Edge" (start_id, end_id, ({key.format("kind")}))',
            f'CREATE INDEX ON {schema}."Edge" (end_id)',
            f'CREATE INDEX IF NOT EXISTS "Node_pkey" ON {schema}."Node" (id)',
        ):
            self.connection.execute(statement.encode())

    def load(self, graph: GraphSnapshot, *, edges: int) -> float:
        """Seconds for UNWIND .. CREATE of all nodes and, scaled up from the first ``edges``, of all edges."""
        self.create()
        nodes = [{"id": node.id, "kind": node.kind, "name": node.name} for node in graph.iter_nodes()]
        seconds = timed(
            lambda: self.batches(nodes, "UNWIND $rows AS r CREATE (:Node {id: r.id, kind: r.kind, name: r.name})")
        )
        self.connection.execute(f'ANALYZE "{self.graph}"."Node"'.encode())
        rows = edge_rows(graph, edges)
        query = (
            "UNWIND $rows AS r MATCH (a:Node), (b:Node) WHERE a.id = r.s AND b.id = r.t "
            "CREATE (a)-[:Edge {kind: r.kind, weight: r.weight}]->(b)"
        )
        return seconds + timed(lambda: self.batches(rows, query)) * graph.n_edges / len(rows)

    def merge(self, graph: GraphSnapshot, *, nodes: int, edges: int) -> float:
        """Seconds for UNWIND .. MERGE .. SET over a graph that is there, scaled up from parts of it."""
        node_rows = [{"id": node.id, "name": f"{node.name}'"} for node in list(graph.iter_nodes())[:nodes]]
        query = "UNWIND $rows AS r MERGE (n:Node {id: r.id}) SET n.name = r.name"
        seconds = timed(lambda: self.batches(node_rows, query)) * graph.n_nodes / len(node_rows)
        rows = edge_rows(graph, edges)
        query = (
            "UNWIND $rows AS r MATCH (a:Node), (b:Node) WHERE a.id = r.s AND b.id = r.t "
            "MERGE (a)-[e:Edge {kind: r.kind}]->(b) SET e.weight = r.weight"
        )
        return seconds + timed(lambda: self.batches(rows, query)) * graph.n_edges / len(rows)

    def batches(self, rows: list[dict[str, Any]], query: str) -> None:
        for first in range(0, len(rows), BATCH):
            self.cypher(query, {"rows": rows[first : first + BATCH]})

    def one_by_one(self, graph: GraphSnapshot, *, nodes: int) -> float:
        """Seconds for a CREATE query a node and a MATCH .. CREATE query an edge, scaled up from the first ones."""
        self.create()
        some = list(graph.iter_nodes())[:nodes]
        create = "CREATE (:Node {id: $id, kind: $kind, name: $name})"
        seconds = timed(lambda: [self.cypher(create, {"id": n.id, "kind": n.kind, "name": n.name}) for n in some])
        ids = {node.id for node in some}
        rows = [edge for edge in graph.iter_edges() if edge.source in ids and edge.target in ids][:nodes]
        connect = (
            "MATCH (a:Node), (b:Node) WHERE a.id = $s AND b.id = $t CREATE (a)-[:Edge {kind: $k, weight: $w}]->(b)"
        )

        def edges() -> None:
            for edge in rows:
                self.cypher(connect, {"s": edge.source, "t": edge.target, "k": edge.kind, "w": edge.weight})

        return seconds * graph.n_nodes / len(some) + timed(edges) * graph.n_edges / max(len(rows), 1)

    def read(self) -> list[tuple[Any, ...]]:
        return self.cypher("MATCH (a:Node)-[r:Edge]->(b:Node) RETURN a.id, b.id, r.kind, r.weight", columns=4)

    def two_hops(self, seed: str) -> int:
        """Nodes within two steps along the arrows, with their properties and edges, by two patterns of fixed length."""
        one = "MATCH (s:Node)-[r:Edge]->(a:Node) WHERE s.id = $id RETURN r, a"
        two = "MATCH (s:Node)-[:Edge]->(:Node)-[r:Edge]->(a:Node) WHERE s.id = $id RETURN r, a"
        rows = self.cypher(one, {"id": seed}, columns=2) + self.cypher(two, {"id": seed}, columns=2)
        return len({seed, *(row[1]["properties"]["id"] for row in rows)})

    def two_hops_by_node(self, seed: str) -> int:
        """The same by a query for each node, as graph stores with a get-the-edges-of-this-node method do."""
        query = "MATCH (s:Node)-[r:Edge]->(a:Node) WHERE s.id = $id RETURN r, a"
        seen, level = {seed}, [seed]
        for _ in range(2):
            rows = [row for node_id in level for row in self.cypher(query, {"id": node_id}, columns=2)]
            ahead = [row[1]["properties"]["id"] for row in rows]
            level = [node_id for node_id in dict.fromkeys(ahead) if node_id not in seen]
            seen.update(level)
        return len(seen)


def edge_rows(graph: GraphSnapshot, count: int) -> list[dict[str, Any]]:
    """The first ``count`` of the edges in a random order, so that batches do not favour neighbours in the index."""
    order = np.random.default_rng(1).permutation(graph.n_edges)[:count].tolist()
    keys = [(graph.edge_key(row), float(graph.weight[row])) for row in order]
    return [{"s": key.source, "t": key.target, "kind": key.kind, "weight": weight} for key, weight in keys]


def half_changed(graph: GraphSnapshot) -> tuple[list[Node], list[Edge]]:
    nodes = [Node(n.id, n.kind, f"{n.name}'" if row % 2 else n.name) for row, n in enumerate(graph.iter_nodes())]
    edges = [
        Edge(e.source, e.target, e.kind, e.weight + 1 if row % 2 else e.weight)
        for row, e in enumerate(graph.iter_edges())
    ]
    return nodes, edges


def timed(call: Callable[[], object]) -> float:
    gc.collect()
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def best(repeat: int, call: Callable[[], object]) -> float:
    return min(timed(call) for _ in range(repeat))


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """MiB by which the process grew at most during the block, sampled every 10 ms."""
    grown, done = [0.0], threading.Event()

    def resident() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed earlier must not hide what is taken now
    before = resident()

    def watch() -> None:
        while not done.wait(0.01):
            grown[0] = max(grown[0], resident() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield grown
    finally:
        done.set()
        watcher.join()


class Report:
    """Lines of ``what | way | seconds | times as long as graphport's``."""

    def __init__(self) -> None:
        self._base = 1.0

    def line(self, what: str, way: str, seconds: float, *, base: bool = False, scaled: bool = False) -> None:
        self._base = seconds if base else self._base
        mark = "~" if scaled else ""
        print(f"| {what} | {way} | {mark}{seconds:.4g} s | {mark}{seconds / self._base:.3g} |", flush=True)


def measure(dsn: str, graph: GraphSnapshot, repeat: int, part: int) -> None:
    peer, report = Peer(dsn, "peer"), Report()
    print(f"\n{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, AGE {peer.version}\n")
    print("| what | way | time | ratio |\n|---|---|---|---|")
    old = peer.version.startswith("1.5")  # its CREATE of an edge looks at every node
    few = min(graph.n_edges, part // 50 if old else part)
    with open_storage("age", dsn=dsn) as age, open_storage("postgres", dsn=dsn) as tables:
        assert isinstance(age, PostgresStorage)
        nodes, edges = list(graph.iter_nodes()), list(graph.iter_edges())
        report.line("load", "graphport age, bulk_load", best(repeat, lambda: age.bulk_load(graph)), base=True)
        report.line("load", "graphport postgres, bulk_load", best(repeat, lambda: tables.bulk_load(graph)))
        for storage, name in ((age, "age"), (tables, "postgres")):
            storage.clear()
            seconds = timed(lambda: storage.upsert_nodes(nodes)) + timed(lambda: storage.upsert_edges(edges))  # noqa: B023 - called here
            report.line("load", f"graphport {name}, upserts", seconds)
        report.line("load", "Cypher UNWIND CREATE, 1,000 rows", peer.load(graph, edges=few), scaled=few < graph.n_edges)
        report.line("load", "Cypher, a query a node", peer.one_by_one(graph, nodes=min(2000, part)), scaled=True)

        changed = half_changed(graph)
        for storage, name in ((age, "age"), (tables, "postgres")):
            storage.bulk_load(graph)
            seconds = timed(lambda: storage.upsert_nodes(changed[0])) + timed(lambda: storage.upsert_edges(changed[1]))  # noqa: B023 - called here
            report.line("upsert, half changed", f"graphport {name}", seconds, base=name == "age")
        if old:
            print("| upsert, half changed | Cypher UNWIND MERGE | AGE 1.5 loses properties | |")
        else:
            peer.graph = age.space
            seconds = peer.merge(graph, nodes=min(graph.n_nodes, part), edges=min(few, part // 50))
            report.line("upsert, half changed", "Cypher UNWIND MERGE SET", seconds, scaled=True)

        age.bulk_load(graph)
        tables.bulk_load(graph)
        peer.graph = age.space
        report.line("snapshot", "graphport age", best(repeat, age.snapshot), base=True)
        report.line("snapshot", "graphport postgres", best(repeat, tables.snapshot))
        report.line("snapshot", "Cypher MATCH RETURN", best(min(repeat, 2), peer.read))
        report.line("into igraph", "graphport age", best(repeat, lambda: into_igraph(age.snapshot())), base=True)
        report.line("into igraph", "Cypher MATCH RETURN", best(min(repeat, 2), lambda: rows_into_igraph(peer.read())))

        seeds = [graph.ids[row] for row in np.random.default_rng(2).integers(0, graph.n_nodes, SEEDS)]
        ways: dict[str, Callable[[str], int]] = {
            "graphport age": lambda seed: len(age.neighborhood([seed], depth=2, direction=Direction.OUT).nodes),
            "graphport postgres": lambda seed: len(tables.neighborhood([seed], depth=2, direction=Direction.OUT).nodes),
            "Cypher, two fixed patterns": peer.two_hops,
            "Cypher, a query a node": peer.two_hops_by_node,
        }
        assert len({tuple(map(way, seeds)) for way in ways.values()}) == 1, "they must find the same"
        for name, way in ways.items():
            seconds = best(repeat, lambda: [way(seed) for seed in seeds]) / SEEDS  # noqa: B023 - called here
            report.line(
                "2 hops, edges included" if "graphport" in name else "2 hops",
                name,
                seconds,
                base=name == "graphport age",
            )

        print("\nClient memory at most, beyond what was held before:\n")
        with peak_memory() as grown:
            count = sum(1 for _ in age.iter_edges())
        print(f"- iterating over {count:,} edges: {grown[0]:.1f} MiB")
        with peak_memory() as grown:
            kept = peer.read()
        print(f"- Cypher MATCH RETURN of {len(kept):,} edges: {grown[0]:.1f} MiB")
    peer.connection.close()


def into_igraph(graph: GraphSnapshot) -> igraph.Graph:
    ends = np.column_stack([graph.source_index, graph.target_index])
    return igraph.Graph(n=graph.n_nodes, edges=ends, directed=True, edge_attrs={"weight": graph.weight})


def rows_into_igraph(rows: list[tuple[Any, ...]]) -> igraph.Graph:
    place: dict[str, int] = {}
    edges = [(place.setdefault(row[0], len(place)), place.setdefault(row[1], len(place))) for row in rows]
    return igraph.Graph(n=len(place), edges=edges, directed=True, edge_attrs={"weight": [row[3] for row in rows]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dsn")
    parser.add_argument("--large", action="store_true", help="200,000 nodes and 1,000,000 edges")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--part", type=int, default=100_000, help="rows of the slow ways that are timed")
    given = parser.parse_args()
    with psycopg.connect(given.dsn, autocommit=True) as admin:
        name = sql.Identifier(DATABASE)
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        admin.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(name))
        try:
            dsn = make_conninfo(given.dsn, dbname=DATABASE)
            with psycopg.connect(dsn, autocommit=True) as fresh:
                fresh.execute("CREATE EXTENSION IF NOT EXISTS age")
            measure(
                dsn, make_graph(*(200_000, 1_000_000) if given.large else (20_000, 100_000)), given.repeat, given.part
            )
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


if __name__ == "__main__":
    main()
