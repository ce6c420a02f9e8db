"""``graph_mode: walk``: from what the query names, through the graph, to entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphport.rank.local import LocalPageRank, local_pagerank
from graphport.rank.pagerank import Engine, best_rows, check_damping, personalized_pagerank
from graphport.rank.seeds import Reset, reset_on
from graphport.retrieval.fusion import check_graph_weight
from graphport.retrieval.linking import LinkedEntity
from graphport.retrieval.pointing import carried_names, pointing_graph, specificity
from graphport.retrieval.ranking import EntryPlaces, GraphRanking, Scored, entry_places, local_entry_shares
from graphport.retrieval.rerank import DAMPING
from graphport.snapshot import GraphSnapshot

PASSAGE_NODE_WEIGHT = 0.05
"""Reset weight of an entry that is nearest to the query; a name that only one entry holds has 1 (HippoRAG 2)."""
SHARPNESS = 10.0
"""From the nearest to the farthest hit the reset weight falls by e**SHARPNESS."""
TOLERANCE = 1e-3
"""Mass of the walk that may stay where it is: what it would add is far below the best entries' shares."""


def walk(
    graph: GraphSnapshot,
    entities: Sequence[LinkedEntity],
    legs: Mapping[str, Scored],
    fused: Scored,
    *,
    limit: int = 100,
    damping: float = DAMPING,
    graph_weight: float = 0.5,
    passage_node_weight: float = PASSAGE_NODE_WEIGHT,
    engine: Engine | None = None,
) -> GraphRanking:
    """The ``limit`` best entries by a Personalized PageRank that starts from what the query names.

    ``entities`` are what `link_query` found, ``legs`` the hits of each leg with its scores and ``fused``
    the hybrid ranking of them all, scores in [0, 1]. The walk restarts at each entity with its weight times its
    specificity, and at each hit with at most ``passage_node_weight``. A name that no entry carries leads
    first to those of the entries with it that are near to the query. An entry's score is
    ``ppr**w * base**(1 - w)`` with ``w = graph_weight``, ``ppr`` its share of the walk and ``base`` its
    fused score (the lowest one for an entry no leg found): at 0 the hybrid order, at 1 the walk's. In a
    sum the base would always win, for shares fall by orders of magnitude and fused scores hardly do.

    ``engine`` None follows the walk locally, until `TOLERANCE` of its mass is left; an engine of
    `personalized_pagerank` computes it over the whole graph.

    Nothing named, or nothing that leads to an entry: the fused hits, and a note. Raises
    `InvalidInputError` for a damping outside [0, 1), `InvalidQueryError` for a weight outside [0, 1].
    """
    check_damping(damping)
    weight = check_graph_weight(graph_weight)
    starts = named_seeds(graph, entities)
    if weight == 0:
        return GraphRanking(fused[:limit], {}, note="graph_weight is 0")
    if not starts:
        return GraphRanking(fused[:limit], {}, note="the query names nothing that the graph holds")
    arcs, known = pointing_graph(graph), entry_places(graph)
    found = known.places([entry for entry, _ in fused])
    where = np.fromiter((found.get(entry, -1) for entry, _ in fused), np.int64, len(fused))
    reset = _reset(graph, arcs, starts, _hits(known, where, closeness(legs), fused), passage_node_weight, damping)
    places, shares = local_entry_shares(graph, _scores(arcs, reset, damping, engine))
    if not shares.any():
        return GraphRanking(fused[:limit], {}, note="what the query names leads to no entry")
    slots, is_reached = _find(places, where)
    slots[~is_reached] = -1
    blended = shares**weight * _bases(len(places), slots, fused) ** (1 - weight)
    order: list[int] = best_rows(blended, limit).tolist()
    ranked = [(known.entries[int(places[slot])], float(blended[slot])) for slot in order]
    reached = {entry: float(shares[slot]) for (entry, _), slot in zip(ranked, order, strict=True)}
    # What the walk did not come near keeps its fused order, behind everything that it did.
    ranked += [(entry, 0.0) for (entry, _), slot in zip(fused, slots.tolist(), strict=True) if slot < 0]
    return GraphRanking(ranked[:limit], reached, tuple(starts), arcs)


def _scores(arcs: GraphSnapshot, reset: Reset, damping: float, engine: Engine | None) -> LocalPageRank:
    if engine is None:
        return local_pagerank(arcs, reset, damping=damping, tol=TOLERANCE)
    rows: list[int] = reset.rows.tolist()
    seeds = {arcs.ids[row]: float(mass) for row, mass in zip(rows, reset.mass, strict=True)}
    exact = personalized_pagerank(arcs, seeds, damping=damping, directed=True, engine=engine)
    return LocalPageRank(np.arange(arcs.n_nodes), exact.scores, exact.error_bound, arcs.n_edges)


