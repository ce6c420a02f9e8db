"""What REST and MCP answer with. Every list is in the order that matters most to its reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    model_config = ConfigDict(frozen=True, from_attributes=True)


class KnowledgeBaseName(Answer):
    name: str


class KnowledgeBases(Answer):
    """The knowledge bases the caller may see, by name."""

    knowledge_bases: list[KnowledgeBaseName]


class GraphNumbers(Answer):
    nodes: int
    edges: int
    node_kinds: Mapping[str, int]
    edge_kinds: Mapping[str, int]


class KnowledgeBaseStatus(Answer):
    """What a knowledge base holds; ``graph`` is null where none is built, ``embedder`` where search is lexical."""

    name: str
    revision: int
    documents: int
    entries: int
    vectors: int
    embedder: str | None
    backend: str | None
    graph: GraphNumbers | None


class Step(Answer):
    """A step of a path; ``forward`` is false where it goes from the edge's target to its source."""

    source: str
    source_name: str
    kind: str
    target: str
    target_name: str
    forward: bool
    probability: float


class QueryLink(Answer):
    """The query names a node by ``written``; ``score`` in (0, 1] is how sure the linker is."""

    written: str
    node: str
    node_name: str
    linker: str
    score: float


class Why(Answer):
    """Why a hit is where it is.

    Its rank in each leg (from 1), the fused score before the graph, its share of the walk (null where
    none was made), the path from an entity of the query to it, and all entities of the query.
    """

    ranks: Mapping[str, int]
    base: float
    ppr: float | None
    path_from: str | None
    path_from_name: str | None
    path: list[Step]
    links: list[QueryLink]
    notes: list[str]


class SearchHit(Answer):
    """An entry that was found; ``score`` in [0, 1], ``nodes`` the graph nodes that stand for it (with explain)."""

    rank: int
    entry: str
    score: float
    title: str
    text: str
    text_cut: bool = Field(default=False, description="The text goes on after what is shown.")
    kind: str
    location: str
    document: str
    start_line: int
    end_line: int
    meta: Mapping[str, Any]
    meta_cut: bool = Field(default=False, description="The entry has more meta than is shown here: none.")
    nodes: list[str]
    why: Why | None


class SearchAnswer(Answer):
    query: str
    graph: bool = Field(description="Whether the graph took part.")
    hits: list[SearchHit]
    next_cursor: str | None = None


class GraphNode(Answer):
    """``depth``: steps from the seed; ``degree``: all its edges, shown or not; ``community``: where asked for."""

    id: str
    kind: str
    name: str
    entry: str | None
    depth: int
    degree: int
    community: int | None = None


class GraphEdge(Answer):
    """An edge; around a node with its ``props``: of a relation between entities, the passages that say so."""

    source: str
    target: str
    kind: str
    weight: float
    props: Mapping[str, Any] = {}


