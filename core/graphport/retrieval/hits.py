"""What a search returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphport.storage import GraphStorage


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: the edge taken, and the probability that the walk takes it from where it stands.

    ``forward`` is False where the step goes from the edge's target to its source.
    """

    source: str
    kind: str
    target: str
    forward: bool
    probability: float


@dataclass(frozen=True, slots=True)
class Link:
    """The query names ``node`` by ``written``; which linker says so, and how sure it is, in (0, 1]."""

    written: str
    node: str
    linker: str
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is where it is.

    ``ranks`` and ``scores`` are per leg (``lexical``, ``dense``, ``graph``), ranks from 1; a leg that did
    not find the hit is not in them. ``base`` is the fused score in [0, 1] before the graph; ``ppr`` the
    hit's share of the walk divided by the largest share, None where no walk was made. ``path`` leads
    from ``path_from`` (an entity of the query or the node of another hit) to the hit. ``links`` are all
    entities that the query was linked to, the same for every hit.
    """

    ranks: Mapping[str, int] = field(default_factory=dict[str, int])
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    base: float = 0.0
    ppr: float | None = None
    path_from: str | None = None
    path: tuple[Hop, ...] = ()
    notes: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that was found, by the entry's id, and its score: ``Hit("chunk-17", 0.83)``.

    The rest is filled by the knowledge base; `graphport.graph_rerank` needs only the first two and hands
    the rest on.
    """

    entry: str
    score: float
    title: str = ""
    text: str = ""
    kind: str = ""
    document: str = ""
    start_line: int = 0
    end_line: int = 0
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    explanation: Explanation | None = None

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.entry

    @property
    def location(self) -> str:
        """``path:line`` of the hit in its document, the entry's id where there is none."""
        if not self.document:
            return self.entry
        return f"{self.document}:{self.start_line}" if self.start_line else self.document


def explained_names(storage: GraphStorage, hits: Iterable[Hit]) -> dict[str, str]:
    """Names by id of the nodes that explanations speak of: those the query was linked to, and those on the paths."""
    ids: set[str] = set()
    for told in (hit.explanation for hit in hits if hit.explanation is not None):
        ids.update(link.node for link in told.links)
        if told.path_from is not None:
            ids.add(told.path_from)
            ids.update(end for hop in told.path for end in (hop.source, hop.target))
    return {node.id: node.name for node in storage.get_nodes(sorted(ids)).values()} if ids else {}
