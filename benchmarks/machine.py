"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "graphport", "numpy", "scipy", "igraph", "networkx", "scikit-network", "fast-pagerank", "rustworkx", "tantivy",
    "ladybug", "kuzu", "psycopg", "pyarrow",
)  # fmt: skip


def describe() -> dict[str, str]:
    """Processor, cores, memory, load, and versions of what is installed."""
    cpu = next((row.split(":")[1].strip() for row in _lines("/proc/cpuinfo") if "model name" in row), "")
    memory = next((int(row.split()[1]) for row in _lines("/proc/meminfo") if row.startswith("MemTotal")), 0)
    versions = [f"{name} {found}" for name in PACKAGES if (found := _version(name)) is not None]
    return {
        "processor": cpu,
        "cores": str(os.cpu_count()),
        "memory": f"{memory / 2**20:.0f} GiB",
        "load": f"{os.getloadavg()[0]:.1f}",
        "system": platform.platform(),
        "versions": ", ".join([f"Python {platform.python_version()}", *versions]),
    }


def sentence() -> str:
    found = describe()
    return (
        f"{found['processor']}, {found['cores']} cores, {found['memory']}, load {found['load']}; {found['versions']}."
    )


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
