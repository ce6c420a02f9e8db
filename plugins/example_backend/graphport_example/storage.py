"""A graph in two dicts that are never changed: a write copies them and puts the changed copy in their place.

That makes the promises easy to keep. A batch is one replacement, so it is atomic; a transaction works on a copy
that only its thread looks at, and a rollback forgets it; whoever iterates keeps the dicts that were there when
it began. The price is that each write costs the size of the graph.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NoReturn, Self

from graphport import Direction, Edge, EdgeKey, GraphCounts, GraphSnapshot, Node, Subgraph
from graphport.errors import MissingNodeError, StorageClosedError, TransactionError, UnsupportedError
from graphport.model import check_edges, check_ids, check_keys, check_kinds, check_nodes, check_text, own_row
from graphport.pending import rows_within
from graphport.snapshot import check_loadable
from graphport.traverse import check_direction, check_limit, neighborhood


@dataclass(frozen=True)
class State:
    """One state of the graph; its dicts are never changed."""

    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    edges: dict[EdgeKey, Edge] = field(default_factory=dict[EdgeKey, Edge])
    revision: int = 0
    exists: bool = True


class ExampleStorage:
    """`graphport.GraphStorage` in this process; each handle is a graph of its own and ends with it."""

    def __init__(self, graph: str) -> None:
        self._graph = check_text(graph, "graph name")
        self._committed = State()
        self._closed = False
        self._writing = threading.Lock()
        self._mine = threading.local()  # .transaction: that of this thread; .state: what it sees

    @property
    def graph(self) -> str:
        return self._graph

    @property
    def _state(self) -> State:
        if self._closed:
            raise StorageClosedError(f"graph {self._graph!r} was closed; open it again")
        return getattr(self._mine, "state", None) or self._committed

    def _change(self, change: Callable[[State], State]) -> State:
        """Make the next state, as part of this thread's transaction if it has one; returns the state before."""
        before = self._state
        if hasattr(self._mine, "state"):
            self._mine.state = change(before)
            return before
        with self._writing:
            before = self._state
            self._committed = replace(change(before), revision=before.revision + 1)
            return before

    # -- writes: check everything, then replace the state -------------------------------------------

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        batch = check_nodes(nodes)
        self._change(lambda state: replace(state, nodes=state.nodes | batch, exists=True))

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        batch = check_edges(edges)

        def change(state: State) -> State:
            missing = tuple({end: None for key in batch for end in key[:2] if end not in state.nodes})
            if missing:
                raise MissingNodeError(f"edges end in absent nodes {missing!r:.200}; insert them first", missing)
            return replace(state, edges=state.edges | batch, exists=True)

        self._change(change)

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        gone = set(check_ids(ids))
        before = self._change(
            lambda state: replace(
                state,
                nodes={key: node for key, node in state.nodes.items() if key not in gone},
                edges={key: edge for key, edge in state.edges.items() if gone.isdisjoint(key[:2])},
            )
        )
        return len(gone & before.nodes.keys())

    def delete_edges(self, keys: Iterable[tuple[str, str, str]], /) -> int:
        gone = set(check_keys(keys))
        before = self._change(
            lambda state: replace(state, edges={key: edge for key, edge in state.edges.items() if key not in gone})
        )
        return len(gone & before.edges.keys())

    def clear(self) -> None:
        self._change(lambda state: State(revision=state.revision))

    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        if hasattr(self._mine, "state"):
            raise TransactionError("bulk_load inside a transaction; end it first")
        graph = check_loadable(graph)
        nodes, edges = check_nodes(graph.iter_nodes()), check_edges(graph.iter_edges())
        self._change(lambda state: State(nodes, edges, state.revision))

    def drop_graph(self, name: str, /) -> bool:
        if check_text(name, "graph name") != self._graph or not self._state.exists:
            return False
        return self._change(lambda state: State(revision=state.revision, exists=False)).exists

    @contextmanager
    def transaction(self) -> Generator[None]:
        if hasattr(self._mine, "state"):
            raise TransactionError("a transaction of this thread is open already; they do not nest")
        with self._writing:
            before = self._mine.state = self._state
            self._mine.transaction = object()
            try:
                yield
                if self._state is not before:
                    self._committed = replace(self._state, revision=before.revision + 1)
            finally:
                del self._mine.state, self._mine.transaction

    # -- reads: take the state once, and answer from it ----------------------------------------------

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        found = self._state.nodes
        return {node_id: own_row(found[node_id]) for node_id in check_ids(ids) if node_id in found}

    def get_edges(self, keys: Iterable[tuple[str, str, str]], /) -> dict[EdgeKey, Edge]:
        found = self._state.edges
        return {key: own_row(found[key]) for key in check_keys(keys) if key in found}

    def iter_nodes(
        self, *, kind: str | None = None, name: str | None = None, entry: str | None = None
    ) -> Iterator[Node]:
        filters = {"kind": kind, "name": name, "entry": entry}
        wanted = {field: check_text(value, field) for field, value in filters.items() if value is not None}
        found = self._state.nodes
        rows = (found[node_id] for node_id in sorted(found))
        fitting = (node for node in rows if all(getattr(node, field) == value for field, value in wanted.items()))
        return rows_within(map(own_row, fitting), self._transaction)

    def iter_edges(self, *, kinds: Iterable[str] | None = None) -> Iterator[Edge]:
        wanted, found = check_kinds(kinds), self._state.edges
        rows = (own_row(found[key]) for key in sorted(found) if wanted is None or key.kind in wanted)
        return rows_within(rows, self._transaction)

    def _transaction(self) -> object | None:
        return getattr(self._mine, "transaction", None)

    def incident_edges(
        self,
        ids: Iterable[str],
        /,
        *,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
        limit_per_node: int | None = None,
    ) -> dict[str, list[Edge]]:
        way, state = check_direction(direction), self._state
        limit = None if limit_per_node is None else check_limit(limit_per_node, "limit_per_node")
        found: dict[str, list[Edge]] = {node_id: [] for node_id in check_ids(ids) if node_id in state.nodes}
        wanted = check_kinds(kinds)
        for key in sorted(key for key in state.edges if wanted is None or key.kind in wanted):
            edge = own_row(state.edges[key])
            ends = {
                Direction.OUT: {edge.source},
                Direction.IN: {edge.target},
                Direction.BOTH: {edge.source, edge.target},
            }
            for node_id in ends[way] & found.keys():
                found[node_id].append(edge)
        return {node_id: edges[:limit] for node_id, edges in found.items()}

    def neighborhood(
        self,
        seeds: Iterable[str],
        /,
        *,
        depth: int = 1,
        max_nodes: int = 1000,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
    ) -> Subgraph:
        still = ExampleStorage(self._graph)  # all steps of the walk see one state, whoever commits meanwhile
        still._committed = self._state
        return neighborhood(still, seeds, depth=depth, max_nodes=max_nodes, direction=direction, kinds=kinds)

    def snapshot(self, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
        state, wanted = self._state, check_kinds(kinds)
        nodes = (replace(node, props={}) for node in state.nodes.values())
        edges = (replace(edge, props={}) for key, edge in state.edges.items() if wanted is None or key.kind in wanted)
        changed = state is not self._committed
        return GraphSnapshot.from_rows(nodes, edges, revision=None if changed else state.revision)

    def revision(self) -> int:
        return self._state.revision

    def identity(self) -> str | None:
        _ = self._state  # which a closed handle refuses
        return None

    def changes_since(self, *_: object, **__: object) -> NoReturn:
        raise UnsupportedError("the example backend keeps no changes; read the snapshot anew")

    def counts(self) -> GraphCounts:
        state = self._state
        nodes, edges = Counter(node.kind for node in state.nodes.values()), Counter(key.kind for key in state.edges)
        return GraphCounts(nodes.total(), edges.total(), dict(sorted(nodes.items())), dict(sorted(edges.items())))

    def graphs(self) -> list[str]:
        return [self._graph] if self._state.exists else []

    def cypher(self, *_: object, **__: object) -> NoReturn:
        raise UnsupportedError("the example backend has no Cypher; choose the backend kuzu or age")

    def close(self) -> None:
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
