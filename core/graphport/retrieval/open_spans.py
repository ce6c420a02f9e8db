"""The parts of a query that look like names and that nothing was linked to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphport.retrieval.linking import LinkedEntity
from graphport.retrieval.names import MAX_WORDS, is_common_word, possessive, words_of


@dataclass(frozen=True, slots=True)
class Span:
    """``query[start:end]``, ``words`` words."""

    start: int
    end: int
    words: int


def open_spans(query: str, found: Sequence[LinkedEntity]) -> list[Span]:
    """Runs of words that may be names and are not linked as a whole, the longest first, then by place.

    Where the query has capitals, each run holds a capitalised word that no entity of ``found`` covers;
    else it has several words, and none of them is covered. No run ends with a word like "of", or begins
    with one unless it has a capital inside the query ("an album of The Who").
    """
    words = words_of(query)
    is_open = [not any(entity.start <= start and end <= entity.end for entity in found) for _, start, end in words]
    is_capital = [word[0].isupper() and not is_common_word(word) for word, _, _ in words]
    spans: list[Span] = []
    for first, last in _capitalised(is_open, is_capital) if any(is_capital) else _in_lower_case(is_open):
        (begin, start, _), (final, _, end) = words[first], words[last]
        begins = not is_common_word(begin) or (first > 0 and begin[0].isupper())
        if begins and not is_common_word(final):
            spans.append(Span(start, end - len(possessive(final)), last - first + 1))
    return sorted(spans, key=lambda span: (-span.words, span.start))


def _capitalised(is_open: Sequence[bool], is_capital: Sequence[bool]) -> Iterator[tuple[int, int]]:
    for first in range(len(is_open)):
        for last in range(first, min(first + MAX_WORDS, len(is_open))):
            if any(is_open[at] and is_capital[at] for at in range(first, last + 1)):
                yield first, last


def _in_lower_case(is_open: Sequence[bool]) -> Iterator[tuple[int, int]]:
    for first in range(len(is_open)):
        for last in range(first + 1, min(first + MAX_WORDS, len(is_open))):
            if all(is_open[first : last + 1]):
                yield first, last
