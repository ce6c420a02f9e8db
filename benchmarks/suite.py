"""What ``all.py`` runs: each script in its full and its quick size, and where its figures are in what it prints."""

from __future__ import annotations

import re
from typing import NamedTuple


class Figure(NamedTuple):
    """``pattern`` is searched in the output; its first group is the figure. ``{n}`` is the run's graph size.

    ``reach`` is what the project set out to reach, such as ``>= 10``; "" where there is no such aim.
    """

    what: str
    pattern: str
    reach: str = ""


class Run(NamedTuple):
    """``full`` and ``quick`` are arguments of ``script``; DATA, ENTITIES and DSN among them are filled in.

    A run whose arguments need something that was not given is left out, and the table says so. ``sizes`` fill ``{n}``.
    """

    name: str
    script: str
    full: str
    quick: str
    figures: tuple[Figure, ...]
    sizes: tuple[str, str] = ("", "")


def _ours(ranked: str, column: int) -> str:
    """Column of graphport's row in the table of the graph of ``{n}`` nodes; 1 is the median."""
    return _row(rf"\*\*graphport top k\*\* \| {ranked}", column)


def _row(start: str, column: int) -> str:
    return rf"## {{n}} nodes.*?\| {start} \| \d+ \| " + r"[\d.]+ \| " * (column - 1) + r"(\d+(?:\.\d+)?)"


def _peer(engine: str) -> Figure:
    return Figure(f"{engine}: times igraph, median", _row(rf"{engine} \| all", 4))


PPR = Run(
    "pagerank",
    "ppr.py",
    "--nodes 10000 100000 1000000 5000000",
    "--nodes 10000 30000",
    (
        Figure("entries: times igraph, median", _ours("entries", 4), ">= 250"),
        Figure("entries: times igraph, p90", _ours("entries", 5), ">= 60"),
        Figure("entries: ms, median", _ours("entries", 1)),
        Figure("entries: ms, p90", _ours("entries", 2)),
        Figure("entries: ms, worst", _ours("entries", 3)),
        Figure("entries: sets in igraph's order, of 20", _ours("entries", 7), ">= 20"),
        Figure("all nodes: times igraph, median", _ours("all", 4), ">= 100"),
        Figure("all nodes: times igraph, least", _ours("all", 6), ">= 4"),
        Figure("all nodes: ms, median", _ours("all", 1)),
        Figure("all nodes: ms, p90", _ours("all", 2)),
        Figure("all nodes: ms, worst", _ours("all", 3)),
        Figure("all nodes: sets in igraph's order, of 20", _ours("all", 7), ">= 20"),
        Figure("a hub alone, entries: ms, worst", _row(r"graphport, a hub alone \| entries", 3)),
        Figure("a hub alone, all nodes: ms, worst", _row(r"graphport, a hub alone \| all", 3)),
        _peer("graphport chebyshev"),
        _peer("scikit-network"),
        _peer("fast-pagerank"),
        Figure("networkx, all, 10,000 nodes: ms, median", r"## 10,000 nodes.*?\| networkx \| all \| \d+ \| ([\d.]+)"),
        Figure("rustworkx, all, 10,000 nodes: ms, median", r"## 10,000 nodes.*?\| rustworkx \| all \| \d+ \| ([\d.]+)"),
        Figure("graphport, all, 10,000 nodes: ms, median", r"## 10,000 nodes.*?top k\*\* \| all \| \d+ \| ([\d.]+)"),
        Figure("matrix product: % of memory speed", r"## {n} nodes.*?One product.*?(\d+)% of memory speed"),
        Figure("entries: median at the largest size over 500k edges", r"Median at .*?entries (\d+\.\d+)", "<= 2"),
        Figure("entries: arcs visited, the same", r"Median at .*?entries [\d.]+ \(arcs visited: (\d+\.\d+)"),
        Figure("all nodes: median at the largest size over 500k edges", r"Median at .*?all (\d+\.\d+)", "<= 2"),
        Figure("all nodes: arcs visited, the same", r"Median at .*?all [\d.]+ \(arcs visited: (\d+\.\d+)"),
        Figure("memory peak at the largest size, MB", r"\| graphport \|(?: [\d,]+ \|){4} ([\d,]+)", "<= 2000"),
        Figure("memory peak of graphport beside igraph, MB", r"\| graphport \| {n} \|(?: [\d,]+ \|){3} ([\d,]+)"),
        Figure("memory peak of igraph, MB", r"\| igraph \| {n} \|(?: [\d,]+ \|){3} ([\d,]+)"),
    ),
    ("1,000,000", "30,000"),
)

