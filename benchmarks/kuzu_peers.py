"""The Kuzu backend against what other projects do on the same engine, as ratios in one run.

    python benchmarks/kuzu_peers.py [--driver ladybug|kuzu] [--large] [--rows N]

20,000 nodes and 100,000 edges; with --large 200,000 and 1,000,000. The peers' ways, each in a database of its
own with the engine's defaults:

- load and upsert: ``UNWIND $rows ... MERGE`` in batches of 1,000 rows (the batched way of most graph RAG
  projects), nodes first. A batch costs more the larger the graph is, up to a minute for a thousand edges, so
  that at most --rows rows (default 5,000 of nodes and of edges) are written, into a graph that is as large as
  it will be, and the time is scaled; for the load by half, for there the graph is half as large on average.
- snapshot: ``MATCH (a)-[e]->(b) RETURN ...``, read row by row, ids made indices by a dict.
- snapshot into igraph: the same, and the igraph graph made of it.
- 2 hops: from 20 nodes, one query per node and direction, and the edges between what was found.

"upsert" writes every node and edge again, half of them changed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util  # kuzu's C++ part needs it imported
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import igraph  # type: ignore[import-untyped]  # it brings no types
import numpy as np

from graphport import Edge, GraphSnapshot, Node, open_storage
from graphport_kuzu.plugin import KUZU

BATCH = 1_000
SEEDS = 20
REPEATS = 3
POOL = 2 * 2**30


def timed(action: Callable[[], object], repeats: int = 1) -> float:
    """Median seconds."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def random_graph(n: int, m: int) -> tuple[list[Node], list[Edge]]:
    chance = np.random.default_rng(7)
    ids = [f"node:{number:08d}:of some document" for number in range(n)]
    kinds = chance.integers(0, 5, n).tolist()
    nodes = [Node(i, f"kind{k}", f"name of {i}", None, {"text": "x" * 40}) for i, k in zip(ids, kinds, strict=True)]
    key = np.unique(chance.integers(0, n * n * 8, m + m // 50))[:m]
    chance.shuffle(key)
    edges = [
        Edge(ids[pair // n], ids[pair % n], f"rel{kind}", float(weight))
        for pair, kind, weight in zip((key // 8).tolist(), (key % 8).tolist(), chance.random(len(key)), strict=True)
    ]
    return nodes, edges


class Peer:
    """Cypher as it is written elsewhere."""

    def __init__(self, driver: str, file: Path) -> None:
        module: Any = importlib.import_module(driver)
        self.database = module.Database(str(file), buffer_pool_size=POOL, max_db_size=1 << 36)
        self.connection = module.Connection(self.database)
        self.run("CREATE NODE TABLE Node(id STRING PRIMARY KEY, kind STRING, name STRING, entry STRING, props STRING)")
        self.run("CREATE REL TABLE Edge(FROM Node TO Node, kind STRING, weight DOUBLE, props STRING)")

    def close(self) -> None:
        self.connection.close()
        self.database.close()

    def run(self, query: str, parameters: dict[str, Any] | None = None) -> None:
        self.connection.execute(query, parameters or {}).close()

    def fill(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """The whole graph, by the fastest way there is: what the timed batches write into."""
        from graphport_kuzu.rows import edge_table, node_table

        self.run("COPY Node FROM $t", {"t": node_table(nodes)})
        self.run("COPY Edge FROM $t", {"t": edge_table(edges)})

    def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        for first in range(0, len(nodes), BATCH):
            rows = [
                {"id": node.id, "kind": node.kind, "name": node.name, "props": str(node.props)}
                for node in nodes[first : first + BATCH]
            ]
            self.run(
                "UNWIND $rows AS r MERGE (n:Node {id: r.id}) SET n.kind = r.kind, n.name = r.name, n.props = r.props",
                {"rows": rows},
            )

    def upsert_edges(self, edges: Sequence[Edge]) -> None:
        for first in range(0, len(edges), BATCH):
            rows = [
                {"s": edge.source, "t": edge.target, "kind": edge.kind, "weight": edge.weight, "props": "none"}
                for edge in edges[first : first + BATCH]
            ]
            self.run(
                "UNWIND $rows AS r MATCH (a:Node {id: r.s}) MATCH (b:Node {id: r.t}) "
                "MERGE (a)-[e:Edge {kind: r.kind}]->(b) SET e.weight = r.weight, e.props = r.props",
                {"rows": rows},
            )

    def rows(self, query: str, parameters: dict[str, Any] | None = None) -> list[list[Any]]:
        with self.connection.execute(query, parameters or {}) as result:
            found = []
            while result.has_next():
                found.append(result.get_next())
            return found

    def snapshot(self) -> tuple[list[str], list[tuple[int, int]], list[float]]:
        ids = [row[0] for row in self.rows("MATCH (n:Node) RETURN n.id, n.kind, n.name, n.entry")]
        index = {node_id: number for number, node_id in enumerate(ids)}
        edges = self.rows("MATCH (a:Node)-[e:Edge]->(b:Node) RETURN a.id, b.id, e.kind, e.weight")
        return ids, [(index[a], index[b]) for a, b, _, _ in edges], [weight for *_, weight in edges]

    def neighbors(self, node_id: str, arrow: str) -> list[list[Any]]:
        query = f"MATCH (a:Node {{id: $id}}){arrow}(b:Node) RETURN b.id, b.name, e.kind, e.weight"
        return self.rows(query, {"id": node_id})

    def two_hops(self, seeds: Sequence[str]) -> tuple[set[str], int]:
        """Nodes within two steps, and the number of edges between them."""
        found, level = set(seeds), list(seeds)
        edges: set[tuple[str, str, str]] = set()
        for _ in range(2):
            ahead: set[str] = set()
            for node_id in level:
                out, into = (self.neighbors(node_id, arrow) for arrow in ("-[e:Edge]->", "<-[e:Edge]-"))
                edges.update((node_id, there, kind) for there, _, kind, _ in out)
                edges.update((there, node_id, kind) for there, _, kind, _ in into)
                ahead.update(row[0] for row in (*out, *into))
            level = sorted(ahead - found)
            found.update(level)
        for node_id in level:
            edges.update((node_id, there, kind) for there, _, kind, _ in self.neighbors(node_id, "-[e:Edge]->"))
        return found, sum(a in found and b in found for a, b, _ in edges)


def into_igraph(n: int, edges: Any, weights: Any) -> igraph.Graph:
    graph = igraph.Graph(n=n, edges=edges)
    graph.es["weight"] = weights
    return graph


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", choices=["ladybug", "kuzu"], default="ladybug")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rows", type=int, default=5_000)
    given = parser.parse_args()
    n, m = (200_000, 1_000_000) if given.large else (20_000, 100_000)
    nodes, edges = random_graph(n, m)
    changed_nodes = [replace(node, name="changed") if i % 2 else node for i, node in enumerate(nodes)]
    changed_edges = [replace(edge, weight=edge.weight + 1) if i % 2 else edge for i, edge in enumerate(edges)]
    with tempfile.TemporaryDirectory() as folder:
        table = compare(given.driver, Path(folder), (nodes, edges), (changed_nodes, changed_edges), given.rows)
    print(f"{given.driver}, {n:,} nodes, {m:,} edges: seconds\n")
    print(f"{'':24}{'graphport':>12}{'peers':>12}{'times':>10}")
    for name, ours, theirs, note in table:
        print(f"{name:24}{ours:12.3f}{theirs:12.3f}{theirs / ours:10.1f}  {note}")


def compare(
    driver: str, folder: Path, graph: tuple[list[Node], list[Edge]], changed: tuple[list[Node], list[Edge]], most: int
) -> list[tuple[str, float, float, str]]:
    nodes, edges = graph
    snapshot = GraphSnapshot.from_rows(nodes, edges)
    seeds = [nodes[number].id for number in range(0, len(nodes), len(nodes) // SEEDS)][:SEEDS]
    with (
        open_storage(KUZU, path=folder / "store", driver=driver, buffer_pool_size=POOL) as store,
        closing(Peer(driver, folder / "peer.db")) as peer,
    ):
        load = timed(lambda: store.bulk_load(snapshot), REPEATS)
        peer.fill(nodes, edges)

        def upsert() -> None:
            with store.transaction():
                store.upsert_nodes(changed[0])
                store.upsert_edges(changed[1])

        ours = {
            "snapshot": timed(store.snapshot, REPEATS),
            "snapshot into igraph": timed(lambda: ranked(store.snapshot()), REPEATS),
            f"2 hops from {SEEDS}": timed(lambda: store.neighborhood(seeds, depth=2, max_nodes=len(nodes)), REPEATS),
        }
        theirs = {
            "snapshot": timed(peer.snapshot, REPEATS),
            "snapshot into igraph": timed(lambda: peer_ranked(*peer.snapshot()), REPEATS),
            f"2 hops from {SEEDS}": timed(lambda: peer.two_hops(seeds), REPEATS),
        }
        found = store.neighborhood(seeds, depth=2, max_nodes=len(nodes))
        assert (set(found.depths), len(found.edges)) == peer.two_hops(seeds), "the two answer differently"
        upserting = timed(upsert)
        some_nodes, some_edges = changed[0][:most], changed[1][:most]
        scaled = timed(lambda: peer.upsert_nodes(some_nodes)) * len(nodes) / len(some_nodes)
        scaled += timed(lambda: peer.upsert_edges(some_edges)) * len(edges) / len(some_edges)
        note = "" if most >= len(edges) else f"scaled from {most:,} rows of each"
    return [
        ("load", load, scaled / 2, note),
        ("upsert, half changed", upserting, scaled, note),
        *((name, seconds, theirs[name], "") for name, seconds in ours.items()),
    ]


def ranked(graph: GraphSnapshot) -> igraph.Graph:
    pairs = zip(graph.source_index.tolist(), graph.target_index.tolist(), strict=True)  # igraph takes arrays slowly
    return into_igraph(graph.n_nodes, list(pairs), graph.weight)


def peer_ranked(ids: list[str], edges: list[tuple[int, int]], weights: list[float]) -> igraph.Graph:
    return into_igraph(len(ids), edges, weights)


if __name__ == "__main__":
    main()
