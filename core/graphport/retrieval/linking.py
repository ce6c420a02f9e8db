"""What a query names: the nodes whose names stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphport.matching import Matcher
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


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """``query[start:end]`` names the node ``node``.

    ``share`` in (0, 1] is how much of the name, as the query has it, the node's name covers: in "World
    Drivers' Championship" the node "World" covers a third.
    """

    node: str
    start: int
    end: int
    share: float = 1.0


def link_query(query: str, graph: GraphSnapshot, matcher: Matcher) -> list[LinkedEntity]:
    """The nodes that ``query`` names, in order of place, then id; [] if it names none.

    Names are the forms of ``matcher`` (the gazetteer's and the entries' own) and those of phrase nodes;
    of those that start first the longest wins. Where the query writes some name with a capital, only what
    is written so counts: who uses capitals, uses them for names. A query without any is linked by names
    of several words, and by those that are in lower case themselves.
    """
    found = list(_longest(sorted({*_matched(query, graph, matcher), *_phrases(query, graph)})))
    capital = [entity for entity in found if not query[entity.start : entity.end].islower()]
    names = proper_names(query)
    return [
        LinkedEntity(entity.node, entity.start, entity.end, _share(query, entity, names)) for entity in capital or found
    ]


_Span = tuple[int, int, str]
"""Start, minus the end (so that the longest comes first), node."""


def _matched(query: str, graph: GraphSnapshot, matcher: Matcher) -> Iterator[_Span]:
    for match in matcher.find(query):
        for node in match.ids:
            if _is_named(query, match.start, match.end, node, graph):
                yield match.start, -match.end, node


def _phrases(query: str, graph: GraphSnapshot) -> Iterator[_Span]:
    """Phrase nodes by looking up every run of words: few of them, and the graph knows all phrases there are."""
    words = words_of(query)
    for first, (_, start, _) in enumerate(words):
        for word, _, end in words[first : first + MAX_WORDS]:
            for stop in {end, end - len(possessive(word))}:
                if any(char.isalnum() for char in query[start:stop]):
                    node = phrase_id(query[start:stop])
                    if _is_named(query, start, stop, node, graph):
                        yield start, -stop, node


def _is_named(query: str, start: int, end: int, node: str, graph: GraphSnapshot) -> bool:
    row = graph.index_of(node)
    if row is None:
        return False
    written = query[start:end]
    begins = not query[:start].strip()
    if is_common_word(written) and (begins or written.islower()):
        return False
    return is_mention(written, graph.names[row])


def _longest(spans: Sequence[_Span]) -> Iterator[LinkedEntity]:
    taken = (0, 0)
    for start, minus_end, node in spans:
        if (start, -minus_end) == taken or start >= taken[1]:
            taken = (start, -minus_end)
            yield LinkedEntity(node, start, -minus_end)


def _share(query: str, entity: LinkedEntity, names: Sequence[Name]) -> float:
    for name in names:
        if name.start <= entity.start and entity.end <= name.end:
            return min(1.0, len(words_of(query[entity.start : entity.end])) / name.words)
    return 1.0
