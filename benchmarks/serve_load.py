"""How much search with the graph on a server stands: requests/s, p99, memory over time, and 4x overload.

    python benchmarks/serve_load.py --entries 20000 --minutes 10 --json benchmarks/results/serve_load.json

The server is a process of its own on loopback. Load comes from wrk where it is installed, else from an
asyncio loop in this process, which is slower than the server and says so.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx

from graphport import Entry, open_knowledge_base

THREADS, QUEUE = 4, 32
WORDS = 3000
PACE = 20
"""Searches a second while the memory is watched."""


@dataclass(frozen=True)
class Load:
    """What came of a load: answers a second, latencies in ms, and how many answers were refusals."""

    tool: str
    connections: int
    seconds: float
    per_second: float
    p50: float
    p99: float
    answered: int
    refused: int


@dataclass
class Report:
    machine: str
    entries: int
    nodes: int
    edges: int
    graph_off: Load | None = None
    graph_on: Load | None = None
    memory_mib: list[tuple[float, float]] = field(default_factory=list)
    overload: Load | None = None
    recovered_ms: float = 0.0


def fill(home: Path, entries: int) -> tuple[int, int]:
    """A knowledge base of notes that name each other; returns the graph's numbers of nodes and edges."""
    pick = random.Random(7)
    words = [f"{a}{b}{c}" for a in "bcdfglmnprst" for b in "aeiou" for c in "bdklmnrstvz"][:WORDS]
    with open_knowledge_base("notes", config=settings(home)) as kb:
        for start in range(0, entries, 5000):
            kb.add(
                Entry(
                    f"n{i}",
                    " ".join(pick.choices(words, k=60)) + f" Topic {pick.randrange(entries)} and Topic {i // 7}.",
                    title=f"Topic {i}",
                )
                for i in range(start, min(entries, start + 5000))
            )
        counts = kb.storage.counts()
        return counts.nodes, counts.edges


def settings(home: Path) -> dict[str, Any]:
    return {
        "data_dir": str(home),
        "embedder": "none",
        "vector_dbs": [{"name": "notes"}],
        "server": {"threads": THREADS, "queue": QUEUE},
    }


@contextmanager
def server(home: Path, log: Path) -> Generator[tuple[str, int]]:
    """Address and process id of ``graphport serve``."""
    config = home / "graphport.json"
    config.write_text(json.dumps(settings(home)))
    command = [sys.executable, "-m", "graphport.cli.main", "serve", "--config", str(config), "--port", "0"]
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            yield _address(process, log), process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    while process.poll() is None:
        found = re.search(r"running on (\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    sys.exit(log.read_text())


def questions(entries: int, *, graph: bool) -> list[str]:
    """Paths of searches, each for one topic."""
    pick = random.Random(11)
    tail = f"&graph={str(graph).lower()}"
    return [f"/api/vectordb/notes/search?q=Topic+{pick.randrange(entries)}{tail}" for _ in range(500)]


def run(address: str, paths: Sequence[str], connections: int, seconds: float) -> Load:
    if shutil.which("wrk"):
        return _wrk(address, paths, connections, seconds)
    return asyncio.run(_loop(address, paths, connections, seconds))


def _wrk(address: str, paths: Sequence[str], connections: int, seconds: float) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        quoted = ",".join(json.dumps(path) for path in paths)
        script.write(f"local paths = {{{quoted}}}\nlocal at = 0\n")
        script.write("request = function() at = at % #paths + 1; return wrk.format('GET', paths[at]) end\n")
        script.flush()
        command = [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds:.0f}s",
            "--latency",
            "--timeout",
            "60s",
            "-s",
            script.name,
        ]
        told = subprocess.run([*command, address], check=True, capture_output=True, text=True).stdout
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", told)
    total = int(_found(r"(\d+) requests in", told))
    return Load(
        "wrk", connections, seconds, float(_found(r"Requests/sec:\s+([\d.]+)", told)), _milliseconds("50%", told),
        _milliseconds("99%", told), total - int(refused[1] if refused else 0), int(refused[1]) if refused else 0,
    )  # fmt: skip


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        sys.exit(f"wrk said something else than expected:\n{text}")
    return match[1]


