"""Personalized PageRank: graphport against its peers, by size, with memory. Prints Markdown.

    python benchmarks/ppr.py                        # 10k, 100k and 1M nodes (5M edges), some minutes
    python benchmarks/ppr.py --nodes 100000 1000000 5000000 --alone    # 500k to 25M edges, graphport alone

Times are CPU time of this process with one thread, each engine right after the other on the same seeds;
compare within a table only. 20 seed sets: ten of one to five entities, drawn as often as they are
mentioned, and ten of one of the ten largest hubs with two such entities. How cost grows with the graph is
told by 200 other sets, half of each sort: the median of 20 differs by half from one draw to the next.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from machine import sentence
from ppr_graphs import knowledge_graph
from ppr_memory import HEAD as HEAD_MEMORY
from ppr_memory import memory_row
from ppr_ours import K, Rank, by_scores, engine, ours, seed_sets
from ppr_peers import PEERS, installed
from stream import rates

from graphport import GraphSnapshot, top_personalized_pagerank
from graphport.rank.arrays import Mask
from graphport.rank.pagerank import Engine
from graphport.rank.walk import walk_of

SLOW_PEER_SETS = 4
ENGINES: tuple[Engine, ...] = ("chebyshev", "push")
GROWTH_SETS = 200
FLAT_FROM = 100_000
IGRAPH_MAX = PEERS["igraph"].max_nodes


class Timing(NamedTuple):
    milliseconds: list[float]
    orders: list[list[str]]

    def at(self, quantile: float) -> float:
        return float(np.quantile(self.milliseconds, quantile))

    def part(self, of: slice) -> Timing:
        return Timing(self.milliseconds[of], self.orders[of])


class Size(NamedTuple):
    """What a graph of one size costs: milliseconds at the median and p90, and arcs visited at the median."""

    median: float
    p90: float
    arcs: float

    @classmethod
    def of(cls, graph: GraphSnapshot, damping: float, among: Mask | None, sets: list[list[int]]) -> Size:
        milliseconds, arcs = [], []
        for rows in sets:
            seeds = [graph.ids[row] for row in rows]
            start = time.process_time()
            found = top_personalized_pagerank(graph, seeds, K, among=among, damping=damping)
            milliseconds.append((time.process_time() - start) * 1e3)
            arcs.append(found.work)
        return cls(float(np.median(milliseconds)), float(np.quantile(milliseconds, 0.9)), float(np.median(arcs)))


def timed(rank: Rank, sets: list[list[int]]) -> Timing:
    rank(sets[0])  # builds what is kept with the graph
    milliseconds, orders = [], []
    for rows in sets:
        start = time.process_time()
        orders.append(rank(rows))
        milliseconds.append((time.process_time() - start) * 1e3)
    return Timing(milliseconds, orders)


def line(name: str, ranked: str, found: Timing, reference: Timing | None) -> str:
    cells = [name, ranked, str(len(found.milliseconds)), *(f"{found.at(q):.1f}" for q in (0.5, 0.9, 1.0))]
    if reference is None:
        return "| " + " | ".join([*cells, "", "", "", ""]) + " |"
    n = len(found.milliseconds)
    least = min(a / b for a, b in zip(reference.milliseconds, found.milliseconds, strict=False))
    same = sum(a == b for a, b in zip(reference.orders, found.orders, strict=False))
    faster = [f"{reference.at(q) / found.at(q):.1f}" for q in (0.5, 0.9)]
    return "| " + " | ".join([*cells, *faster, f"{least:.1f}", f"{same}/{n}"]) + " |"


HEAD = """| engine | ranked | seed sets | median ms | p90 | worst | times igraph: median | p90 | least | same order |
|---|---|---|---|---|---|---|---|---|---|"""


def compare(n_nodes: int, damping: float, *, alone: bool) -> tuple[list[str], dict[str, Size]]:
    graph = knowledge_graph(n_nodes)
    ordinary, hubs = seed_sets(graph)
    sets, mask = ordinary + hubs, graph.entry_mask()
    out = [f"\n## {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, damping {damping}\n", HEAD]
    reference: dict[str, Timing] = {}
    if n_nodes <= IGRAPH_MAX and not alone:
        query = PEERS["igraph"].build(graph, damping)
        for ranked, among in (("entries", mask), ("all", None)):
            reference[ranked] = timed(by_scores(graph, query, among), sets)
            out.append(line("igraph", ranked, reference[ranked], reference[ranked]))
        del query
    found: dict[str, Timing] = {}
    sizes: dict[str, Size] = {}
    many = [rows for sort in seed_sets(graph, seed=6, of_each=GROWTH_SETS // 2) for rows in sort]
    for ranked, among in (("entries", mask), ("all", None)):
        found[ranked] = timed(ours(graph, damping, among), sets)
        out.append(line("**graphport top k**", ranked, found[ranked], reference.get(ranked)))
        for name, part in (("ordinary seeds", slice(0, 10)), ("with a hub", slice(10, 20))):
            half, base = (
                Timing(t.milliseconds[part], t.orders[part]) if t else None
                for t in (found[ranked], reference.get(ranked))
            )
            out.append(line(f"of these {name}", ranked, half, base))
        one_hub = timed(ours(graph, damping, among), [rows[:1] for rows in hubs])
        out.append(line("graphport, a hub alone", ranked, one_hub, None))
        sizes[ranked] = Size.of(graph, damping, among, many)
    few = slice(None, None, len(sets) // SLOW_PEER_SETS)
    base = reference["all"].part(few) if reference else None
    for name in ENGINES:
        result = timed(by_scores(graph, engine(graph, name, damping), None), sets[few])
        out.append(line(f"graphport {name}", "all", result, base))
    for name, peer in PEERS.items():
        if alone or name == "igraph" or not installed(peer) or n_nodes > peer.max_nodes:
            continue
        result = timed(by_scores(graph, peer.build(graph, damping), None), sets[few])
        out.append(line(name, "all", result, base))
    out.append(f"\n{bandwidth(graph)}")
    return out, sizes


def bandwidth(graph: GraphSnapshot) -> str:
    """How far one pass over the matrix is from moving its bytes at memory speed."""
    step = walk_of(graph).step
    vector = np.random.default_rng(0).random(graph.n_nodes)
    product = min(_seconds(lambda: step @ vector) for _ in range(5))
    fastest = max(rates().values())
    limit = (step.data.nbytes + step.indices.nbytes + step.indptr.nbytes + 2 * vector.nbytes) / fastest / 1e9
    speed = f"{limit / product:.0%} of memory speed ({fastest:.0f} GB/s)"
    return f"One product with the matrix: {product * 1e3:.1f} ms, {speed}."


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def flatness(found: dict[int, dict[str, Size]]) -> str:
    """What a question costs on the largest graph against the smallest of half a million edges or more."""
    sizes = sorted(n_nodes for n_nodes in found if n_nodes >= FLAT_FROM) or sorted(found)
    large, small = found[sizes[-1]], found[sizes[0]]
    told = [
        f"{ranked} {large[ranked].median / small[ranked].median:.2f} (arcs visited: "
        f"{large[ranked].arcs / small[ranked].arcs:.2f})"
        for ranked in ("entries", "all")
    ]
    return f"\nMedian at {sizes[-1]:,} nodes over that at {sizes[0]:,}: {', '.join(told)}.\n"


def memory_rows(sizes: list[int], *, alone: bool) -> list[str]:
    """The largest graph, and the largest that igraph is asked for with igraph beside it."""
    rows = [("graphport", max(sizes))]
    both = [n_nodes for n_nodes in sizes if n_nodes <= IGRAPH_MAX and not alone]
    if both:
        rows += [("graphport", max(both)), ("igraph", max(both))]
    return [memory_row(name, n_nodes) for name, n_nodes in dict.fromkeys(rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--damping", type=float, nargs="+", default=[0.5])
    parser.add_argument("--alone", action="store_true", help="graphport without its peers")
    parser.add_argument("--no-memory", action="store_true")
    options = parser.parse_args()
    print(f"# Personalized PageRank\n\n{sentence()}")
    growth = [
        f"\n## Growth: graphport top k, milliseconds, {GROWTH_SETS} seed sets\n",
        "| nodes | damping | entries: median | p90 | arcs visited | all: median | p90 | arcs visited |",
        "|---|---|---|---|---|---|---|---|",
    ]
    flat: list[str] = []
    for damping in options.damping:
        by_size: dict[int, dict[str, Size]] = {}
        for n_nodes in options.nodes:
            table, by_size[n_nodes] = compare(n_nodes, damping, alone=options.alone)
            print("\n".join(table), flush=True)
            cells = [f"{size.median:.1f} | {size.p90:.1f} | {size.arcs:,.0f}" for size in by_size[n_nodes].values()]
            growth.append(f"| {n_nodes:,} | {damping} | {' | '.join(cells)} |")
        flat.append(flatness(by_size))
    print("\n".join([*growth, *flat]))
    if not options.no_memory:
        print("\n".join([HEAD_MEMORY, *memory_rows(options.nodes, alone=options.alone)]))


if __name__ == "__main__":
    main()
