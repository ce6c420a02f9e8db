"""The random walk that ranking follows, as one sparse matrix per snapshot."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from scipy.sparse import csr_array

from graphport.rank.arrays import Index, Vector
from graphport.rank.kernels import row_lengths
from graphport.rank.scratch import Scratch
from graphport.rank.step import Arrays, Facts, WalkKind, patched_step, step_arrays
from graphport.snapshot import GraphSnapshot


@dataclass(frozen=True, slots=True)
class Walk:
    """A walk over n nodes; built once per snapshot and read by all threads.

    ``step`` (n, n): ``step @ mass`` moves mass by one step; each column sums to 1, to 0 where the walk
    ends (a node without edges, directed: without out-edges). ``degree`` (n,) is the weight leaving each
    node, in units of the power of two next to the mean weight of an arc.

    ``reversible``: ``step`` is ``A D^-1`` with a symmetric ``A``, so its spectrum is real and what one
    node gives another is bounded by their degrees. True for undirected walks, unless the weights span
    more than `graphport.rank.matrix.MAX_SPAN`. ``loops``: some node has an edge to itself.
    """

    step: csr_array
    degree: Vector
    reversible: bool
    loops: bool
    _spare: list[Scratch] = field(default_factory=list[Scratch], repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def n_nodes(self) -> int:
        return len(self.degree)

    @property
    def n_arcs(self) -> int:
        return int(self.step.nnz)

    def arcs(self, rows: Index) -> Index:
        """The number of entries in each of ``rows``."""
        return row_lengths(self.step, rows)

    def visits(self, damping: float) -> float:
        """Sum of ``damping ** step`` over the steps at which mass is at one node, times ``1 - damping``, at most.

        Mass leaves a node in every step, so it can be there every other step, or, with loops, in all.
        """
        return 1.0 if self.loops else 1 / (1 + damping)

    @contextmanager
    def scratch(self) -> Generator[Scratch]:
        """Arrays for one query, clean; kept for the next one, so that a query costs what it touches."""
        with self._lock:
            scratch = self._spare.pop() if self._spare else Scratch(self.n_nodes)
        yield scratch
        scratch.clean()  # not after an error: what a failed query leaves is thrown away
        with self._lock:
            self._spare.append(scratch)


def walk_of(graph: GraphSnapshot, *, directed: bool = False, weighted: bool = True) -> Walk:
    """The walk along (``directed``) or along and against the edges of a snapshot, kept with it."""
    kind = WalkKind(directed, weighted)

    def made(snapshot: GraphSnapshot) -> Walk:
        arrays = snapshot.derived_arrays(
            f"step:{kind}",
            lambda it: step_arrays(it, kind),
            lambda it, earlier, changes: patched_step(it, kind, earlier, changes),
        )
        return _walk(arrays, directed=directed)

    return graph.derived(f"walk:{kind}", made)


def _walk(arrays: Arrays, *, directed: bool) -> Walk:
    degree, facts = arrays["degree"], Facts.of(arrays)
    n = len(degree)
    step = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(n, n))
    for column in (step.data, step.indices, step.indptr, degree):
        column.flags.writeable = False
    return Walk(step, degree, reversible=not (directed or facts.wide), loops=bool(facts.loops))
