"""A graph as columns: what ranking runs on, and what bulk loading takes."""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphport.errors import InvalidInputError, InvalidWeightError, MissingNodeError
from graphport.model import Edge, EdgeKey, Node, Props, check_kinds, check_text

if TYPE_CHECKING:
    from graphport.storage import GraphStorage

T = TypeVar("T")
IndexArray = NDArray[np.int32 | np.int64]


class GraphSnapshot:
    """An immutable graph in columns, in canonical order.

    Nodes (n) are in code point order of their ids, edges (m) in order of their key; the kind tables are
    sorted and hold only kinds that occur. So two equal graphs have equal arrays.

    ======================  ==========================  ===========================================
    ``ids``                 n str                       unique, sorted
    ``names``               n str                       the id where none was given
    ``entries``             n str or None               entry a node stands for
    ``node_kind``           (n,) int32                  index into ``node_kinds``
    ``source_index``        (m,) int32 or int64         index into ``ids``; int64 from 2**31 on
    ``target_index``        (m,) int32 or int64
    ``edge_kind``           (m,) int32                  index into ``edge_kinds``
    ``weight``              (m,) float64                finite, >= 0
    ``node_props``          row -> props                only rows that have some; often empty, see below
    ``edge_props``          row -> props
    ``revision``            int or None                 revision of the storage it was read from
    ======================  ==========================  ===========================================

    `GraphStorage.snapshot` leaves props out; they are here for `GraphStorage.bulk_load`. What is derived
    from a snapshot (its CSR matrix, its igraph graph) is built once and kept with it: `derived`.
    """

    __slots__ = (
        "__weakref__", "_derived", "_lock", "edge_kind", "edge_kinds", "edge_props", "entries", "ids", "names",
        "node_kind", "node_kinds", "node_props", "revision", "source_index", "target_index", "weight",
    )  # fmt: skip

    def __init__(
        self,
        *,
        ids: Sequence[str],
        names: Sequence[str],
        entries: Sequence[str | None],
        node_kinds: Sequence[str],
        node_kind: NDArray[np.int32],
        source_index: IndexArray,
        target_index: IndexArray,
        edge_kinds: Sequence[str],
        edge_kind: NDArray[np.int32],
        weight: NDArray[np.float64],
        node_props: Mapping[int, Props] | None = None,
        edge_props: Mapping[int, Props] | None = None,
        revision: int | None = None,
    ) -> None:
        """Trusts its columns to be canonical; `from_arrays` checks, sorts and completes them."""
        self.ids = ids
        self.names = names
        self.entries = entries
        self.node_kinds = tuple(node_kinds)
        self.node_kind = _frozen(node_kind)
        self.source_index = _frozen(source_index)
        self.target_index = _frozen(target_index)
        self.edge_kinds = tuple(edge_kinds)
        self.edge_kind = _frozen(edge_kind)
        self.weight = _frozen(weight)
        self.node_props = node_props or {}
        self.edge_props = edge_props or {}
        self.revision = revision
        self._derived: dict[str, Any] = {}
        self._lock = threading.RLock()

    @classmethod
    def from_arrays(
        cls,
        ids: Sequence[str],
        source_index: ArrayLike,
        target_index: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        node_kind: ArrayLike | None = None,
        node_kinds: Sequence[str] = ("node",),
        edge_kind: ArrayLike | None = None,
        edge_kinds: Sequence[str] = ("edge",),
        names: Sequence[str] | None = None,
        entries: Sequence[str | None] | None = None,
        node_props: Mapping[int, Props] | None = None,
        edge_props: Mapping[int, Props] | None = None,
        revision: int | None = None,
    ) -> GraphSnapshot:
        """A snapshot of n nodes and m edges, in any order, with no Python loop per edge.

        ``source_index`` and ``target_index`` (m,) are rows of ``ids``; ``weight`` (m,) is finite and >= 0,
        1.0 by default. ``node_kind`` (n,) and ``edge_kind`` (m,) are rows of the kind tables, all 0 by
        default. Two edges may have one key (their weights add in ranking; `bulk_load` refuses them).
        Raises `InvalidInputError`, `InvalidIdError` or `InvalidWeightError`.
        """
        ids = list(ids)
        n = len(ids)
        src = _index_array(source_index, n, "source_index")
        dst = _index_array(target_index, n, "target_index")
        if len(src) != len(dst):
            raise InvalidInputError(f"source_index has {len(src)} rows and target_index {len(dst)}; they must match")
        m = len(src)
        weights = np.ones(m) if weight is None else np.array(weight, dtype=np.float64)
        if weights.shape != (m,):
            raise InvalidInputError(f"weight has shape {weights.shape}; it must be ({m},), one per edge")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidWeightError("weight holds NaN, an infinite or a negative number; all must be finite and >= 0")
        n_kind = _codes(node_kind, n, len(node_kinds), "node_kind")
        e_kind = _codes(edge_kind, m, len(edge_kinds), "edge_kind")
        name_list = ids if names is None else list(names)
        entry_list: list[str | None] = [None] * n if entries is None else list(entries)
        if len(name_list) != n or len(entry_list) != n:
            raise InvalidInputError(
                f"names and entries must have {n} rows, as ids; got {len(name_list)}, {len(entry_list)}"
            )
        _check_texts(ids, "node id")
        _check_texts(name_list, "node name")
        _check_texts([entry for entry in entry_list if entry is not None], "node entry")

        node_order: NDArray[np.int64] | None = None
        if any(a >= b for a, b in pairwise(ids)):
            rows = sorted(range(n), key=ids.__getitem__)
            ids = [ids[i] for i in rows]
            for a, b in pairwise(ids):
                if a == b:
                    raise InvalidInputError(f"ids hold {a!r:.80} twice; each node id must be unique")
            name_list = ids if names is None else [name_list[i] for i in rows]
            entry_list = [entry_list[i] for i in rows]
            node_order = np.array(rows, dtype=np.int64)
            rank = np.empty(n, dtype=src.dtype)
            rank[node_order] = np.arange(n)
            src, dst, n_kind = rank[src], rank[dst], n_kind[node_order]
        n_table, n_kind = canonical_kinds(node_kinds, n_kind, "node kind")
        e_table, e_kind = canonical_kinds(edge_kinds, e_kind, "edge kind")
        order = edge_order(src, dst, e_kind, n, len(e_table))
        if order is not None:
            src, dst, e_kind, weights = src[order], dst[order], e_kind[order], weights[order]
        id_column = tuple(ids)
        return cls(
            ids=id_column,
            names=id_column if names is None else tuple(name_list),
            entries=tuple(entry_list),
            node_kinds=n_table,
            node_kind=n_kind,
            source_index=src,
            target_index=dst,
            edge_kinds=e_table,
            edge_kind=e_kind,
            weight=weights,
            node_props=_moved(node_props, node_order),
            edge_props=_moved(edge_props, order),
            revision=revision,
        )

    @classmethod
    def from_rows(
        cls, nodes: Iterable[Node], edges: Iterable[Edge] = (), *, revision: int | None = None
    ) -> GraphSnapshot:
        """The graph of these rows, props included, in any order; what a store that keeps rows answers with.

        Raises `MissingNodeError` for an edge that ends elsewhere, and as `from_arrays`.
        """
        nodes, edges = list(nodes), list(edges)
        row = {node.id: i for i, node in enumerate(nodes)}
        missing = tuple(dict.fromkeys(end for edge in edges for end in (edge.source, edge.target) if end not in row))
        if missing:
            raise MissingNodeError(f"edges end in nodes that are not given: {missing!r:.200}", missing)
        node_kinds = {kind: i for i, kind in enumerate(dict.fromkeys(node.kind for node in nodes))}
        edge_kinds = {kind: i for i, kind in enumerate(dict.fromkeys(edge.kind for edge in edges))}
        return cls.from_arrays(
            [node.id for node in nodes],
            [row[edge.source] for edge in edges],
            [row[edge.target] for edge in edges],
            [edge.weight for edge in edges],
            node_kind=[node_kinds[node.kind] for node in nodes],
            node_kinds=list(node_kinds),
            edge_kind=[edge_kinds[edge.kind] for edge in edges],
            edge_kinds=list(edge_kinds),
            names=[node.name for node in nodes],
            entries=[node.entry for node in nodes],
            node_props={i: node.props for i, node in enumerate(nodes) if node.props},
            edge_props={i: edge.props for i, edge in enumerate(edges) if edge.props},
            revision=revision,
        )

    @property
    def n_nodes(self) -> int:
        return len(self.ids)

    @property
    def n_edges(self) -> int:
        return len(self.source_index)

    def __repr__(self) -> str:
        return f"GraphSnapshot(nodes={self.n_nodes}, edges={self.n_edges}, revision={self.revision})"

    def index_of(self, node_id: str) -> int | None:
        """Row of a node, None if it is absent. O(log n): the ids are sorted, so no table is kept."""
        row = bisect_left(self.ids, node_id)
        return row if row < len(self.ids) and self.ids[row] == node_id else None

    def node_kind_of(self, row: int) -> str:
        return self.node_kinds[int(self.node_kind[row])]

    def edge_key(self, row: int) -> EdgeKey:
        """Key of the edge in ``row``."""
        return EdgeKey(
            self.ids[int(self.source_index[row])],
            self.ids[int(self.target_index[row])],
            self.edge_kinds[int(self.edge_kind[row])],
        )

    def iter_nodes(self) -> Iterator[Node]:
        """The nodes as rows, by id."""
        for row, (node_id, name, entry) in enumerate(zip(self.ids, self.names, self.entries, strict=True)):
            yield Node(node_id, self.node_kind_of(row), name, entry, self.node_props.get(row, {}))

    def iter_edges(self) -> Iterator[Edge]:
        """The edges as rows, by key."""
        for row, weight in enumerate(self.weight.tolist()):
            yield Edge(*self.edge_key(row), weight, self.edge_props.get(row, {}))

    def derived(self, key: str, build: Callable[[GraphSnapshot], T]) -> T:
        """``build(self)``, made once per ``key`` and kept as long as the snapshot; safe with threads."""
        with self._lock:
            if key not in self._derived:
                self._derived[key] = build(self)
            return cast("T", self._derived[key])

    def same_as(self, other: GraphSnapshot) -> bool:
        """Whether both hold the same graph, arrays and all (revision and props aside)."""
        return (
            tuple(self.ids) == tuple(other.ids)
            and tuple(self.names) == tuple(other.names)
            and tuple(self.entries) == tuple(other.entries)
            and self.node_kinds == other.node_kinds
            and self.edge_kinds == other.edge_kinds
            and all(
                np.array_equal(getattr(self, column), getattr(other, column))
                for column in ("node_kind", "source_index", "target_index", "edge_kind", "weight")
            )
        )

    def entry_rows(self) -> dict[str, list[int]]:
        """Rows of the nodes that stand for each entry."""
        return self.derived("entry_rows", _entry_rows)

    def entry_mask(self) -> NDArray[np.bool_]:
        """(n,) bool, read-only: the nodes that stand for an entry."""
        return self.derived("entry_mask", _entry_mask)


