"""The batch engine ``spark``: from an export to ranked sets and communities."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types  # pyright: ignore[reportMissingTypeStubs]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from graphport.batch import Graph, RankedSet, Ranking, SeedSet
from graphport.errors import InvalidInputError, StorageError
from graphport.parquet import write_parquet
from graphport_spark.communities import find_communities
from graphport_spark.export import read_export
from graphport_spark.pagerank import ranked_sets


def rank(
    graph: Graph, seed_sets: Sequence[SeedSet], ranking: Ranking, settings: Mapping[str, str]
) -> Iterator[RankedSet]:
    """As `graphport.batch.Rank`. ``settings`` are properties of Spark's, beside those it finds by itself."""
    with _told(), _folder(session(settings), graph) as (spark, folder):
        yield from ranked_sets(read_export(spark, folder), seed_sets, ranking)


def communities(graph: Graph, resolution: float, settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """As `graphport.batch.Communities`, by rounds of simultaneous moves."""
    with _told(), _folder(session(settings), graph) as (spark, folder):
        yield from find_communities(read_export(spark, folder), resolution)


def session(settings: Mapping[str, str]) -> SparkSession:
    """The Spark session of this process, with these properties; on this machine unless configured otherwise."""
    builder = SparkSession.builder.appName("graphport")
    builder = builder.config("spark.ui.showConsoleProgress", sys.stderr.isatty())
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


@contextmanager
def _told() -> Generator[None]:
    """What stops Spark, as our error."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise StorageError(f"Spark could not finish: {reason}; its log on stderr says more") from error


@contextmanager
def _folder(spark: SparkSession, graph: Graph) -> Generator[tuple[SparkSession, str]]:
    master = spark.sparkContext.master or ""
    if isinstance(graph, str):
        yield spark, graph
    elif not master.startswith("local"):
        raise InvalidInputError(
            f"the machines of {master} cannot read an open store; export it to where they all can: "
            "graphport export GRAPH FOLDER --format parquet, and give the FOLDER"
        )
    else:
        with tempfile.TemporaryDirectory(prefix="graphport-spark-") as folder:
            export = Path(folder) / "graph"
            write_parquet(graph, export)
            yield spark, str(export)
