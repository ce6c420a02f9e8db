"""Which entities are found together: ``co_occurs`` edges, weighted by normalised pointwise mutual information.

Of N visible entries, n_a mention the entity a, n_b mention b and n_ab both. Then

    npmi = ln(n_ab N / (n_a n_b)) / ln(N / n_ab)

(G. Bouma, "Normalized (Pointwise) Mutual Information in Collocation Extraction", GSCL 2009): 1 for two that
are only ever found together, 0 for two that have nothing to do with each other. Weights are rounded to
three decimals, which is more than counts can tell; a pair at 0 or below has no edge.

An edge stands where each end is among the other's best ``per_entity``, by (weight, id): so no entity has
more edges than that. It runs from the smaller id to the greater, and says nothing of a direction. Entities
that share a name are readings of one mention as often as not, and are never said to be found together.

All of this follows from the mention facts at a moment: nothing is stored, and a change of any entry may
move any weight. The edges are computed anew with each update of the graph, and the differences written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphport.knowledge.facts import VISIBLE
from graphport.knowledge.mentions import OWNER
from graphport.model import Edge
from graphport.patterns import CO_OCCURS

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DECIMALS = 3
EXAMPLES = 5
"""Entries that an edge names in its props."""
_BLOCK = 256
"""Entities whose pairs are in memory at once."""
_MENTIONS = f"FROM facts f JOIN entries e ON e.id = f.entry WHERE f.owner = :owner AND {VISIBLE}"


def npmi(
    together: NDArray[np.float64], left: NDArray[np.float64], right: NDArray[np.float64], total: int
) -> NDArray[np.float64]:
    """Normalised pointwise mutual information of counts (m,) among ``total``, in [-1, 1], rounded.

    Two that are only ever found together get 1, even where that is everywhere (the limit of the formula,
    which has no value there). ``together`` must be positive.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(together * total / (left * right)) / np.log(total / together)
    value[together == np.maximum(left, right)] = 1.0
    return np.round(value, DECIMALS)


@dataclass(frozen=True, slots=True)
class Cooccurrence:
    """Finds the ``co_occurs`` edges, at most ``per_entity`` of any entity.

    ``shared`` gives the ids that have a name in common, a group for each such name.
    """

    per_entity: int
    shared: Callable[[], Iterable[Sequence[str]]]

    def edges(self, db: sqlite3.Connection, now: float) -> list[Edge]:
        """The edges at ``now`` (seconds since the epoch), by key.

        Props: ``count`` entries that mention both, and the first of these by id as ``entries``.
        """
        total = db.execute(f"SELECT count(*) FROM entries e WHERE {VISIBLE}", {"now": now}).fetchone()[0]  # noqa: S608 - a constant
        entities, entries, present = _presence(db, now)
        if not entities:
            return []
        pairs = _best_pairs(present, _sharers(entities, self.shared()), total, self.per_entity)
        edges: list[Edge] = []
        for (left, right, weight, count), common in zip(pairs.rows(), _common(present, pairs), strict=True):
            props = {"count": count, "entries": [entries[row] for row in common]}
            edges.append(Edge(entities[left], entities[right], CO_OCCURS, weight, props))
        return edges


