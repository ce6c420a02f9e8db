"""The dense leg: exact cosine over a matrix in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


class DenseIndex:
    """Unit vectors by entry id, (n, d) float32; a search is one matrix-vector product.

    A zero vector has cosine 0 with everything. May be shared by threads: one call at a time works on it.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self._lock = threading.Lock()
        self._matrix: NDArray[np.float32] = np.zeros((0, width), dtype=np.float32)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, entry: object) -> bool:
        return entry in self._rows

    def put(self, entries: Iterable[str], vectors: NDArray[np.float32]) -> None:
        """Insert or replace the (n, d) vectors of n distinct entries."""
        names = list(entries)
        with self._lock:
            self._put(names, unit(vectors))

    def _put(self, names: list[str], vectors: NDArray[np.float32]) -> None:
        new = [name for name in names if name not in self._rows]
        self._reserve(len(self._ids) + len(new))
        for name in new:
            self._rows[name] = len(self._ids)
            self._ids.append(name)
        self._matrix[[self._rows[name] for name in names]] = vectors

    def remove(self, entries: Iterable[str]) -> None:
        """Forget entries; absent ones are ignored. The last row takes the place of the one removed."""
        with self._lock:
            for name in entries:
                row = self._rows.pop(name, None)
                if row is None:
                    continue
                last = self._ids.pop()
                if last != name:
                    self._ids[row], self._rows[last] = last, row
                    self._matrix[row] = self._matrix[len(self._ids)]

    def vector(self, entry: str) -> NDArray[np.float32] | None:
        """The (d,) unit vector of an entry, None if it has none."""
        with self._lock:
            row = self._rows.get(entry)
            return None if row is None else self._matrix[row].copy()

    def search(self, query: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
        """The ``limit`` entries nearest to the (d,) query, best first, as (id, cosine); ties by id."""
        if limit <= 0:
            return []
        wanted = unit(query[None])[0]
        with self._lock:
            return self._search(wanted, limit) if self._ids else []

    def _search(self, query: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
        scores = self._matrix[: len(self._ids)] @ query
        if limit < len(scores):
            floor = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            rows = np.flatnonzero(scores >= floor)
        else:
            rows = np.arange(len(scores))
        found = [(self._ids[row], float(scores[row])) for row in rows.tolist()]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]

    def _reserve(self, rows: int) -> None:
        if rows > len(self._matrix):
            grown = np.zeros((max(rows, 2 * len(self._matrix)), self.width), dtype=np.float32)
            grown[: len(self._ids)] = self._matrix[: len(self._ids)]
            self._matrix = grown


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of (n, d) scaled to length 1; zero rows stay zero."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return scaled
