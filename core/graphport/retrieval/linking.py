"""What a query names: the nodes whose names stand in it, and the interface of all that find some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphport.matching import Matcher, fold_tokens
from graphport.retrieval.names import (
    MAX_WORDS,
    Name,
    is_common_word,
    is_mention,
    phrase_id,
    possessive,
    proper_names,
    words_of,
)
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage

CONTAINMENT = "containment"


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """``query[start:end]`` names the node ``node``.

    ``share`` in (0, 1] is how much of the name, as the query has it, the node's name covers: in "World
    Drivers' Championship" the node "World" covers a third. ``score`` in (0, 1] is how sure ``linker`` is.
    """

    node: str
    start: int
    end: int
    share: float = 1.0
    linker: str = CONTAINMENT
    score: float = 1.0

    @property
    def weight(self) -> float:
        """Share times score: how much the query means the node."""
        return self.share * self.score


class Linker(Protocol):
    """One way to find what a query names; several work one after the other (`link`)."""

    def __call__(self, query: str, found: Sequence[LinkedEntity], /) -> Sequence[LinkedEntity]:
        """What the query names beside ``found``, which earlier linkers found; in order of place, then id."""
        ...


def link(query: str, linkers: Iterable[Linker]) -> list[LinkedEntity]:
    """What a query names, each linker's finds behind those of the earlier ones."""
    found: list[LinkedEntity] = []
    for linker in linkers:
        found += linker(query, tuple(found))
    return found


def link_query(query: str, graph: GraphSnapshot | GraphStorage, matcher: Matcher) -> list[LinkedEntity]:
    """The nodes of ``graph`` that ``query`` names, in order of place, then id; [] if it names none.

    Names are the forms of ``matcher`` (the gazetteer's and the entries' own) and those of phrase nodes;
    of those that start first the longest wins. Where the query writes some name with a capital, only what
    is written so counts: who uses capitals, uses them for names. A query without any is linked by names
    of several words, and by those that are in lower case themselves. One round trip to a storage.
    """
    spans = sorted({*_matched(query, matcher), *_phrases(query)})
    names = _names(graph, {node for _, _, node in spans})
    found = list(_longest(span for span in spans if _is_named(query, span, names)))
    capital = [entity for entity in found if not query[entity.start : entity.end].islower()]
    whole = proper_names(query)
    return [
        LinkedEntity(entity.node, entity.start, entity.end, share_of(query, entity.start, entity.end, whole))
        for entity in capital or found
    ]


_Span = tuple[int, int, str]
"""Start, minus the end (so that the longest comes first), node."""


def _matched(query: str, matcher: Matcher) -> Iterator[_Span]:
    for match in matcher.find(query):
        for node in match.ids:
            yield match.start, -match.end, node


def _phrases(query: str) -> Iterator[_Span]:
    """What phrase node each run of words would be: few enough to ask the graph for all of them."""
    words = words_of(query)
    phrase_of = _phrase_ids(query, words)
    for first, (_, start, _) in enumerate(words):
        for word, _, end in words[first : first + MAX_WORDS]:
            for stop in {end, end - len(possessive(word))}:
                if any(char.isalnum() for char in query[start:stop]):
                    yield start, -stop, phrase_of(start, stop)


def _phrase_ids(query: str, words: Sequence[tuple[str, int, int]]) -> Callable[[int, int], str]:
    """`phrase_id` of the query from the start of one word to the end of another, or to its possessive ending."""
    if not query.isascii() or "_" in query or "\0" in query:
        return lambda start, stop: phrase_id(query[start:stop])
    # Between such characters a word's borders are token borders, so that each token need be folded only once.
    tokens: list[str] = []
    before: dict[int, int] = {}
    done = 0
    for word, start, end in words:
        for border in (start, end - len(possessive(word)), end):
            if border > done:
                tokens += fold_tokens(query[done:border])
            before[border] = len(tokens)
            done = border
    return lambda start, stop: f"phrase:{' '.join(tokens[before[start] : before[stop]])}"


def _names(graph: GraphSnapshot | GraphStorage, nodes: set[str]) -> Mapping[str, str]:
    """Names of those of the nodes that exist."""
    if not isinstance(graph, GraphSnapshot):
        return {node.id: node.name for node in graph.get_nodes(sorted(nodes)).values()}
    rows = {node: graph.index_of(node) for node in nodes}
    return {node: graph.names[row] for node, row in rows.items() if row is not None}


def _is_named(query: str, span: _Span, names: Mapping[str, str]) -> bool:
    start, minus_end, node = span
    written = query[start:-minus_end]
    if node not in names or (is_common_word(written) and (written.islower() or not query[:start].strip())):
        return False
    return is_mention(written, names[node])


def _longest(spans: Iterable[_Span]) -> Iterator[LinkedEntity]:
    taken = (0, 0)
    for start, minus_end, node in spans:
        if (start, -minus_end) == taken or start >= taken[1]:
            taken = (start, -minus_end)
            yield LinkedEntity(node, start, -minus_end)


def share_of(query: str, start: int, end: int, names: Sequence[Name]) -> float:
    """How much of the one of ``names`` around it ``query[start:end]`` covers, in words; 1 where there is none."""
    for name in names:
        if name.start <= start and end <= name.end:
            return min(1.0, len(words_of(query[start:end])) / name.words)
    return 1.0