def named_seeds(graph: GraphSnapshot, entities: Iterable[LinkedEntity]) -> dict[str, float]:
    """Reset weight of each named node that is in the graph and has an edge: its weight times its specificity."""
    rare = specificity(graph)
    seeds: dict[str, float] = {}
    for entity in entities:
        row = graph.index_of(entity.node)
        if row is not None and rare[row] > 0:
            seeds[entity.node] = seeds.get(entity.node, 0.0) + entity.weight * float(rare[row])
    return dict(sorted(seeds.items()))


def closeness(legs: Mapping[str, Scored]) -> dict[str, float]:
    """How near each hit is to the query, in [0, 1]: the mean over legs.

    In each leg the best hit is 1 and the last is 0, as is what the leg did not find. Unlike ranks this
    knows whether the second hit is almost as good as the first.
    """
    near: dict[str, float] = {}
    for pairs in legs.values():
        best, last = (pairs[0][1], pairs[-1][1]) if pairs else (0.0, 0.0)
        for entry, score in pairs:
            part = (score - last) / (best - last) if best > last else 1.0
            near[entry] = near.get(entry, 0.0) + part / len(legs)
    return near


class _Hits(NamedTuple):
    """The hits that have a node: ``rows`` (h,) of their first ones, ascending, and how much each attracts."""

    rows: NDArray[np.int64]
    pull: NDArray[np.float64]


def _hits(known: EntryPlaces, where: NDArray[np.int64], near: Mapping[str, float], fused: Scored) -> _Hits:
    """Those of the fused entries, which are at the places ``where``, that some leg found near."""
    close = np.fromiter((near.get(entry, -1.0) for entry, _ in fused), np.float64, len(fused))
    there = (where >= 0) & (close >= 0)
    rows = known.first_row[where[there]]
    order = np.argsort(rows)
    return _Hits(rows[order], np.exp(SHARPNESS * (close[there][order] - 1)))


def _reset(
    graph: GraphSnapshot,
    arcs: GraphSnapshot,
    named: Mapping[str, float],
    hits: _Hits,
    passage_node_weight: float,
    damping: float,
) -> Reset:
    mass = passage_node_weight * hits.pull
    carried = carried_names(graph)
    own: dict[int, float] = {}
    for node, whole in named.items():
        row = graph.index_of(node)
        if row is None:
            continue
        own[row] = whole
        if not carried[row] and graph.entries[row] is None:
            at, share = _first_steps(arcs, row, hits)
            mass[at] += damping * whole * share
            own[row] = whole * (1 - float(share.sum()))
    rows = np.fromiter(own, np.int64, len(own))
    whole_mass = np.fromiter(own.values(), np.float64, len(own))
    at, is_hit = _find(hits.rows, rows)
    mass[at[is_hit]] += whole_mass[is_hit]
    return reset_on(np.concatenate([hits.rows, rows[~is_hit]]), np.concatenate([mass, whole_mass[~is_hit]]))


def _first_steps(arcs: GraphSnapshot, row: int, hits: _Hits) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Hits next to ``row`` and the probability of going to each, if a hit attracts by its pull and all else least."""
    first, last = np.searchsorted(arcs.source_index, [row, row + 1]).tolist()
    heads, weight = arcs.target_index[first:last], arcs.weight[first:last]
    at, is_head = _find(heads, hits.rows)
    near = weight[at[is_head]]
    pulled = near * hits.pull[is_head]
    total = math.exp(-SHARPNESS) * float(weight.sum() - near.sum()) + float(pulled.sum())
    return np.flatnonzero(is_head), pulled / total if total > 0 else np.zeros(len(pulled))


def _find(there: NDArray[Any], wanted: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where in ``there``, ascending, each of ``wanted`` is, and whether it is."""
    at = np.searchsorted(there, wanted)
    if not len(there):
        return at, np.zeros(len(wanted), dtype=np.bool_)
    at[at == len(there)] = 0
    return at, there[at] == wanted


def _bases(count: int, slots: NDArray[np.int64], fused: Scored) -> NDArray[np.float64]:
    """(count,): the fused score of each entry that has one, the lowest there is for the others."""
    scores = np.fromiter((score for _, score in fused), np.float64, len(fused))
    bases = np.full(count, scores.min(initial=1.0))
    bases[slots[slots >= 0]] = scores[slots >= 0]
    return bases
