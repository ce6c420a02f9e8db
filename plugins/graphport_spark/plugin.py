"""The Spark engine as graphport finds it; pyspark is not imported here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec

from graphport import hookimpl
from graphport.batch import BatchEngine, Graph, RankedSet, Ranking, SeedSet


def _missing() -> str | None:
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java runtime"
    return None


def _rank(
    graph: Graph, seed_sets: Sequence[SeedSet], ranking: Ranking, settings: Mapping[str, str]
) -> Iterator[RankedSet]:
    from graphport_spark.engine import rank

    return rank(graph, seed_sets, ranking, settings)


def _communities(graph: Graph, resolution: float, settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    from graphport_spark.engine import communities

    return communities(graph, resolution, settings)


SPARK = BatchEngine(
    name="spark",
    rank=_rank,
    communities=_communities,
    install_hint="pip install 'graphport[spark]', and Java 17 or 21 (Debian: apt install default-jre-headless)",
    missing=_missing,
)


@hookimpl
def graphport_batch_engines() -> Sequence[BatchEngine]:
    return [SPARK]
