"""An export as DataFrames: nodes, and the arcs of the undirected walk with whole numbers for ids."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everyone who uses Spark reads it

from graphport.errors import InvalidInputError
from graphport.model import GraphCounts
from graphport.parquet import MANIFEST, check_counts, read_counts
from graphport_spark.checkpoint import cut


class Export(NamedTuple):
    """``nodes`` has ``index`` (in order of id), ``id`` and ``kind``; ``arcs`` has ``source``, ``target``, ``weight``.

    Arcs go both ways, parallel edges are summed, edges of weight 0 left out; a self-loop counts twice, as in igraph.
    """

    nodes: DataFrame
    arcs: DataFrame

    @property
    def spark(self) -> SparkSession:
        return self.nodes.sparkSession


def read_export(spark: SparkSession, folder: str) -> Export:
    """Raises `InvalidInputError` for a folder that is no export, `StorageCorruptError` for one that is not whole."""
    try:
        manifest = "\n".join(row.value for row in spark.read.text(f"{folder}/{MANIFEST}").collect())
    except AnalysisException as error:
        raise InvalidInputError(
            f"Spark finds no {MANIFEST} in {folder}; write one: graphport export GRAPH FOLDER --format parquet"
        ) from error
    told = read_counts(manifest, folder)
    nodes = spark.read.parquet(f"{folder}/nodes").select("index", "id", "kind")
    edges = spark.read.parquet(f"{folder}/edges")
    check_counts(told, GraphCounts(nodes.count(), edges.count()), folder)
    return Export(nodes, _arcs(nodes, edges))


def _arcs(nodes: DataFrame, edges: DataFrame) -> DataFrame:
    for end in ("source", "target"):
        numbers = nodes.select(F.col("index").alias(f"{end}_index"), F.col("id").alias(end))
        edges = edges.join(numbers, end)
    there = edges.where("weight > 0").select(
        F.col("source_index").alias("source"), F.col("target_index").alias("target"), "weight"
    )
    back = there.select(F.col("target").alias("source"), F.col("source").alias("target"), "weight")
    return cut(there.union(back).groupBy("source", "target").agg(F.sum("weight").alias("weight")))