def _entry_rows(graph: GraphSnapshot) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, entry in enumerate(graph.entries):
        if entry is not None:
            rows.setdefault(entry, []).append(row)
    return rows


def _entry_mask(graph: GraphSnapshot) -> NDArray[np.bool_]:
    return _frozen(np.fromiter((entry is not None for entry in graph.entries), dtype=bool, count=graph.n_nodes))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _index_array(values: ArrayLike, n: int, what: str) -> IndexArray:
    """A copy of ``values``, which must be rows of n things, in the smallest type."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int32)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidInputError(f"{what} has shape {array.shape} and dtype {array.dtype}; it must be (m,) integers")
    if array.min() < 0 or array.max() >= n:
        raise InvalidInputError(f"{what} runs from {array.min()} to {array.max()}; with {n} ids it must be in [0, {n})")
    return array.astype(np.int32 if max(n, len(array)) < 2**31 else np.int64)


def _codes(values: ArrayLike | None, n: int, n_kinds: int, what: str) -> NDArray[np.int32]:
    if values is None:
        if n and not n_kinds:
            raise InvalidInputError(f"{what}s is empty; give at least one kind")
        return np.zeros(n, dtype=np.int32)
    codes = _index_array(values, n_kinds, what)
    if codes.shape != (n,):
        raise InvalidInputError(f"{what} has shape {codes.shape}; it must be ({n},)")
    return codes.astype(np.int32, copy=False)


def _check_texts(texts: Sequence[str], what: str) -> None:
    # One join finds what is wrong anywhere at a fifth of the price of a call per text.
    try:
        joined = "".join(texts)
        joined.encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        joined = "\0"
    if "\0" in joined or not all(texts):
        for text in texts:
            check_text(text, what)


def canonical_kinds(
    table: Sequence[str], codes: NDArray[np.int32], what: str
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Kinds that occur, sorted, and the codes into them."""
    for kind in table:
        check_text(kind, what)
    if len(set(table)) != len(table):
        raise InvalidInputError(f"{what}s {list(table)!r:.80} hold one kind twice; each must be unique")
    used = np.zeros(len(table), dtype=bool)
    used[codes] = True
    kept = sorted(kind for kind, is_used in zip(table, used, strict=True) if is_used)
    if kept == list(table):
        return tuple(kept), codes
    recode = np.zeros(len(table), dtype=np.int32)
    place = {kind: code for code, kind in enumerate(kept)}
    for code, kind in enumerate(table):
        recode[code] = place.get(kind, 0)
    return tuple(kept), recode[codes]


