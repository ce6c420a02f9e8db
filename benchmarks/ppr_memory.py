"""Memory of one process that has a graph and answers one question with it; prints a row of a Markdown table.

python benchmarks/ppr_memory.py graphport 1000000
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import subprocess
import sys
import time
from pathlib import Path

from ppr_graphs import knowledge_graph
from ppr_ours import by_scores, ours
from ppr_peers import PEERS

HEAD = """
## Memory of one process (MB), and CPU seconds until its first answer

| engine | nodes | edges | with the graph | after | peak from there on | seconds |
|---|---|---|---|---|---|---|"""


def memory_row(name: str, n_nodes: int) -> str:
    """The row, measured in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), name, str(n_nodes)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(name: str, n_nodes: int) -> None:
    graph = knowledge_graph(n_nodes)
    before = _resident()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making up the graph
    start = time.process_time()
    if name in PEERS:
        rank = by_scores(graph, PEERS[name].build(graph, 0.5), None)
    else:
        rank = ours(graph, 0.5, graph.entry_mask())
    rank([n_nodes // 2])
    seconds = time.process_time() - start
    sizes = f"{graph.n_nodes:,} | {graph.n_edges:,}"
    print(f"| {name} | {sizes} | {before:,.0f} | {_resident():,.0f} | {_peak():,.0f} | {seconds:.1f} |")


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _peak() -> float:
    # ru_maxrss would count what the parent process held when it forked.
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