def common_entries(db: sqlite3.Connection, left: str, right: str, now: float) -> list[str]:
    """Ids of the visible entries that mention both entities, sorted."""
    rows = db.execute(
        f"SELECT DISTINCT f.entry {_MENTIONS} AND f.target = :left AND EXISTS (SELECT 1 FROM facts o "  # noqa: S608 - constants
        "WHERE o.entry = f.entry AND o.owner = :owner AND o.target = :right) ORDER BY f.entry",
        {"owner": OWNER, "left": left, "right": right, "now": now},
    )
    return [row[0] for row in rows]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Columns (m,): rows of two entities, what their pair weighs and how many entries mention both."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    weight: NDArray[np.float64]
    count: NDArray[np.int64]

    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.left, self.right, self.weight, self.count

    def rows(self) -> Iterator[tuple[int, int, float, int]]:
        return zip(*(column.tolist() for column in self.columns()), strict=True)

    def __getitem__(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> _Pairs:
        return _Pairs(self.left[rows], self.right[rows], self.weight[rows], self.count[rows])


def _presence(db: sqlite3.Connection, now: float) -> tuple[list[str], list[str], csr_array]:
    """Entities and entries, each sorted, and (entities, entries) int64, 1 where the entry mentions the entity."""
    found: list[tuple[str, str]] = db.execute(
        f"SELECT DISTINCT f.target, f.entry {_MENTIONS} AND f.target >= 'entity:' AND f.target < 'entity;'",
        {"owner": OWNER, "now": now},
    ).fetchall()
    entities = sorted({target for target, _ in found})
    entries = sorted({entry for _, entry in found})
    return entities, entries, _incidence(found, entities, entries)


def _sharers(entities: Sequence[str], shared: Iterable[Sequence[str]]) -> csr_array:
    """(entities, names) int64, 1 where the entity has the shared name."""
    known = set(entities)
    groups = list(shared)
    found = [(entity, number) for number, group in enumerate(groups) for entity in group if entity in known]
    return _incidence(found, entities, range(len(groups)))


def _incidence(found: Sequence[tuple[str, Any]], rows: Sequence[str], columns: Sequence[Any]) -> csr_array:
    from scipy.sparse import csr_array

    row_of = {item: number for number, item in enumerate(rows)}
    column_of = {item: number for number, item in enumerate(columns)}
    row = np.fromiter((row_of[item] for item, _ in found), np.int64, len(found))
    column = np.fromiter((column_of[item] for _, item in found), np.int64, len(found))
    return csr_array((np.ones(len(found), np.int64), (row, column)), shape=(len(rows), len(columns)))


def _best_pairs(present: csr_array, sharers: csr_array, total: int, per_entity: int) -> _Pairs:
    """Pairs in which each is among the other's best, each once, left before right, in order."""
    n = present.shape[0]
    chosen = list(_chosen(present, sharers, total, per_entity))
    pairs = _Pairs(*(np.concatenate(columns) for columns in zip(*map(_Pairs.columns, chosen), strict=True)))
    mutual = np.isin(pairs.left * n + pairs.right, pairs.right * n + pairs.left)
    return pairs[mutual & (pairs.left < pairs.right)]


def _chosen(present: csr_array, sharers: csr_array, total: int, per_entity: int) -> Iterator[_Pairs]:
    """The best of each entity, a block of entities at a time."""
    n = present.shape[0]
    counts = present.sum(axis=1).astype(np.float64)
    by_entry, by_name = present.T.tocsr(), sharers.T.tocsr()
    for start in range(0, n, _BLOCK):
        both = (present[start : start + _BLOCK] @ by_entry).tocoo()
        same = (sharers[start : start + _BLOCK] @ by_name).tocoo()
        left, right, count = both.row.astype(np.int64) + start, both.col.astype(np.int64), both.data
        keys = (same.row.astype(np.int64) + start) * n + same.col
        weight = npmi(count.astype(np.float64), counts[left], counts[right], total)
        kept = (weight > 0) & (left != right) & ~np.isin(left * n + right, keys)
        pairs = _Pairs(left, right, weight, count)[kept]
        pairs = pairs[np.lexsort((pairs.right, -pairs.weight, pairs.left))]
        yield pairs[_rank_in_group(pairs.left) < per_entity]


def _rank_in_group(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """(m,) how many before it are of the same group, for sorted groups."""
    rows = np.arange(len(groups))
    return rows - np.searchsorted(groups, groups)


def _common(present: csr_array, pairs: _Pairs) -> list[list[int]]:
    """The first entries that mention both of each pair."""
    both = present[pairs.left].multiply(present[pairs.right]).tocsr()
    both.sort_indices()
    return [both.indices[start : min(start + EXAMPLES, end)].tolist() for start, end in pairwise(both.indptr.tolist())]
