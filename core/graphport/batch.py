"""Ranking many seed sets at once, in this process or on a cluster: what an engine takes and gives.

An engine is a plugin's (`graphport_batch_engines`), so that a graph too large for one machine is ranked by
the same command as a small one, with answers of the same form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from graphport.errors import InvalidInputError, InvalidSeedsError
from graphport.model import check_ids, check_weight
from graphport.storage import GraphStorage

Graph: TypeAlias = GraphStorage | str
"""An open storage, or the folder (a path or URL) that `graphport.parquet.write_parquet` wrote."""


@dataclass(frozen=True, slots=True)
class SeedSet:
    """Where one walk starts: ``seeds`` are weights >= 0 by node id, not all 0."""

    name: str
    seeds: Mapping[str, float]

    def shares(self) -> dict[str, float]:
        """The positive weights, scaled to sum 1."""
        most = max(self.seeds.values())
        total = sum(weight / most for weight in self.seeds.values())
        return {node_id: weight / most / total for node_id, weight in self.seeds.items() if weight > 0}


@dataclass(frozen=True, slots=True)
class Ranking:
    """What is asked of every seed set: the ``k`` best nodes by undirected, weighted personalized PageRank.

    ``kinds`` ranks nodes of those kinds only. An engine that iterates stops where scores are off by at most
    ``tol`` in L1. ``epsilon`` lets it leave shares of a walk up to that size where they are, so that a set costs
    what it reaches and not the graph; `RankedSet.error_bound` says what that cost in exactness.
    """

    k: int = 20
    damping: float = 0.5
    kinds: tuple[str, ...] | None = None
    tol: float = 1e-6
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InvalidInputError(f"k is {self.k}; it must be at least 1")
        if not 0 <= self.damping < 1:
            raise InvalidInputError(f"damping is {self.damping}; it must be in [0, 1)")
        if not 0 < self.tol < 1:
            raise InvalidInputError(f"tol is {self.tol}; it must be in (0, 1)")
        if not 0 <= self.epsilon < 1:
            raise InvalidInputError(f"epsilon is {self.epsilon}; it must be in [0, 1)")


@dataclass(frozen=True, slots=True)
class RankedSet:
    """The best nodes of one seed set with their scores > 0, best first, ties by id.

    No score is further than ``error_bound`` from the exact one. Nodes closer than that may be in another order, unless
    the engine proves its order, as ``memory`` does.
    """

    name: str
    nodes: list[tuple[str, float]]
    error_bound: float


Rank = Callable[[Graph, Sequence[SeedSet], Ranking, Mapping[str, str]], Iterator[RankedSet]]
"""Answers in the order of the seed sets. Raises `MissingNodeError` for seeds that are not in the graph."""
Communities = Callable[[Graph, float, Mapping[str, str]], Iterator[tuple[str, int]]]
"""Community of every node by modularity at a resolution, by id; numbers count from 0 as they are first seen."""


@dataclass(frozen=True, slots=True)
class BatchEngine:
    """An engine as its plugin declares it; nothing is imported until it is used.

    The last argument of ``rank`` and ``communities`` are settings of the engine's own. ``missing`` returns what
    keeps the engine from working here, None if nothing does.
    """

    name: str
    rank: Rank
    communities: Communities
    install_hint: str = ""
    missing: Callable[[], str | None] = field(default=lambda: None)


def read_seed_sets(lines: Iterable[str]) -> list[SeedSet]:
    """Seed sets from JSON lines: ``{"set": "q1", "seeds": ["a", "b"]}``, or seeds with weights, ``{"a": 2, "b": 1}``.

    Raises `InvalidSeedsError`, which names the line, for anything else and for a set that comes twice.
    """
    found: dict[str, SeedSet] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        one = _seed_set(line, f"line {number} of the seeds")
        if one.name in found:
            raise InvalidSeedsError(f"line {number} of the seeds: set {one.name!r:.80} came before; name each once")
        found[one.name] = one
    if not found:
        raise InvalidSeedsError('the seeds hold no set; write lines such as {"set": "q1", "seeds": ["a", "b"]}')
    return list(found.values())


def _seed_set(line: str, where: str) -> SeedSet:
    try:
        row: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidSeedsError(f"{where} is no JSON: {error}") from error
    match row:
        case {"set": str(name), "seeds": list() as listed, **rest} if not rest:  # pyright: ignore[reportUnknownVariableType] - any JSON
            ids = check_ids(cast("list[str]", listed), f"seed in {where}")
            weights = dict.fromkeys(ids, 1.0)
        case {"set": str(name), "seeds": dict() as weighted, **rest} if not rest:  # pyright: ignore[reportUnknownVariableType] - any JSON
            given = cast("dict[str, Any]", weighted)
            weights = {node_id: check_weight(given[node_id], f"a seed's weight in {where}") for node_id in given}
        case _:
            raise InvalidSeedsError(f'{where} is not of the form {{"set": "q1", "seeds": ["a", "b"]}}: {line:.80}')
    if not any(weights.values()):
        raise InvalidSeedsError(f"{where} starts nowhere; give a seed with a weight above 0")
    return SeedSet(name, weights)
