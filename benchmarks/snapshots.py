"""What keeping up costs: a patch beside a new snapshot, a mapped cold start beside a read one, memory and writes.

    python benchmarks/snapshots.py [--nodes 1000000] [--dsn DSN] [--postgres-nodes 20000] [--repeat 5] [--walk]

One Markdown table a question. A write is one entry: a passage with twelve mentions. ``memory`` is the in-process
backend with its file; with a DSN (a superuser's on a server with AGE, ``scripts/postgres-age.sh start`` prints one) the
same is done on ``postgres`` and ``age``, in a database that is made there and dropped. Times are medians; trust the
ratios. ``first answer`` is the best 20 passages by `top_personalized_pagerank`. ``--walk``: only the last table, what
the first question after a write waits for, at a tenth of the nodes and at all of them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from ppr_graphs import knowledge_graph
from psycopg import sql
from psycopg.conninfo import make_conninfo

from graphport import Edge, GraphSnapshot, GraphStorage, Node, open_storage, top_personalized_pagerank
from graphport.rank.walk import walk_of
from graphport.retrieval.pointing import pointing_graph, specificity
from graphport.snapshot import snapshot_of

DATABASE = "graphport_snapshots"
WORKERS = 4
Options = dict[str, Any]


def write_entry(storage: GraphStorage, number: int, ids: list[str]) -> None:
    """One entry: a passage and its mentions, in one transaction."""
    passage = Node(f"passage {number}", "passage", f"passage {number}", f"entry {number}")
    with storage.transaction():
        storage.upsert_nodes([passage])
        storage.upsert_edges(
            [Edge(passage.id, ids[(number * 7919 + i * 104_729) % len(ids)], "mentions") for i in range(12)]
        )


def first_answer(graph: GraphSnapshot) -> None:
    top_personalized_pagerank(graph, [graph.ids[len(graph.ids) // 2]], 20, among="passage")


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# -- keeping up --------------------------------------------------------------------------------------


def keeping_up(backend: str, options: Options, graph: GraphSnapshot, repeat: int) -> None:
    """Prints the row of a backend: after a one-entry write, the kept snapshot patched and a new one read."""
    ids = list(graph.ids)
    with open_storage(backend, **options) as storage:
        first_answer(snapshot_of(storage))
        patches, reads, after_patch, after_read = ([] for _ in range(4))
        for number in range(repeat):
            write_entry(storage, number, ids)
            patches.append(timed(lambda: snapshot_of(storage)))
            after_patch.append(timed(lambda: first_answer(snapshot_of(storage))))
            with open_storage(backend, **options) as other:  # nothing is kept by this one
                reads.append(timed(lambda it=other: it.snapshot()))
                fresh = other.snapshot()
            assert fresh.same_as(snapshot_of(storage))
            after_read.append(timed(lambda it=fresh: first_answer(it)))
    patch, read, ranked, ranked_anew = map(statistics.median, (patches, reads, after_patch, after_read))
    print(
        f"| {backend} | {graph.n_nodes:,} | {graph.n_edges:,} | {patch:.3f} | {read:.3f} | {read / patch:.0f} |"
        f" {ranked:.3f} | {ranked_anew:.3f} | {(read + ranked_anew) / (patch + ranked):.0f} |",
        flush=True,
    )


# -- the walk ------------------------------------------------------------------------------------------


def write_edge(storage: GraphStorage, number: int, ids: list[str]) -> None:
    storage.upsert_edges([Edge(ids[number * 7919 % len(ids)], ids[number * 104_729 % len(ids)], "related", 2.0)])


def cpu_timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def walks_after_writes(graph: GraphSnapshot, repeat: int) -> None:
    """Prints what it costs to splice what is derived, and to make it anew, which gives the same."""
    ids = list(graph.ids)
    derived: dict[str, Callable[[GraphSnapshot], tuple[NDArray[Any], ...]]] = {
        "matrix of ranking": lambda it: (walk_of(it).step.data, walk_of(it).step.indices, walk_of(it).degree),
        "arcs of a search": lambda it: (pointing_graph(it).weight, pointing_graph(it).target_index, specificity(it)),
    }
    with open_storage("memory") as storage:
        storage.bulk_load(graph)
        for (name, derive), write in product(derived.items(), (write_edge, write_entry)):
            derive(snapshot_of(storage))
            spliced, anew = list[float](), list[float]()
            for number in range(1, repeat + 1):
                write(storage, number, ids)
                kept, fresh = snapshot_of(storage), storage.snapshot()
                spliced.append(cpu_timed(partial(derive, kept)))
                anew.append(cpu_timed(partial(derive, fresh)))
                assert all(map(np.array_equal, derive(kept), derive(fresh)))
            after, before = statistics.median(spliced), statistics.median(anew)
            ratio = statistics.median(b / a for a, b in zip(spliced, anew, strict=True))
            what = f"{name} | {write.__name__.removeprefix('write_')} | {graph.n_nodes:,} | {graph.n_edges:,}"
            print(f"| {what} | {after:.4f} | {before:.3f} | {ratio:.1f} |", flush=True)


# -- cold starts, each in a process of its own ---------------------------------------------------------


def child(action: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(Path(__file__).resolve()), "--child", action, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> dict[str, float]:
    out, _ = process.communicate()
    assert process.returncode == 0
    found: dict[str, float] = json.loads(out)
    return found


def cold_start(backend: str, options: str, folder: str) -> None:
    """In the child: opens, takes the snapshot and ranks; seconds of both, once the imports are done."""
    storage = open_storage(backend, **json.loads(options))
    start = time.perf_counter()
    graph = snapshot_of(storage, folder=folder or None)
    taken = time.perf_counter()
    first_answer(graph)
    print(json.dumps({"snapshot": taken - start, "answer": time.perf_counter() - taken, "mib": _peak()}))


def cold_starts(backend: str, options: Options, repeat: int, cache: Path) -> None:
    given = json.dumps(options, default=str)
    said(child("cold_start", backend, given, str(cache)))  # writes the folder
    for name, folder in (("read", ""), ("mapped", str(cache))):
        runs = [said(child("cold_start", backend, given, folder)) for _ in range(repeat)]
        snapshot, answer, mib = (statistics.median(run[key] for run in runs) for key in ("snapshot", "answer", "mib"))
        print(
            f"| {backend} | {name} | {snapshot:.3f} | {answer:.3f} | {snapshot + answer:.3f} | {mib:,.0f} |", flush=True
        )


def hold(folder: str) -> None:
    """In the child: maps (or, after ``read:``, reads) a snapshot, ranks, says its memory when asked, and waits."""
    graph = GraphSnapshot.load(folder.removeprefix("read:"), mmap=not folder.startswith("read:"))
    first_answer(graph)
    print("ready", flush=True)
    sys.stdin.readline()
    rollup = Path("/proc/self/smaps_rollup").read_text()
    print(json.dumps({key: int(rollup.split(f"\n{key}:")[1].split()[0]) / 1024 for key in ("Rss", "Pss")}), flush=True)
    sys.stdin.readline()


def sharing(folder: Path) -> None:
    """Prints what some processes cost together, each with the whole graph."""
    for name, place in (("read", f"read:{folder}"), ("mapped", str(folder))):
        children = [child("hold", place) for _ in range(WORKERS)]
        memory = []
        for process in children:
            assert process.stdout is not None
            process.stdout.readline()
        for process in children:  # all have ranked: now the pages are shared by all of them
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("say\n")
            process.stdin.flush()
            memory.append(json.loads(process.stdout.readline()))
        for process in children:
            process.communicate("end\n")
        rss, pss = (sum(found[key] for found in memory) for key in ("Rss", "Pss"))
        print(f"| {name} | {WORKERS} | {rss / WORKERS:,.0f} | {pss:,.0f} |", flush=True)


# -- memory of a full read -----------------------------------------------------------------------------


def full_read(backend: str, options: str) -> None:
    """In the child: how far memory rose while a snapshot was read, and what the snapshot is of that, in MiB."""
    storage = open_storage(backend, **json.loads(options))
    storage.revision()
    before = _resident()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the imports
    graph = storage.snapshot()
    peak = _peak() - before
    print(json.dumps({"peak": peak, "size": _size(graph), "edges": graph.n_edges}))


def _size(graph: GraphSnapshot) -> float:
    columns = ("node_kind", "edge_kind", "source_index", "target_index", "weight")
    size = sum(getattr(graph, column).nbytes for column in columns)
    texts: dict[int, int] = {}
    for column in {id(texts): texts for texts in (graph.ids, graph.names, graph.entries)}.values():
        size += 8 * len(column)
        texts |= {id(text): sys.getsizeof(text) for text in column if text is not None}
    return (size + sum(texts.values())) / 2**20


def full_reads(backend: str, options: Options) -> None:
    run = said(child("full_read", backend, json.dumps(options, default=str)))
    peak, size = run["peak"], run["size"]
    print(f"| {backend} | {run['edges']:,.0f} | {size:,.0f} | {peak:,.0f} | {peak / size:.1f} |", flush=True)


def _resident() -> float:
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def _peak() -> float:
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


# -- one run -------------------------------------------------------------------------------------------


@contextmanager
def database(dsn: str) -> Iterator[str]:
    name = sql.Identifier(DATABASE)
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        admin.execute(sql.SQL("CREATE DATABASE {}").format(name))
        own = make_conninfo(dsn, dbname=DATABASE)
        with psycopg.connect(own) as fresh:
            fresh.execute("CREATE EXTENSION age")
        yield own
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        {"cold_start": cold_start, "hold": hold, "full_read": full_read}[sys.argv[2]](*sys.argv[3:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--dsn")
    parser.add_argument("--postgres-nodes", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--walk", action="store_true")
    arguments = parser.parse_args()
    if not arguments.walk:
        snapshots(arguments)
    print("\n## The first question after a write, CPU seconds\n")
    print("| what | write of an | nodes | edges | spliced | anew | ratio |\n|---|---|---|---|---|---|---|", flush=True)
    for n_nodes in (arguments.nodes // 10, arguments.nodes):
        walks_after_writes(knowledge_graph(n_nodes), arguments.repeat)


def snapshots(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        stores: list[tuple[str, Options, GraphSnapshot]] = []
        stores.append(("memory", {"path": place / "graph.memory"}, knowledge_graph(arguments.nodes)))
        if arguments.dsn:
            with database(arguments.dsn) as dsn:
                small = knowledge_graph(arguments.postgres_nodes)
                run(place, [*stores, ("postgres", {"dsn": dsn}, small), ("age", {"dsn": dsn}, small)], arguments.repeat)
        else:
            run(place, stores, arguments.repeat)


def run(place: Path, stores: list[tuple[str, Options, GraphSnapshot]], repeat: int) -> None:
    for backend, options, graph in stores:
        with open_storage(backend, **options) as storage:
            storage.bulk_load(graph)
    print("## A full read, MiB\n\n| backend | edges | snapshot | peak | ratio |\n|---|---|---|---|---|")
    for backend, options, _ in stores:
        full_reads(backend, options)
    print(
        "\n## A cold start, seconds\n\n| backend | graph is | snapshot | first answer | both | peak MiB |"
        "\n|---|---|---|---|---|---|"
    )
    for backend, options, _ in stores:
        cold_starts(backend, options, repeat, place / f"cache-{backend}")
    print("\n## Processes with one graph, MiB\n\n| graph is | processes | RSS each | PSS of all |\n|---|---|---|---|")
    (snapshot,) = (place / "cache-memory").iterdir()
    sharing(snapshot)
    print(
        "\n## After a one-entry write, seconds\n\n| backend | nodes | edges | patch | read | ratio | first answer after"
        " patch | after read | ratio of both |\n|---|---|---|---|---|---|---|---|---|"
    )
    for backend, options, graph in stores:
        keeping_up(backend, options, graph, repeat)


if __name__ == "__main__":
    main()