PPR_85 = Run(
    "pagerank, damping 0.85",
    "ppr.py",
    "--nodes 1000000 --damping 0.85 --no-memory",
    "--nodes 10000 --damping 0.85 --no-memory",
    (
        Figure("entries: times igraph, median", _ours("entries", 4)),
        Figure("entries: ms, median", _ours("entries", 1)),
        Figure("entries: ms, worst", _ours("entries", 3)),
        Figure("all nodes: times igraph, median", _ours("all", 4)),
        Figure("all nodes: ms, worst", _ours("all", 3)),
    ),
    ("1,000,000", "10,000"),
)

BULK_LOAD = Run(
    "bulk load",
    "bulk_load.py",
    "--nodes 1000000 --edges 5000000",
    "--nodes 20000 --edges 100000",
    (
        Figure("memory: times faster than networkx", r"^memory +[\d.]+ s +([\d.]+)", ">= 10"),
        Figure("memory: share of networkx's memory", r"^memory +[\d.]+ s +[\d.]+ +\d+ MB +([\d.]+)", "<= 0.125"),
        Figure("memory, in a file: times faster", r"^memory, in a file +[\d.]+ s +([\d.]+)"),
        Figure("memory, in a file: share of memory", r"^memory, in a file +[\d.]+ s +[\d.]+ +\d+ MB +([\d.]+)"),
    ),
)

KNOWLEDGE_BASE = Run(
    "knowledge base",
    "knowledge_base.py",
    "--entries 100000",
    "--entries 1000 --queries 10 --folder benchmarks",
    (
        Figure("search, graph on over graph off, p50", r"^graph on / graph off, p50 +([\d.]+)", "<= 1.5"),
        Figure("search, graph off, p50 ms", r"^search, graph off, p50 / p90 ms +([\d.]+)"),
        Figure("search, graph on, p50 ms", r"^search, graph on, p50 / p90 ms +([\d.]+)"),
        Figure("entries added a second", r"^entries added a second .*?\) +([\d,]+)"),
        Figure("a folder indexed, no embedder: files/s", r"embedder none +([\d,]+) files/s"),
        Figure("a folder indexed, minilm: files/s", r"embedder minilm +([\d,]+) files/s"),
    ),
)

LIVE_WRITES = Run(
    "one write to a knowledge base",
    "live_writes.py",
    "--entries 100000",
    "--entries 1000 --repeat 2",
    (
        Figure(
            "an entry: ms with the next search beyond one alone",
            r"^add an entry with a new name +\S+ +\S+ +(\S+)",
            "<= 50",
        ),
        Figure("an entry: times indexing anew", r"^add an entry with a new name +\S+ +\S+ +\S+ +(\S+)x"),
        Figure(
            "an entity: ms with the next search beyond one alone", r"^add an entity that texts name +\S+ +\S+ +(\S+)"
        ),
        Figure(
            "a changed file: ms with the next search beyond one alone", r"^index, one file changed +\S+ +\S+ +(\S+)"
        ),
    ),
)


def _kuzu(driver: str) -> Run:
    times = r" +[\d.]+ +[\d.]+ +([\d.]+)"
    return Run(
        f"kuzu backend, {driver}",
        "kuzu_peers.py",
        f"--driver {driver} --large",
        f"--driver {driver} --rows 100",
        (
            Figure("load: times faster than UNWIND MERGE", "^load" + times),
            Figure("upsert: times faster than UNWIND MERGE", "^upsert, half changed" + times),
            Figure("snapshot: times faster than MATCH RETURN", "^snapshot" + times),
            Figure("snapshot into igraph: times faster", "^snapshot into igraph" + times, ">= 3"),
            Figure("2 hops: times faster than a query a node", "^2 hops from 20" + times),
        ),
    )