def edge_order(
    src: IndexArray, dst: IndexArray, kind: NDArray[np.int32], n: int, n_kinds: int
) -> NDArray[np.int64] | None:
    """The stable order by (source, target, kind); None if it is the order already."""
    if len(src) < 2:
        return None
    if n * n * max(n_kinds, 1) < 2**63:  # one integer key: a radix sort instead of three passes
        key = src.astype(np.int64)
        key *= n
        key += dst
        key *= max(n_kinds, 1)
        key += kind
        return None if (key[:-1] <= key[1:]).all() else np.argsort(key, kind="stable")
    return np.lexsort((kind, dst, src))


def _moved(props: Mapping[int, Props] | None, order: NDArray[np.int64] | None) -> Mapping[int, Props]:
    if not props:
        return {}
    if order is None:
        return dict(props)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return {int(rank[row]): value for row, value in props.items()}


_Cached = dict[frozenset[str] | None, GraphSnapshot]
_cache: weakref.WeakKeyDictionary[Any, _Cached] = weakref.WeakKeyDictionary()
_cache_lock = threading.Lock()


def snapshot_of(graph: GraphStorage | GraphSnapshot, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
    """``graph`` itself if it is a snapshot, else the storage's snapshot, kept while its revision is unchanged.

    Only a snapshot whose ``revision`` is the storage's current one is kept, so what a transaction sees
    of itself is never handed to anyone else.
    """
    if isinstance(graph, GraphSnapshot):
        if kinds is not None:
            raise InvalidInputError("kinds can be chosen when a snapshot is read, not afterwards")
        return graph
    wanted = check_kinds(kinds)
    revision = graph.revision()
    with _cache_lock:
        kept = _cache.get(graph, {}).get(wanted)
    if kept is not None and kept.revision == revision:
        return kept
    fresh = graph.snapshot(kinds=wanted)
    if fresh.revision is not None:
        with _cache_lock:
            _cache.setdefault(graph, {})[wanted] = fresh
    return fresh
