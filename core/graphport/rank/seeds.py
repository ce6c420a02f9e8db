"""Where the walk restarts: seeds by id become rows and probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

import numpy as np

from graphport.errors import InvalidSeedsError, InvalidWeightError, MissingNodeError
from graphport.model import check_ids, check_weight
from graphport.rank.arrays import Index, Vector
from graphport.snapshot import GraphSnapshot

Seeds = Mapping[str, float] | Iterable[str]


class Reset(NamedTuple):
    """The teleport distribution: ``mass`` (s,) > 0, sums to 1, on ``rows`` (s,), ascending."""

    rows: Index
    mass: Vector


def reset_of(graph: GraphSnapshot, seeds: Seeds) -> Reset:
    """Seeds as a distribution: uniform over distinct ids, or in proportion to the weights of a mapping.

    Raises `MissingNodeError`, naming every unknown id, and `InvalidSeedsError` if there are no seeds, or
    a weight is NaN, infinite or negative, or all are 0.
    """
    weights = _seed_weights(seeds)
    rows = {node_id: graph.index_of(node_id) for node_id in weights}
    missing = tuple(node_id for node_id, row in rows.items() if row is None)
    if missing:
        shown = ", ".join(repr(node_id) for node_id in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise MissingNodeError(f"{len(missing)} of {len(rows)} seeds are not in the graph: {shown}", missing)
    index = np.array([row for row in rows.values() if row is not None], dtype=np.int64)
    return reset_on(index, np.fromiter(weights.values(), dtype=np.float64, count=len(weights)))


def reset_on(rows: Index, weights: Vector) -> Reset:
    """The distribution in proportion to ``weights`` (s,), finite, >= 0 and not all 0, on distinct ``rows`` (s,)."""
    mass = weights / weights.max()
    order = np.argsort(rows)
    order = order[mass[order] > 0]
    return Reset(rows[order], mass[order] / mass[order].sum())


def _seed_weights(seeds: Seeds) -> dict[str, float]:
    if isinstance(seeds, Mapping):
        given = cast("Mapping[str, object]", seeds)
        weights = {node_id: _checked(given[node_id], node_id) for node_id in check_ids(given, "seed")}
    else:
        weights = dict.fromkeys(check_ids(seeds, "seed"), 1.0)
    if not weights:
        raise InvalidSeedsError("there are no seeds; give at least one node id to start from")
    if not any(weights.values()):
        raise InvalidSeedsError(f"all {len(weights)} seed weights are 0; at least one must be positive")
    return weights


def _checked(weight: object, node_id: str) -> float:
    try:
        return check_weight(weight, f"seed {node_id!r:.80}")
    except InvalidWeightError as error:
        raise InvalidSeedsError(str(error)) from error