POSTGRES = Run(
    "postgres backend",
    "postgres_peers.py",
    "DSN --large",
    "DSN --repeat 1 --part 1000",
    (
        Figure(
            "age, load: times faster than UNWIND CREATE", r"load \| Cypher UNWIND CREATE.*?\| ~?([\d.,]+) \|$", ">= 10"
        ),
        Figure("age, upsert: times faster than UNWIND MERGE", r"half changed \| Cypher UNWIND.*?\| ~?([\d.,]+) \|$"),
        Figure("age, snapshot: times faster than MATCH RETURN", r"snapshot \| Cypher.*?\| ~?([\d.,]+) \|$", ">= 5"),
        Figure("age, snapshot into igraph: times faster", r"into igraph \| Cypher.*?\| ~?([\d.,]+) \|$", ">= 3"),
        Figure("age, 2 hops: times a query a node", r"2 hops \| Cypher, a query.*?\| ~?([\d.,]+) \|$"),
        Figure("client memory while streaming, MiB", r"iterating over [\d,]+ edges: ([\d.]+)"),
    ),
)


def _walk(name: str, reach: str = "") -> Figure:
    return Figure(f"{name}: walk, recall@5", rf"### {name}:.*?\| walk \| [\d.]+ \| ([\d.]+)", reach)


QUESTIONS = Run(
    "question sets",
    "question_sets.py",
    "DATA",
    "DATA musique --embedder wordllama",
    (_walk("2wiki", ">= 93"), _walk("hotpot", ">= 88"), _walk("hotpot_train"), _walk("musique", ">= 72")),
)

HITS = Run(
    "hits of a vector database",
    "question_sets_hits.py",
    "DATA",
    "DATA musique --embedder wordllama",
    tuple(
        Figure(
            f"{name}, the walk from the hits less the hits: recall@10",
            rf"^\| {name} \| the walk from .*?\| ([+-][\d.]+) \(",
        )
        for name in ("2wiki", "hotpot", "hotpot_train", "musique")
    ),
)

LINKERS = Run(
    "linkers",
    "question_sets_linkers.py",
    "DATA",
    "DATA musique --embedder wordllama",
    tuple(
        Figure(f"musique, {asked}, {linkers}: recall@5", rf"musique \| {asked} \| {re.escape(linkers)} \| ([\d.]+)")
        for asked in ("as they are", "a letter wrong")
        for linkers in ("containment", "+ fuzzy")
    ),
)

SINGLE = Run(
    "questions of one passage",
    "question_sets_single.py",
    "DATA",
    "DATA musique --embedder wordllama",
    tuple(
        Figure(
            f"{name}, a sentence: walk less hybrid, recall@5",
            rf"^\| {name} \|[^|]*a sentence \| recall@5.*?\| ([+-][\d.]+) \(",
        )
        for name in ("2wiki", "hotpot", "hotpot_train", "musique")
    ),
)

SNAPSHOTS = Run(
    "snapshots",
    "snapshots.py",
    "--dsn DSN",
    "--dsn DSN --nodes 20000 --postgres-nodes 2000 --repeat 1",
    (
        *(
            Figure(
                f"{backend}, after a one-entry write: a read over a patch",
                rf"^## After a one-entry.*?^\| {backend} \|(?: [\d.,]+ \|){{4}} (\d+)",
            )
            for backend in ("memory", "postgres", "age")
        ),
        *(
            Figure(  # of the larger of two graphs, the last row
                f"first question after a one-entry write, {what}: made anew over spliced",
                rf"^\| {what} \| entry \|(?: [\d.,]+ \|){{4}} ([\d.]+)(?!.*^\| {what} \| entry)",
            )
            for what in ("matrix of ranking", "arcs of a search")
        ),
        Figure("cold start to the first answer, read: s", r"^\| memory \| read \|(?: [\d.]+ \|){2} ([\d.]+)"),
        Figure("cold start to the first answer, mapped: s", r"^\| memory \| mapped \|(?: [\d.]+ \|){2} ([\d.]+)"),
        Figure("four processes, read: MiB in all", r"^\| read \| 4 \| [\d,]+ \| ([\d,]+)"),
        Figure("four processes, mapped: MiB in all", r"^\| mapped \| 4 \| [\d,]+ \| ([\d,]+)"),
    ),
)

