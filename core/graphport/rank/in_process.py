"""The batch engine ``memory``: the graph is read into this process, and the best k are proven one set at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphport.batch import BatchEngine, Graph, RankedSet, Ranking, SeedSet
from graphport.errors import InvalidInputError
from graphport.hookspecs import hookimpl
from graphport.snapshot import GraphSnapshot, snapshot_of


def rank(
    graph: Graph, seed_sets: Sequence[SeedSet], ranking: Ranking, settings: Mapping[str, str]
) -> Iterator[RankedSet]:
    """As `graphport.batch.Rank`; the order is exact, whatever ``tol`` and ``epsilon`` allow."""
    from graphport.rank.topk import top_personalized_pagerank

    snapshot = _read(graph, settings)
    for one in seed_sets:
        best = top_personalized_pagerank(snapshot, one.seeds, ranking.k, among=ranking.kinds, damping=ranking.damping)
        widest = float((best.bounds[:, 1] - best.bounds[:, 0]).max()) if len(best.ids) else 0.0
        yield RankedSet(one.name, [(node_id, score) for node_id, score in best.top() if score > 0], widest / 2)


def communities(graph: Graph, resolution: float, settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """As `graphport.batch.Communities`, by Leiden."""
    from graphport.rank.communities import leiden_communities

    yield from leiden_communities(_read(graph, settings), resolution).items()


def _read(graph: Graph, settings: Mapping[str, str]) -> GraphSnapshot:
    if settings:
        raise InvalidInputError(f"engine memory has no settings; leave {', '.join(settings)} out")
    if isinstance(graph, str):
        from graphport.parquet import read_parquet

        return read_parquet(graph)
    return snapshot_of(graph)


@hookimpl
def graphport_batch_engines() -> Sequence[BatchEngine]:
    return [BatchEngine("memory", rank, communities)]
