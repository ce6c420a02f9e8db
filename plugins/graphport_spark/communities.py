"""Communities by modularity: the Louvain method with moves made at the same time.

Blondel et al. 2008, with simultaneous moves as in Lu, Halappanavar and Kalyanaraman 2015 (Grappolo): in a round half of
the nodes, picked by hash, look at their neighbors' communities and move to the one of the best gain, so that two
neighbors seldom swap. When a level has settled, its communities become the nodes of the next.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everyone who uses Spark reads it

from graphport.errors import InvalidInputError
from graphport_spark.checkpoint import cut
from graphport_spark.export import Export

MAX_ROUNDS = 12
"""Rounds of a level, at most; most gain is in the first few."""
MIN_MOVES = 0.005
"""A level has settled when two rounds (each node once) move a smaller share of its nodes."""
MIN_GAIN = 1e-6
"""Modularity that another level must bring."""


def find_communities(graph: Export, resolution: float) -> Iterator[tuple[str, int]]:
    """Community of every node, by id; numbers count from 0 in the order in which they are first seen."""
    if not 0 < resolution < float("inf"):
        raise InvalidInputError(f"resolution is {resolution}; it must be a finite number > 0")
    membership = graph.nodes.select(F.col("index").alias("node"), F.col("index").alias("community"))
    arcs = graph.arcs
    total = arcs.agg(F.sum("weight")).first()
    twice_m = float(total[0] or 0.0) if total is not None else 0.0
    reached = -float("inf")
    while twice_m:
        labels = _level(arcs, resolution, twice_m)
        merged = _merged(arcs, labels)
        quality = _modularity(merged, resolution, twice_m)
        if quality <= reached + MIN_GAIN:
            break
        reached = quality
        names = labels.select(F.col("node").alias("community"), F.col("community").alias("next"))
        membership = cut(
            membership.join(names, "community", "left").select(
                "node", F.coalesce("next", "community").alias("community")
            )
        )
        arcs = merged
    named = membership.join(graph.nodes, F.col("node") == F.col("index")).sort("node").select("id", "community")
    numbers: dict[int, int] = {}
    for row in named.toLocalIterator():
        yield row["id"], numbers.setdefault(row["community"], len(numbers))


def _level(arcs: DataFrame, resolution: float, twice_m: float) -> DataFrame:
    """``node`` and ``community`` (the number of one of its nodes) for the nodes that have arcs."""
    degrees = arcs.groupBy(F.col("source").alias("node")).agg(F.sum("weight").alias("degree"))
    state = cut(degrees.select("node", "degree", F.col("node").alias("community"), F.lit(True).alias("moved")))
    # An arc of weight 0 from each node to itself: staying is then one of the moves it compares.
    staying = state.select(F.col("node").alias("source"), F.col("node").alias("target"), F.lit(0.0).alias("weight"))
    links = arcs.where("source != target").union(staying).repartition("source").persist()
    n_nodes = moved = state.count()
    for number in range(MAX_ROUNDS):
        before = state
        state = cut(_round(before, links, number, resolution, twice_m))
        before.unpersist()
        now = state.where("moved").count()
        if number % 2 and moved + now <= MIN_MOVES * n_nodes:
            break
        moved = now
    links.unpersist()
    return state


def _round(state: DataFrame, links: DataFrame, number: int, resolution: float, twice_m: float) -> DataFrame:
    """The state after one round; ``moved`` says which nodes did."""
    volumes = state.groupBy("community").agg(F.sum("degree").alias("volume"))
    chosen = state.where(F.expr(f"pmod(xxhash64(node, {number // 2}), 2) = {number % 2}"))
    theirs = state.select(F.col("node").alias("target"), F.col("community").alias("candidate"))
    options = (
        chosen.join(links, F.col("node") == F.col("source"))
        .join(theirs, "target")
        .groupBy("node", "degree", "community", "candidate")
        .agg(F.sum("weight").alias("link"))
        .join(volumes.withColumnRenamed("community", "candidate"), "candidate")
    )
    at_home = F.col("candidate") == F.col("community")
    others = F.col("volume") - F.when(at_home, F.col("degree")).otherwise(0.0)
    gain = F.col("link") - resolution * F.col("degree") * others / twice_m
    best = (
        options.withColumn("gain", gain + F.when(at_home, 1e-12 * twice_m).otherwise(0.0))
        .groupBy("node")
        .agg(F.max_by("candidate", F.struct("gain", -F.col("candidate"))).alias("best"))
    )
    return state.join(best, "node", "left").select(
        "node",
        "degree",
        F.coalesce("best", "community").alias("community"),
        (F.col("best") != F.col("community")).alias("moved"),
    )


def _merged(arcs: DataFrame, labels: DataFrame) -> DataFrame:
    """Arcs between communities; what is inside one is its arc to itself, counted both ways."""
    for end in ("source", "target"):
        arcs = arcs.join(labels.select(F.col("node").alias(end), F.col("community").alias(f"{end}_community")), end)
    ends = [F.col("source_community").alias("source"), F.col("target_community").alias("target")]
    return cut(arcs.groupBy(*ends).agg(F.sum("weight").alias("weight")))


def _modularity(merged: DataFrame, resolution: float, twice_m: float) -> float:
    inside = F.sum(F.when(F.col("source") == F.col("target"), F.col("weight")).otherwise(0.0))
    volumes = merged.groupBy("source").agg(F.sum("weight").alias("volume"), inside.alias("inside"))
    row = volumes.agg(F.sum("inside"), F.sum(F.col("volume") * F.col("volume"))).first()
    return 0.0 if row is None else float(row[0]) / twice_m - resolution * float(row[1]) / twice_m**2
