"""The arrays of one local query, kept for the next: a query costs what it touches, not what the graph holds.

``take`` and ``flatnonzero`` are what ``[rows]`` and ``[mask]`` are, at half the price.
"""

from __future__ import annotations

import numpy as np

from graphport.rank.arrays import Index

MANY = 8
"""From an eighth of all rows on it is cheaper to look at all of them than to follow lists."""


class Scratch:
    """Arrays (n,) that are all zero between queries.

    ``rho`` is the mass still to be moved and ``q`` the score found so far, both divided by degree;
    ``stamp`` holds whatever a step needs to remember by row.
    """

    __slots__ = ("_n_written", "_scored", "_written", "q", "rho", "stamp")

    def __init__(self, n: int) -> None:
        self.rho = np.zeros(n)
        self.q = np.zeros(n)
        self.stamp = np.zeros(n, dtype=np.int32)
        self._written: list[Index] = []
        self._n_written = 0
        self._scored: list[Index] = []

    def wrote(self, rows: Index) -> None:
        """Remembers rows of ``rho`` (repetitions are welcome) that may differ from zero now."""
        if not self.is_many(self._n_written):
            self._written.append(rows)
        self._n_written += len(rows)

    def scored(self, rows: Index) -> None:
        """Remembers rows of ``q``, each once, that differ from zero now."""
        self._scored.append(rows)

    def scored_rows(self) -> Index:
        return np.concatenate(self._scored) if self._scored else np.empty(0, dtype=np.int32)

    def is_many(self, rows: int) -> bool:
        return rows > len(self.rho) // MANY

    def above(self, threshold: float) -> Index:
        """The rows whose ``rho`` exceeds ``threshold``, each once."""
        if self.is_many(self._n_written):
            return np.flatnonzero(self.rho > threshold)
        return self.distinct_above(np.concatenate(self._written), threshold)

    def distinct_above(self, rows: Index, threshold: float) -> Index:
        """Those of ``rows`` whose ``rho`` exceeds ``threshold``, each once."""
        return self.distinct(rows.take(np.flatnonzero(self.rho.take(rows) > threshold)))

    def highest(self) -> float:
        """The largest ``rho``."""
        rho = self.rho if self.is_many(self._n_written) else self.rho[np.concatenate(self._written)]
        return float(rho.max())

    def distinct(self, rows: Index) -> Index:
        """``rows`` without repetitions; np.unique sorts, at some 15 times the price."""
        place = np.arange(len(rows), dtype=np.int32)
        self.stamp[rows] = place
        return rows.take(np.flatnonzero(self.stamp.take(rows) == place))

    def clean(self) -> None:
        """Back to zero, for the next query."""
        if self.is_many(self._n_written):
            self.rho.fill(0)
            self.q.fill(0)
        else:
            for rows in self._written:
                self.rho[rows] = 0
            for rows in self._scored:
                self.q[rows] = 0
        self._written.clear()
        self._scored.clear()
        self._n_written = 0
