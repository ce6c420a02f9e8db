"""How fast this machine's memory is, as one core sees it: McCalpin's STREAM with numpy, the yardstick of products.

    python benchmarks/stream.py

Best of ten; arrays of 128 MB, far larger than any cache. Bytes are counted as STREAM counts them (what is read and
what is written); numpy's triad takes two passes and is counted so.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable

import numpy as np

SIZE = 1 << 24


def rates() -> dict[str, float]:
    """GB/s of each kernel."""
    a, b, c = np.ones(SIZE), np.full(SIZE, 2.0), np.empty(SIZE)

    def triad() -> None:
        np.multiply(b, 3.0, out=c)
        np.add(c, a, out=c)

    kernels: dict[str, tuple[Callable[[], object], int]] = {
        "read (sum)": (a.sum, 1),
        "copy": (lambda: np.copyto(c, a), 2),
        "scale": (lambda: np.multiply(a, 3.0, out=c), 2),
        "add": (lambda: np.add(a, b, out=c), 3),
        "triad": (triad, 5),
    }
    return {name: arrays * a.nbytes / _best(kernel) / 1e9 for name, (kernel, arrays) in kernels.items()}


def _best(kernel: Callable[[], object]) -> float:
    seconds: list[float] = []
    for _ in range(10):
        start = time.process_time()
        kernel()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    for name, rate in rates().items():
        print(f"{name:12}{rate:6.1f} GB/s")


if __name__ == "__main__":
    main()
