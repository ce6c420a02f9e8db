"""A graph as columns: what ranking runs on, and what bulk loading takes."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphport.errors import InvalidInputError, InvalidWeightError, MissingNodeError
from graphport.model import Edge, EdgeKey, Node, Props
from graphport.snapshot.canonical import (
    IndexArray,
    apart_from,
    canonical_kinds,
    check_texts,
    codes_of,
    edge_order,
    frozen,
    index_array,
    moved_props,
)
from graphport.snapshot.earlier import Earlier, RowChanges
from graphport.snapshot.packed import Packed

if TYPE_CHECKING:
    from graphport.snapshot.files import Shelf

T = TypeVar("T")
Arrays = Mapping[str, NDArray[Any]]
_ARRAYS = "arrays:"


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
        "__weakref__", "_derived", "_earlier", "_lock", "_shelf", "edge_kind", "edge_kinds", "edge_props", "entries",
        "ids", "names", "node_kind", "node_kinds", "node_props", "revision", "source_index", "target_index", "weight",
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
        shelf: Shelf | None = None,
    ) -> None:
        """Trusts its columns to be canonical; `from_arrays` checks, sorts and completes them."""
        self.ids = ids
        self.names = names
        self.entries = entries
        self.node_kinds = tuple(node_kinds)
        self.node_kind = frozen(node_kind)
        self.source_index = frozen(source_index)
        self.target_index = frozen(target_index)
        self.edge_kinds = tuple(edge_kinds)
        self.edge_kind = frozen(edge_kind)
        self.weight = frozen(weight)
        self.node_props = node_props or {}
        self.edge_props = edge_props or {}
        self.revision = revision
        self._shelf = shelf
        self._derived: dict[str, Any] = {}
        self._earlier: dict[str, Earlier] = {}
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
        src = index_array(source_index, n, "source_index")
        dst = index_array(target_index, n, "target_index")
        if len(src) != len(dst):
            raise InvalidInputError(f"source_index has {len(src)} rows and target_index {len(dst)}; they must match")
        m = len(src)
        try:
            weights = np.ones(m) if weight is None else np.asarray(weight, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidWeightError(f"weight is {weight!r:.80}; it must be ({m},) numbers") from error
        if weights.shape != (m,):
            raise InvalidInputError(f"weight has shape {weights.shape}; it must be ({m},), one per edge")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidWeightError("weight holds NaN, an infinite or a negative number; all must be finite and >= 0")
        n_kind = codes_of(node_kind, n, len(node_kinds), "node_kind")
        e_kind = codes_of(edge_kind, m, len(edge_kinds), "edge_kind")
        name_list = ids if names is None else list(names)
        entry_list: list[str | None] = [None] * n if entries is None else list(entries)
        if len(name_list) != n or len(entry_list) != n:
            raise InvalidInputError(
                f"names and entries must have {n} rows, as ids; got {len(name_list)}, {len(entry_list)}"
            )
        ids = check_texts(ids, "node id")
        name_list = ids if names is None else check_texts(name_list, "node name")
        present = [entry for entry in entry_list if entry is not None]
        plain = check_texts(present, "node entry")
        if plain is not present:
            given = iter(plain)
            entry_list = [None if entry is None else next(given) for entry in entry_list]

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
            node_kind=apart_from(node_kind, n_kind),
            source_index=apart_from(source_index, src),
            target_index=apart_from(target_index, dst),
            edge_kinds=e_table,
            edge_kind=apart_from(edge_kind, e_kind),
            weight=apart_from(weight, weights),
            node_props=moved_props(node_props, node_order),
            edge_props=moved_props(edge_props, order),
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

    def save(self, path: str | Path) -> None:
        """Write the graph, and what `derived_arrays` has made of it, into the folder ``path``; for `load`.

        A crash leaves the old snapshot or the new one, and processes that have mapped the old one keep it.
        Raises `StorageFullError` or `StorageUnavailableError`.
        """
        from graphport.snapshot import files

        with self._lock:
            arrays = {key[len(_ARRAYS) :]: made for key, made in self._derived.items() if key.startswith(_ARRAYS)}
        files.save(self, Path(path), arrays)

    @classmethod
    def load(cls, path: str | Path, *, mmap: bool = True) -> GraphSnapshot:
        """The snapshot that `save` wrote.

        Mapped, it costs nothing to open, its pages are read when they are touched and shared by all
        processes that map it; texts and props are decoded when they are looked at. Otherwise everything is
        read and checked against its checksums. Raises `StorageCorruptError` for a file that is torn or
        none of ours, `StorageUnavailableError` where there is none.
        """
        from graphport.snapshot import files

        folder = Path(path)
        return files.snapshot_from(files.read(folder, mapped=mmap), folder, mapped=mmap, writable=False)

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

    def derived_arrays(
        self,
        key: str,
        build: Callable[[GraphSnapshot], Arrays],
        patch: Callable[[GraphSnapshot, Arrays, RowChanges], Arrays | None] | None = None,
    ) -> Arrays:
        """As `derived`, for named arrays of one dimension: `save` writes them too, and a loaded snapshot has them.

        ``key`` is letters, digits and colons. ``patch(self, arrays, changes)`` is asked first where they are
        known of an earlier graph (see `follow`); its answer must be what ``build`` would give, or None.
        """

        def found_or_built(graph: GraphSnapshot) -> Arrays:
            found = None if self._shelf is None else self._shelf.get(key)
            earlier = self._earlier.get(key)
            if found is None and earlier is not None and patch is not None:
                found = patch(graph, *earlier)
            if found is None:
                found = build(graph)
                if self._shelf is not None:
                    self._shelf.offer(key, found)
            return found

        arrays = self.derived(_ARRAYS + key, found_or_built)
        self._earlier.pop(key, None)
        return arrays

    def follow(self, last: GraphSnapshot, changes: RowChanges) -> None:
        """Take over what `derived_arrays` made of ``last``, or ``last`` took over, until it is asked for.

        The arrays are held, ``last`` is not, so at most one generation of each outlives its snapshot; none
        where so much has changed since that they would be made anew.
        """
        shelf = {} if last._shelf is None else last._shelf.all()
        # Copied in one step each, and in this order: another thread may be moving one from here to there.
        earlier, derived = last._earlier.copy(), last._derived.copy()
        made = {key.removeprefix(_ARRAYS): arrays for key, arrays in derived.items() if key.startswith(_ARRAYS)}
        kept = {
            **{key: Earlier(arrays, since.then(changes)) for key, (arrays, since) in earlier.items()},
            **{key: Earlier(arrays, changes) for key, arrays in (shelf | made).items()},
        }
        self._earlier = {key: it for key, it in kept.items() if it.changes.are_few(self.n_nodes)}

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
    if isinstance(graph.entries, Packed):
        return frozen(graph.entries.present())
    return frozen(graph.derived_arrays("entries", _present, _patched_present)["present"].view(np.bool_))


def _present(graph: GraphSnapshot) -> Arrays:
    return {"present": np.fromiter((entry is not None for entry in graph.entries), dtype=np.uint8, count=graph.n_nodes)}


def _patched_present(graph: GraphSnapshot, earlier: Arrays, changes: RowChanges) -> Arrays:
    present = changes.nodes.array(earlier["present"], [0] * len(changes.nodes.new_rows)).copy()
    present[changes.touched] = [graph.entries[row] is not None for row in changes.touched.tolist()]
    return {"present": present}
