"""Personalized PageRank of many seed sets in one go.

Forward push (Andersen, Chung and Lang 2006) in rounds: a row per seed set and node holds the score found and the
mass that waits. A round keeps ``1 - damping`` of what waits as score and joins the rest with the arcs, so the arcs
are read once a round for all sets together. With ``epsilon`` 0 everything moves in every round, and after k rounds
``damping ** k`` of the mass waits: that is power iteration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, cast

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - as everyone who uses Spark reads it

from graphport.batch import RankedSet, Ranking, SeedSet
from graphport.errors import ConvergenceError, MissingNodeError
from graphport_spark.checkpoint import cut
from graphport_spark.export import Export


def ranked_sets(graph: Export, seed_sets: Sequence[SeedSet], ranking: Ranking) -> Iterator[RankedSet]:
    """Answers in the order of ``seed_sets``; raises `MissingNodeError` for seeds that are not in the graph."""
    state = _start(graph, seed_sets)
    steps = _steps(graph.arcs)
    for _ in range(rounds(ranking.damping, ranking.tol)):
        state = _moved(state, steps, ranking)
    finished = _finished(state, ranking.damping)
    totals = {
        row["set"]: row
        for row in finished.groupBy("set")
        .agg(F.sum("score").alias("found"), F.sum("waiting").alias("waiting"))
        .collect()
    }
    best = groupby(_best(graph, finished, ranking), key=lambda row: cast("int", row["set"]))
    rows = next(best, None)
    for number, one in enumerate(seed_sets):
        mass = totals[number]["found"] + totals[number]["waiting"]
        if not math.isfinite(mass):
            raise ConvergenceError(
                f"set {one.name!r}: the weights of the graph are too large for sums; scale them down"
            )
        nodes: list[tuple[str, float]] = []
        if rows is not None and rows[0] == number:
            nodes = [(row["id"], row["score"] / mass) for row in rows[1]]
            rows = next(best, None)
        yield RankedSet(one.name, nodes, totals[number]["waiting"] / mass)


def rounds(damping: float, tol: float) -> int:
    """Rounds after which at most ``tol`` of the mass waits."""
    return max(1, math.ceil(math.log(tol) / math.log(damping))) if damping else 1


def _start(graph: Export, seed_sets: Sequence[SeedSet]) -> DataFrame:
    rows = [(number, node_id, share) for number, one in enumerate(seed_sets) for node_id, share in one.shares().items()]
    wanted: DataFrame = cast("Any", graph.spark).createDataFrame(rows, "set int, id string, waiting double")
    found = wanted.join(graph.nodes, "id", "left").select(
        "set", "id", F.col("index").alias("node"), F.lit(0.0).alias("score"), "waiting"
    )
    found = cut(found)
    missing = tuple(
        row["id"] for row in found.where("node is null").select("id").distinct().sort("id").limit(1000).collect()
    )
    if missing:
        raise MissingNodeError(f"seeds are not in the graph: {', '.join(map(repr, missing[:5]))}", missing)
    return found


def _steps(arcs: DataFrame) -> DataFrame:
    """``source``, ``target`` and the share of the source's mass that goes to the target."""
    degree = arcs.groupBy("source").agg(F.sum("weight").alias("degree"))
    steps = arcs.join(degree, "source").select("source", "target", (F.col("weight") / F.col("degree")).alias("share"))
    return steps.repartition("source").persist()


def _moved(state: DataFrame, steps: DataFrame, ranking: Ranking) -> DataFrame:
    moves = F.col("waiting") > ranking.epsilon
    kept = state.select(
        "set",
        "node",
        F.when(moves, F.col("score") + (1 - ranking.damping) * F.col("waiting"))
        .otherwise(F.col("score"))
        .alias("score"),
        F.when(moves, 0.0).otherwise(F.col("waiting")).alias("waiting"),
    )
    arriving = (
        state.where(moves)
        .join(steps, F.col("node") == F.col("source"))
        .select(
            "set",
            F.col("target").alias("node"),
            F.lit(0.0).alias("score"),
            (ranking.damping * F.col("waiting") * F.col("share")).alias("waiting"),
        )
    )
    summed = (
        kept.union(arriving)
        .groupBy("set", "node")
        .agg(F.sum("score").alias("score"), F.sum("waiting").alias("waiting"))
    )
    after = cut(summed)
    state.unpersist()
    return after


def _finished(state: DataFrame, damping: float) -> DataFrame:
    """What waits at a node belongs to it as far as the next restart gives it; the rest is still to be given."""
    return state.select(
        "set",
        "node",
        (F.col("score") + (1 - damping) * F.col("waiting")).alias("score"),
        (damping * F.col("waiting")).alias("waiting"),
    )


def _best(graph: Export, state: DataFrame, ranking: Ranking) -> Iterator[Any]:
    ranked = state.where("score > 0")
    if ranking.kinds is not None:
        of_kind = graph.nodes.where(F.col("kind").isin(list(ranking.kinds)))
        ranked = ranked.join(of_kind.select(F.col("index").alias("node")), "node")
    order = Window.partitionBy("set").orderBy(F.desc("score"), "node")
    best = ranked.withColumn("rank", F.row_number().over(order)).where(F.col("rank") <= ranking.k)
    named = best.join(graph.nodes, best["node"] == graph.nodes["index"])
    return named.select("set", "rank", "id", "score").sort("set", "rank").toLocalIterator()
