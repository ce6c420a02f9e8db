"""Kills a writing process again and again, and looks at what it left; run by test_memory_crash.py.

    python kill_while_writing.py FOLDER KILLS

Forks before anything is opened, so that a writer costs milliseconds. Prints one JSON object a kill.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import graphport_memory.file
from graphport import Edge, GraphSnapshot, Node
from graphport_memory.storage import MemoryStorage

BATCH = 40
KEPT = 6
"""Batches that are in the graph at a time."""


def rows_of(batch: int) -> tuple[list[Node], list[Edge]]:
    nodes = [Node(f"{batch:06d}-{i:02d}", "k", f"name {i}", f"entry {batch}", {"i": i}) for i in range(BATCH)]
    edges = [Edge(node.id, nodes[0].id, "e", batch + i / BATCH, {"b": batch}) for i, node in enumerate(nodes)]
    return nodes, edges


def after(batches: int) -> GraphSnapshot:
    """The graph after that many commits."""
    parts = [rows_of(batch) for batch in range(max(0, batches - KEPT), batches)]
    return GraphSnapshot.from_rows((n for nodes, _ in parts for n in nodes), (e for _, edges in parts for e in edges))


def write_on(path: Path, done: int) -> None:
    """Commits batch after batch, and says on file descriptor ``done`` how many there are."""
    with MemoryStorage(path) as storage:
        batch = storage.revision()
        while True:
            nodes, edges = rows_of(batch)
            with storage.transaction():
                storage.upsert_nodes(nodes)
                storage.upsert_edges(edges)
                if batch >= KEPT:
                    storage.delete_nodes(node.id for node in rows_of(batch - KEPT)[0])
            batch += 1
            os.write(done, f"{batch}\n".encode())


def kill_once(path: Path, commits: int, wait: float) -> dict[str, object]:
    """Kills the writer ``wait`` seconds after it said that it has made so many commits."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            write_on(path, write)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as lines:
        said = [lines.readline() for _ in range(commits)]
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        said += [line for line in lines if line.endswith("\n")]
    _, status = os.waitpid(child, 0)
    with MemoryStorage(path) as storage:
        committed = storage.revision()
        return {
            "killed": os.WIFSIGNALED(status),
            "said": int(said[-1]) if said else None,
            "committed": committed,
            "whole": storage.snapshot().same_as(after(committed)),
            "base": storage._file._reader.execute("SELECT base_revision FROM graphs").fetchone()[0],  # type: ignore[union-attr]  # it has a file
        }


def main() -> None:
    graphport_memory.file.SMALL_LOG = 20_000  # a new base every three batches or so
    path, chance = Path(sys.argv[1]) / "graph.db", random.Random(9)
    for _ in range(int(sys.argv[2])):
        print(json.dumps(kill_once(path, chance.randrange(10), chance.uniform(0.0, 0.02))))


if __name__ == "__main__":
    main()
