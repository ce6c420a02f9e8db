"""Would an index of exact scores of the heaviest hubs pay? A prototype, measured beside what there is.

    python benchmarks/hub_index.py [--nodes 1000000] [--hubs 100]

What push cannot tell of a node is in proportion to the node's degree, so ranking *all* nodes waits for the hubs. The
index holds, for each hub h, the scores x_h of a walk from h (float32). By reversibility the score of h in a walk from
any seeds is ``degree[h] * sum over seeds s of reset[s] * x_h[s] / degree[s]``: a lookup, whose rounding is known. The
prototype gives hubs these bounds and lets push go on as it does; everything else, the certificate too, is graphport's.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Generator
from contextlib import contextmanager

import numpy as np
from machine import sentence
from numpy.typing import NDArray
from ppr import Timing, timed
from ppr_graphs import knowledge_graph
from ppr_ours import ours, seed_sets

from graphport import GraphSnapshot
from graphport.rank import local_proof
from graphport.rank.lookback import Lookback
from graphport.rank.ordering import ROUNDING, Bounded, Ordered
from graphport.rank.push import Push
from graphport.rank.question import Question
from graphport.rank.seeds import Reset
from graphport.rank.solve import solve
from graphport.rank.walk import walk_of

DAMPING = 0.5
FLOAT32 = 2.0**-23
"""Relative error of a stored score, rounding of the sum included."""


class HubIndex:
    """``columns`` (hubs, n) float32 of exact scores divided by degree."""

    def __init__(self, graph: GraphSnapshot, size: int) -> None:
        walk = walk_of(graph)
        self.rows = np.sort(np.argsort(-walk.degree, kind="stable")[:size]).astype(np.int32)
        self.degree = walk.degree[self.rows]
        self.is_hub = np.zeros(graph.n_nodes, dtype=bool)
        self.is_hub[self.rows] = True
        self.columns = np.empty((size, graph.n_nodes), dtype=np.float32)
        for at, row in enumerate(self.rows):
            reset = Reset(np.array([row]), np.ones(1))
            found = solve(walk, reset, damping=DAMPING, tol=1e-12, max_iter=1000)
            np.divide(found.scores, walk.degree, out=self.columns[at], where=walk.degree > 0, casting="same_kind")

    def scores(self, reset: Reset) -> NDArray[np.float64]:
        return self.degree * (self.columns[:, reset.rows].astype(np.float64) @ reset.mass)


@contextmanager
def used(index: HubIndex) -> Generator[None]:
    """While it lasts, the local proof takes the scores of hubs from the index."""
    plain = local_proof._candidates, local_proof._order_with_steps

    def candidates(question: Question, push: Push) -> Bounded | None:
        return with_hubs(question, push, index)

    def order_with_steps(question: Question, push: Push, found: Bounded) -> Ordered:
        return steps_but_of_hubs(question, push, found, index)

    local_proof._candidates, local_proof._order_with_steps = candidates, order_with_steps
    try:
        yield
    finally:
        local_proof._candidates, local_proof._order_with_steps = plain


def with_hubs(question: Question, push: Push, index: HubIndex) -> Bounded | None:
    """As `local_proof._candidates`, of all nodes, with hubs known."""
    field = question.field
    rows = np.concatenate([push.scratch.scored_rows(), field.heavy[push.scratch.q[field.heavy] == 0]])
    rows = np.concatenate([rows[~index.is_hub[rows]], index.rows])
    low = push.found(rows)
    high = low + push.beyond(question.walk.degree[rows])
    exact = index.scores(question.reset)
    low[-len(exact) :], high[-len(exact) :] = exact * (1 - FLOAT32), exact * (1 + FLOAT32)
    best = float(np.partition(low, len(low) - question.k)[len(low) - question.k])
    question.floor = max(question.floor, best)
    floor = (1 - 4 * ROUNDING) * best
    light = np.array([field.light])
    if (1 - question.damping) * field.light * push.threshold + float(push.beyond(light)[0]) >= floor:
        return None
    return Bounded(rows, low, high).take(high >= floor)


def steps_but_of_hubs(question: Question, push: Push, found: Bounded, index: HubIndex) -> Ordered:
    """As `local_proof._order_with_steps`; a step adds nothing to what is known of a hub."""
    ordered = question.order(found)
    lookback = Lookback(push, found)
    for _ in range(local_proof.STEPS):
        rows = ordered.nodes.rows[ordered.open]
        if ordered.settled or not lookback.step(rows[~index.is_hub[rows]]):
            break
        ordered = question.order(lookback.bounds)
    return ordered


def line(name: str, found: Timing, plain: Timing) -> str:
    same = sum(a == b for a, b in zip(found.orders, plain.orders, strict=True))
    cells = [f"{found.at(q):.1f}" for q in (0.5, 0.9, 1.0)]
    faster = [f"{plain.at(q) / found.at(q):.1f}" for q in (0.5, 0.9, 1.0)]
    return f"| {name} | {' | '.join(cells)} | {' | '.join(faster)} | {same}/{len(found.orders)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--hubs", type=int, default=100)
    given = parser.parse_args()
    graph = knowledge_graph(given.nodes)
    start = time.process_time()
    walk_of(graph)
    matrix = time.process_time() - start
    ordinary, hubs = seed_sets(graph)
    start = time.process_time()
    index = HubIndex(graph, given.hubs)
    built = time.process_time() - start
    print(f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {given.hubs} hubs, all nodes ranked. {sentence()}\n")
    print(f"Index: {index.columns.nbytes / 1e6:.0f} MB, {built:.1f} s; the matrix takes {matrix:.1f} s.\n")
    print("| seeds, way | median ms | p90 | worst | times faster: median | p90 | worst | same order |")
    print("|---|---|---|---|---|---|---|---|")
    rank = ours(graph, DAMPING, None)
    for name, sets in {"ordinary": ordinary, "with a hub": hubs, "a hub alone": [rows[:1] for rows in hubs]}.items():
        plain = timed(rank, sets)
        print(line(f"{name}, as it is", plain, plain))
        with used(index):
            print(line(f"{name}, with the index", timed(rank, sets), plain))


if __name__ == "__main__":
    main()