CALLS = Run(
    "call edges, PyCG",
    "callgraph.py",
    "",
    "",
    (
        Figure("precision", r"^all +\d+ +([\d.]+) /", ">= 97"),
        Figure("recall", r"^all +\d+ +[\d.]+ / +([\d.]+)", ">= 65"),
    ),
)

TRACED = Run(
    "call edges, traced packages",
    "callgraph_traced.py",
    "",
    "sqlparse",
    tuple(
        Figure(f"{name}: {what}", rf"^{name} +\d+ +calls +" + before + r"([\d.]+)", reach)
        for name in ("click", "jinja2", "sqlparse", "markdown", "mistune", "tomlkit")
        for what, before, reach in (("precision", "", ">= 95"), ("recall", r"[\d.]+ +", ">= 75"))
    ),
)

CODE_INDEXING = Run(
    "code indexing",
    "code_indexing.py",
    "",
    "benchmarks",
    (
        Figure("lines a second, both steps", r"both steps +\d+, ([\d,]+)"),
        Figure("everything again over one edit, median", r"median of edits ([\d,]+) : 1"),
    ),
)

ENTITIES = Run(
    "entities",
    "entities.py",
    "ENTITIES",
    "ENTITIES",
    (
        Figure("resolved: precision", r"^resolved +([\d.]+) /", ">= 85"),
        Figure("resolved: recall", r"^resolved +[\d.]+ / +([\d.]+)", ">= 85"),
    ),
)

ENTITIES_LIVE = Run(
    "an entity added live",
    "entities_live.py",
    "",
    "--chapters 60 --words 300",
    (Figure("indexing again over one add_entity", r"^indexing again .* = (\d+) : 1$"),),
)

RELATIONS = Run(
    "relations between entities",
    "relations.py",
    "ENTITIES",
    "ENTITIES",
    (
        Figure("index without relations, s", r"^none +([\d.]+)"),
        Figure("index with co_occurs: 20, s", r"^co_occurs: 20 +([\d.]+)"),
    ),
)

MATCHING = Run(
    "name matching",
    "matching.py",
    "",
    "--megabytes 0.2 --regex-limit 100",
    (
        Figure("MB/s at 100 names", r"^ +100 +[\d.]+ +([\d.]+)"),
        Figure("times faster than `re` at 100 names", r"^ +100 +[\d.]+ +[\d.]+ +[\d.]+ +(\d+)"),
        Figure("times faster than `re` at 10,000 names", r"^ +10000 +[\d.]+ +[\d.]+ +[\d.]+ +(\d+)"),
        Figure("MB/s at 100,000 names", r"^ +100000 +[\d.]+ +([\d.]+)"),
    ),
)

SERVER = Run(
    "server",
    "serve_load.py",
    "--entries 20000 --minutes 10",
    "--entries 300 --seconds 2 --minutes 0.05",
    (
        Figure("search, graph on: requests/s", r"^graph on +\d+ +(\d+)"),
        Figure("search, graph on: p99 ms", r"^graph on +\d+ +\d+ +[\d.]+ +([\d.]+)"),
        Figure("search, graph off: requests/s", r"^graph off +\d+ +(\d+)"),
        Figure("refused with 503 at 4x overload", r"^graph on, overload.*? (\d+)$"),
        Figure("memory at the start, MiB", r"searches/s: 0: ([\d.]+)"),
        Figure("memory at the end, MiB", r"^memory MiB.*: ([\d.]+)$"),
        Figure("first answer after the overload, ms", r"^first answer after the overload: ([\d.]+)"),
    ),
)

STREAM = Run(
    "memory bandwidth",
    "stream.py",
    "",
    "",
    (Figure("copy, GB/s", r"^copy +([\d.]+)"), Figure("triad, GB/s", r"^triad +([\d.]+)")),
)

RUNS = (
    STREAM, PPR, PPR_85, BULK_LOAD, KNOWLEDGE_BASE, LIVE_WRITES, _kuzu("ladybug"), _kuzu("kuzu"), POSTGRES, SNAPSHOTS,
    QUESTIONS, SINGLE, HITS, LINKERS, CALLS, TRACED, CODE_INDEXING, ENTITIES, ENTITIES_LIVE, RELATIONS, MATCHING,
    SERVER,
)  # fmt: skip