class GraphAnswer(Answer):
    """A part of the graph. ``truncated``: ``max_nodes`` cut something off. ``next_cursor``: more of it follows."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    truncated: bool
    next_cursor: str | None = None


class FoundNode(Answer):
    id: str
    kind: str
    name: str


class FoundNodes(Answer):
    nodes: list[FoundNode]
    next_cursor: str | None


class NodeScore(Answer):
    id: str
    name: str
    kind: str
    score: float


class Ranking(Answer):
    """Personalized PageRank from one node: shares of the walk, the largest first; all shares sum to 1."""

    node: str
    damping: float
    scores: list[NodeScore]


class Community(Answer):
    """``members`` are the best connected ones, at most five."""

    id: int
    size: int
    members: list[FoundNode]


class Communities(Answer):
    """Communities, the largest first."""

    algorithm: Literal["leiden", "louvain"]
    resolution: float
    modularity: float
    count: int
    communities: list[Community]
    next_cursor: str | None


class Decision(Answer):
    """How mentions of a name that several entities share were read.

    ``shares`` by entity id, the best first, on average over the ``times``; ``decided_by``: what spoke for the best.
    """

    written: str
    times: int
    shares: Mapping[str, float]
    decided_by: list[str]


class Mention(Answer):
    """A text about an entity: its node and entry, where it is, and how often it names the entity.

    ``titled``: the text's own title names the entity. A shared name counts by its share; ``decisions`` say why.
    """

    node: str
    entry: str
    title: str
    document: str
    start_line: int
    titled: bool
    count: float
    decisions: list[Decision] = []


class ChapterMention(Answer):
    """A chapter of a book (or another whole without a text of its own) that mentions an entity."""

    node: str
    kind: str
    title: str
    props: Mapping[str, Any]
    count: float
    decisions: list[Decision] = []


class ListedEntity(Answer):
    id: str
    type: str
    name: str
    mentions: float = Field(description="How often it is mentioned, in all; a shared name by its share.")
    texts: int = Field(description="How many texts mention it.")


class EntityAnswer(Answer):
    """An entity, the chapters of books and the texts about it, each foremost first.

    ``count``: how often the texts mention it, ``texts``: how many do, ``in_chapters``: how many chapters, shown
    or not. ``readings``: what the name may mean, the entity first; ``others``: the ids of the rest.
    """

    id: str
    type: str
    name: str
    count: float
    texts: int
    in_chapters: int
    chapters: list[ChapterMention]
    mentions: list[Mention]
    readings: list[ListedEntity]
    others: list[str]
    next_cursor: str | None


class EntityList(Answer):
    entities: list[ListedEntity]
    next_cursor: str | None


class GazetteerEntity(Answer):
    """``shadowed``: a runtime row without effect, as the config declares the same entity."""

    id: str
    type: str
    names: list[str]
    origin: Literal["declared", "runtime"]
    shadowed: bool


class GazetteerAnswer(Answer):
    entities: list[GazetteerEntity]
    next_cursor: str | None


class Removed(Answer):
    removed: bool


class Added(Answer):
    added: int


class EntryAnswer(Answer):
    id: str
    text: str
    title: str
    kind: str
    document: str
    start_line: int
    end_line: int
    names: list[str]
    meta: Mapping[str, Any]
    flagged: bool
    valid_to: float | None


class EntryPart(EntryAnswer):
    """An entry with a part of its text."""

    meta_cut: bool = Field(description="The entry has more meta than is shown here: none.")
    next_cursor: str | None


class Report(Answer):
    """A Markdown report in which each sentence has its source's number; ``cites``: the sources' ids in that order."""

    query: str
    markdown: str
    cites: list[str]


class Symbol(Answer):
    """A symbol of source code, and where it is; ``match`` says how its name was found."""

    id: str
    name: str
    qualified: str
    kind: str
    file: str
    line: int
    end_line: int
    signature: str
    language: str
    match: Literal["exact", "case-insensitive", "prefix"]


class Symbols(Answer):
    symbols: list[Symbol]
    next_cursor: str | None


class Caller(Answer):
    """Who calls ``target``, and the line of the first call; ``candidates``: what an ambiguous call may mean."""

    symbol: Symbol
    target: str
    via: str
    confidence: str
    file: str
    line: int
    candidates: list[str]


class Callers(Answer):
    """``precise`` is false where no call of a target is known and mentions of its name are told instead."""

    targets: list[Symbol]
    callers: list[Caller]
    precise: bool
    next_cursor: str | None


class CallGraphNode(Answer):
    symbol: Symbol
    depth: int


class CallGraphEdge(Answer):
    source: str
    target: str
    kind: str
    confidence: str
    file: str
    line: int


class CallGraph(Answer):
    """What is within so many calls, nearest first; the flags say what was cut off."""

    nodes: list[CallGraphNode]
    edges: list[CallGraphEdge]
    cut_by_nodes: bool
    cut_by_depth: bool
    next_cursor: str | None


class SimilarCode(Answer):
    """Code most like a symbol's own, best first."""

    symbol: str
    hits: list[SearchHit]
    next_cursor: str | None
