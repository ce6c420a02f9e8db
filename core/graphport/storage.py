"""The port: what a graph store promises, and how a backend declares itself.

Retrieval and ranking know only `GraphStorage`. ``graphport.testing.GraphStorageContract`` holds a
backend to every promise written here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict

from graphport.changes import GraphChanges
from graphport.model import Direction, Edge, EdgeKey, GraphCounts, Node, Subgraph
from graphport.snapshot import GraphSnapshot

DEFAULT_GRAPH = "graph"


class Capability(StrEnum):
    """What some backends can do and others cannot. A declared one works; an undeclared one is refused."""

    PERSISTENT = "persistent"
    """With a ``path`` or ``dsn`` the graph outlives the process; without this, ``path`` is refused."""
    CYPHER = "cypher"
    """`GraphStorage.cypher` answers; otherwise it raises `UnsupportedError`."""
    CONCURRENT_WRITERS = "concurrent_writers"
    """Several handles and processes may write; otherwise the second writer gets `StorageBusyError`."""
    READ_ONLY = "read_only"
    """``read_only=True`` opens a handle whose writes raise `UnsupportedError`; otherwise the option is refused."""
    CHANGES = "changes"
    """`GraphStorage.changes_since` answers; otherwise it raises `UnsupportedError`."""


@runtime_checkable
class GraphStorage(Protocol):
    """A typed property multigraph, directed as stored, in one named graph of one store.

    Everywhere: rows are checked before the first write (`graphport.model`); order is by code point;
    absent is a missing key, empty is an empty container, and whatever stopped an answer is raised as a
    `StorageError`. Ids, names and kinds are kept byte for byte, weights and numbers in props bit for bit
    (-0.0 is not 0.0). Handles may be shared by threads: a transaction belongs to the thread that opened
    it, other threads' writes wait for it, and their reads see only what is committed. A read inside a
    transaction sees its own writes. Rows belong to whoever gets them: changing their props changes no graph.
    The order of the keys in props is not kept.
    """

    @property
    def graph(self) -> str:
        """Name of the graph this handle works on."""
        ...

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        """Insert or replace nodes by id, all or none; the last of duplicate ids wins.

        A node is replaced whole (props are not merged) and keeps its edges.
        """
        ...

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        """Insert or replace edges by key, all or none; the last of duplicate keys wins.

        Raises `MissingNodeError`, naming ids, when a source or target is not in the graph.
        """
        ...

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        """Delete nodes and every edge that touches them; absent ids are ignored. Returns how many nodes went."""
        ...

    def delete_edges(self, keys: Iterable[tuple[str, str, str]], /) -> int:
        """Delete edges by ``(source, target, kind)``; absent keys are ignored. Returns how many went."""
        ...

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        """The nodes that exist, in the order asked; an absent id is not in the dict. One round trip."""
        ...

    def get_edges(self, keys: Iterable[tuple[str, str, str]], /) -> dict[EdgeKey, Edge]:
        """The edges that exist, in the order asked; an absent key is not in the dict. One round trip."""
        ...

    def iter_nodes(
        self, *, kind: str | None = None, name: str | None = None, entry: str | None = None
    ) -> Iterator[Node]:
        """Nodes by id, lazily; the filters are exact and all must hold.

        Sees the graph as it was when iteration began, in bounded memory. What began in a transaction ends with
        it: `TransactionError`.
        """
        ...

    def iter_edges(self, *, kinds: Iterable[str] | None = None) -> Iterator[Edge]:
        """Edges by key ``(source, target, kind)``, lazily; as `iter_nodes`. ``kinds=[]`` gives none."""
        ...

    def incident_edges(
        self,
        ids: Iterable[str],
        /,
        *,
        direction: Direction | str = Direction.BOTH,
        kinds: Iterable[str] | None = None,
        limit_per_node: int | None = None,
    ) -> dict[str, list[Edge]]:
        """The edges of each node, by key; a node without edges has ``[]``, an absent node no entry.

        With `Direction.BOTH` a self-loop is listed once. ``limit_per_node`` (>= 0) cuts each list after
        ordering. One round trip for all ids.
        """
        ...

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
        """What lies within ``depth`` steps of the seeds, breadth first by (depth, id), at most ``max_nodes``.

        All of it is of one state, whoever commits meanwhile. Absent seeds are left out.
        `graphport.traverse.neighborhood` is this over `get_nodes` and `incident_edges` of one state.
        """
        ...

    def snapshot(self, *, kinds: Iterable[str] | None = None) -> GraphSnapshot:
        """The committed graph as columns: every node, and the edges of ``kinds``. Props are left out.

        Equal graphs give equal arrays on every backend, whatever the order of insertion. Inside a
        transaction: what the transaction sees.
        """
        ...

    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        """Replace everything with ``graph``, atomically and much faster than upserts.

        Takes the props along where the snapshot has some. Raises `TransactionError` inside a transaction
        and `InvalidInputError`, naming it, if two edges have one key.
        """
        ...

    def revision(self) -> int:
        """Grows with every committed write by anyone, never with a read or a rollback; 0 is a new graph. Cheap."""
        ...

    def identity(self) -> str | None:
        """What this graph and no other has, alike for every handle and process; None where it ends with the handle.

        A graph that was made anew, or a copy of its store in another place, has another one. So identity and
        revision together name one content for good, unless a backup takes the store's place: its revisions
        are counted again.
        """
        ...

    def changes_since(self, revision: int, /) -> GraphChanges | None:
        """What was committed after ``revision``, by anyone (`Capability.CHANGES`), up to the current revision.

        None where that is no longer known: the feed is bounded, a small write to one handle is in it at
        once, and `bulk_load`, `clear` and `drop_graph` end it. Also None inside a transaction that has
        written. Raises `UnsupportedError` on a backend without a feed.
        """
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All writes inside are committed together, or, on any exception, none. Does not nest (`TransactionError`)."""
        ...

    def counts(self) -> GraphCounts:
        """Numbers of nodes and edges, in all and by kind."""
        ...

    def clear(self) -> None:
        """Delete all nodes and edges of this graph."""
        ...

    def graphs(self) -> list[str]:
        """Names of the graphs in the same file or database, sorted; an opened graph is one of them."""
        ...

    def drop_graph(self, name: str, /) -> bool:
        """Delete a named graph and its content; False if there is none.

        Dropping the own graph empties it; it is there again with the next write.
        """
        ...

    def cypher(
        self, query: str, params: Mapping[str, Any] | None = None, /, *, columns: Iterable[str] = ("result",)
    ) -> list[tuple[Any, ...]]:
        """Rows of a user's own Cypher query (`Capability.CYPHER`); ``columns`` names what it returns.

        Each parameter of the query has its value in ``params``, and there are no others (`InvalidQueryError`).
        Raises `UnsupportedError` on a backend without Cypher.
        """
        ...

    def close(self) -> None:
        """Give up files and connections; again is harmless. Any other call then raises `StorageClosedError`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class BackendOptions(BaseModel):
    """What every backend takes; a backend's ``options_model`` adds its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    graph: str = DEFAULT_GRAPH
    read_only: bool = False


class Check(NamedTuple):
    """One thing ``graphport doctor`` looked at; ``detail`` says what was found, and, if not ``ok``, what to do."""

    check: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Backend:
    """A backend as its plugin declares it, before any driver is imported.

    ``open`` gets the validated ``options_model``; ``install_hint`` is the command as the user types it
    (``pip install 'graphport[kuzu]'``). ``missing`` returns what keeps it from working here, None if
    nothing does (a missing driver: a module name is enough); it must not import the driver. ``diagnose``
    looks at where ``options_model`` points, changes nothing and raises nothing.
    """

    name: str
    open: Callable[[Any], GraphStorage]
    capabilities: frozenset[Capability]
    options_model: type[BackendOptions]
    install_hint: str = ""
    missing: Callable[[], str | None] = lambda: None
    diagnose: Callable[[Any], Sequence[Check]] | None = None