def _milliseconds(share: str, text: str) -> float:
    number, unit = re.search(rf"{share}\s+([\d.]+)(us|ms|s|m)", text).groups()  # type: ignore[union-attr]  # checked by eye: wrk's own table
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


async def _loop(address: str, paths: Sequence[str], connections: int, seconds: float) -> Load:
    statuses: Counter[int] = Counter()
    times: list[float] = []
    end = time.monotonic() + seconds
    limits = httpx.Limits(max_connections=connections)
    async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:

        async def ask(number: int) -> None:
            while time.monotonic() < end:
                start = time.perf_counter()
                response = await client.get(paths[(number + len(times)) % len(paths)])
                times.append((time.perf_counter() - start) * 1000)
                statuses[response.status_code] += 1

        await asyncio.gather(*(ask(number) for number in range(connections)))
    times.sort()
    answered = statuses[200]
    return Load(
        "httpx loop (slower than the server)", connections, seconds, len(times) / seconds, times[len(times) // 2],
        times[len(times) * 99 // 100], answered, sum(statuses.values()) - answered,
    )  # fmt: skip


def watch_memory(address: str, pid: int, paths: Sequence[str], minutes: float) -> list[tuple[float, float]]:
    """Resident memory by minute while `PACE` searches a second are asked."""
    start = time.monotonic()
    seen = [(0.0, round(resident_mib(pid), 1))]
    asked = 0
    with httpx.Client(base_url=address, timeout=60) as client:
        while (passed := time.monotonic() - start) < 60 * minutes:
            client.get(paths[asked % len(paths)]).raise_for_status()
            asked += 1
            if passed / 60 > seen[-1][0] + min(1, minutes / 2):
                seen.append((round(passed / 60, 1), round(resident_mib(pid), 1)))
            time.sleep(max(0.0, asked / PACE - (time.monotonic() - start)))
    return [*seen, (round((time.monotonic() - start) / 60, 1), round(resident_mib(pid), 1))]


def resident_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(entries: int, seconds: float, minutes: float) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        nodes, edges = fill(home, entries)
        report = Report(
            f"{platform.machine()}, {os.cpu_count()} cores, {platform.python_version()}", entries, nodes, edges
        )
        with server(home, home / "log") as (address, pid):
            on, off = questions(entries, graph=True), questions(entries, graph=False)
            run(address, on, THREADS, 3)  # opens everything
            report.graph_off = run(address, off, THREADS, seconds)
            report.graph_on = run(address, on, THREADS, seconds)
            report.memory_mib = watch_memory(address, pid, on, minutes)
            report.overload = run(address, on, 4 * (THREADS + QUEUE), seconds)
            begun = time.perf_counter()
            while httpx.get(address + on[0], timeout=60).status_code != 200:
                time.sleep(0.01)
            report.recovered_ms = round((time.perf_counter() - begun) * 1000, 1)
    return report


def show(report: Report) -> None:
    print(f"{report.machine}; {report.entries} entries, graph of {report.nodes} nodes and {report.edges} edges")
    print(f"{'search':24}{'connections':>12}{'req/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'200':>9}{'503':>9}")
    for name, load in (
        ("graph off", report.graph_off),
        ("graph on", report.graph_on),
        ("graph on, overload", report.overload),
    ):
        if load is not None:
            print(
                f"{name:24}{load.connections:12}{load.per_second:9.0f}{load.p50:9.1f}{load.p99:9.1f}"
                f"{load.answered:9}{load.refused:9}"
            )
    print(
        f"memory MiB by minute, {PACE} searches/s:",
        ", ".join(f"{minute:g}: {mib:g}" for minute, mib in report.memory_mib),
    )
    print(f"first answer after the overload: {report.recovered_ms:g} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=15, help="of each load")
    parser.add_argument("--minutes", type=float, default=1, help="of watching the memory")
    parser.add_argument("--json", type=Path, help="write the figures there")
    given = parser.parse_args()
    report = measure(given.entries, given.seconds, given.minutes)
    show(report)
    if given.json:
        given.json.write_text(json.dumps(asdict(report), indent=2) + "\n")


if __name__ == "__main__":
    main()
