"""Loading a graph into memory: the in-process backend beside networkx.

    python benchmarks/bulk_load.py [--nodes 1000000] [--edges 5000000]

Each way runs in a process of its own, on the same random columns. ``load`` goes from columns in memory to a
graph that answers; ``memory`` is what the process holds once the columns are gone and the graph has answered
(so its lazily built indexes count), beyond what it held before, after freed memory went back to the system
(glibc's malloc_trim); the rest is microseconds per call.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = ("calls", "cites", "contains", "uses")
CALLS = 2000


class Columns:
    """A random graph: ``n`` nodes of two kinds, ``m`` different edges of four kinds."""

    def __init__(self, n: int, m: int) -> None:
        chance = np.random.default_rng(5)
        keys = np.unique(chance.integers(0, n * n * len(KINDS), size=m + m // 50, dtype=np.int64))
        keys = chance.permutation(keys)[:m]
        self.ids = [f"node:{number:08d}" for number in range(n)]
        self.node_kind: NDArray[np.int32] = chance.integers(0, 2, size=n, dtype=np.int32)
        self.edge_kind: NDArray[np.int32] = (keys % len(KINDS)).astype(np.int32)
        self.source, self.target = np.divmod(keys // len(KINDS), n)
        self.weight = chance.random(len(keys))


def load_networkx(columns: Columns, _: Path) -> tuple[Any, dict[str, Callable[[str], Any]]]:
    import networkx as nx

    graph: Any = nx.MultiDiGraph()  # its stubs do not know edges with a key
    ids = columns.ids
    kinds = ("file", "symbol")
    rows = zip(ids, columns.node_kind.tolist(), strict=True)
    graph.add_nodes_from((node_id, {"kind": kinds[kind], "name": node_id}) for node_id, kind in rows)
    ends = zip(
        columns.source.tolist(),
        columns.target.tolist(),
        columns.edge_kind.tolist(),
        columns.weight.tolist(),
        strict=True,
    )
    graph.add_edges_from((ids[a], ids[b], KINDS[kind], {"weight": weight}) for a, b, kind, weight in ends)
    return graph, {
        "get_nodes": lambda node_id: graph.nodes[node_id],
        "incident_edges": lambda node_id: [*graph.out_edges(node_id, keys=True), *graph.in_edges(node_id, keys=True)],
    }


def load_memory(columns: Columns, _: Path, **options: Any) -> tuple[Any, dict[str, Callable[[str], Any]]]:
    from graphport import GraphSnapshot, open_storage

    storage = open_storage("memory", **options)
    storage.bulk_load(
        GraphSnapshot.from_arrays(
            columns.ids,
            columns.source,
            columns.target,
            columns.weight,
            node_kind=columns.node_kind,
            node_kinds=("file", "symbol"),
            edge_kind=columns.edge_kind,
            edge_kinds=KINDS,
        )
    )
    return storage, {
        "get_nodes": lambda node_id: storage.get_nodes([node_id]),
        "incident_edges": lambda node_id: storage.incident_edges([node_id]),
        "neighborhood, depth 2": lambda node_id: storage.neighborhood([node_id], depth=2),
        "snapshot": lambda _: storage.snapshot(),
    }


def load_file(columns: Columns, folder: Path) -> tuple[Any, dict[str, Callable[[str], Any]]]:
    return load_memory(columns, folder, path=folder / "graph.db")


WAYS = {"networkx MultiDiGraph": load_networkx, "memory": load_memory, "memory, in a file": load_file}


def resident() -> int:
    """Bytes of physical memory this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def measure(way: str, n: int, m: int) -> dict[str, float]:
    import networkx  # noqa: F401 - what is imported on use is not memory of the graph

    from graphport import GraphSnapshot, open_storage

    with open_storage("memory") as small:  # imports every plugin
        small.bulk_load(GraphSnapshot.from_arrays(["a"], [0], [0]))
        small.incident_edges(["a"])
    before = resident()
    columns = Columns(n, m)
    asked = columns.ids[:: max(n // CALLS, 1)]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        graph, calls = WAYS[way](columns, Path(folder))
        found = {"load": time.perf_counter() - start}
        for name, call in calls.items():
            call(asked[0])
            some = asked if name != "snapshot" else asked[:20]
            start = time.perf_counter()
            for node_id in some:
                call(node_id)
            found[name] = (time.perf_counter() - start) / len(some)
        del columns, asked
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        found["memory"] = resident() - before
        if way == "memory, in a file":
            found["disk"] = sum(file.stat().st_size for file in Path(folder).iterdir())
            graph.close()
    return found


def in_its_own_process(way: str, n: int, m: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--nodes", str(n), "--edges", str(m), "--way", way]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--way", choices=WAYS)
    given = parser.parse_args()
    if given.way:
        print(json.dumps(measure(given.way, given.nodes, given.edges)))
        return
    results = {way: in_its_own_process(way, given.nodes, given.edges) for way in WAYS}
    peer = results["networkx MultiDiGraph"]
    print(f"{given.nodes:,} nodes, {given.edges:,} edges")
    print(f"{'':24}{'load':>9}{'times faster':>14}{'memory':>11}{'share':>8}")
    for way, found in results.items():
        faster, share = peer["load"] / found["load"], found["memory"] / peer["memory"]
        print(f"{way:24}{found['load']:7.2f} s{faster:14.1f}{found['memory'] / 2**20:8.0f} MB{share:8.3f}")
    for way, found in results.items():
        calls = [f"{name} {value * 1e6:.1f}" for name, value in found.items() if name not in ("load", "memory", "disk")]
        print(f"{way}, microseconds a call: {', '.join(calls)}")
    print(f"on disk: {results['memory, in a file']['disk'] / 2**20:.0f} MB")


if __name__ == "__main__":
    main()
