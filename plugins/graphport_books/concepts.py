"""What a chapter is about: its salient words and names, without a model.

A word counts once for each time it stands there, twice where a capital inside a sentence marks it as a
name or a term; a capital where a sentence begins is only grammar. Several such capitals in a row are one
concept ("Event Sourcing", "Council of Trent"). The words of the heading always are concepts and count
`HEADING_WEIGHT` more. Stop words and single characters are dropped.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from graphport.knowledge.casing import opens_sentence
from graphport.matching import UNSPACED
from graphport_books.stopwords import stop_words_of

MAX_CONCEPTS = 25
"""A chapter has at most this many, so that the graph stays bounded."""
CAPITAL_WEIGHT = 2
HEADING_WEIGHT = 3

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s?$")
_UNSPACED = re.compile(rf"[{UNSPACED}\u30a1-\u30ff]")
_LETTER = re.compile(r"[^\W\d_]")
_MOSTLY = 0.3
_LINKS = frozenset("of de del della des di du do da van von zu ibn bin al".split())
_ARTICLES = frozenset("the la le las los der den dem".split())
"""A name may hold a link, or a link and an article, between two capitals."""
_NUMERAL = re.compile(r"(?=[IVXLC])X{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})|\d+")
_DIVISIONS = frozenset(
    "chapter part book volume section kapitel teil buch band chapitre partie livre capítulo parte".split()
)
"""Words of a heading that number it and say nothing of its subject."""
_PARAGRAPH = "\n\n"


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str
    key: str
    capital: bool
    opening: bool


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """A concept at a place; ``marked`` by a capital inside a sentence."""

    position: int
    key: str
    spelling: str
    marked: bool


def is_unspaced(text: str) -> bool:
    """Whether the text is mostly in a script that puts no spaces between words."""
    letters = len(_LETTER.findall(text))
    return letters > 0 and len(_UNSPACED.findall(text)) > _MOSTLY * letters


def extract_concepts(chapter_text: str, heading: str = "") -> dict[str, int]:
    """The concepts of a chapter with their salience, best first: those of the heading, then the rest.

    Each by (written with a capital inside a sentence, frequency, name). A word that is mostly written
    small is named in small letters. Empty for a script without spaces between words.
    """
    (found,) = concepts_of_book([(heading, [chapter_text])])
    return {name: sum(parts.values()) for name, parts in found.items()}


def concepts_of_book(chapters: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, dict[int, int]]]:
    """`extract_concepts` of each chapter, given as heading and passages: what each passage (by its number)
    adds to the salience of a concept. The heading's share stands with the first passage.

    Names are written as the book as a whole writes them, so that one concept has one name in it.
    """
    readings = [_Reading(heading, passages) for heading, passages in chapters]
    names = _names(occurrence for reading in readings for occurrence in reading.occurrences)
    return [reading.concepts(names) for reading in readings]


class _Reading:
    """The concepts that occur in one chapter, and where."""

    def __init__(self, heading: str, passages: Sequence[str]) -> None:
        passages = [unicodedata.normalize("NFC", passage) for passage in passages]
        text = _PARAGRAPH.join(passages)
        self._starts = list(accumulate((len(passage) + len(_PARAGRAPH) for passage in passages[:-1]), initial=0))
        self._readable = bool(passages) and not is_unspaced(text)
        words = _words(text) if self._readable else []
        stop_words = stop_words_of([word.key for word in words])
        self.occurrences = list(_occurrences(text, words, stop_words))
        self._headed = _heading_terms(heading, stop_words, {occurrence.key for occurrence in self.occurrences})

    def concepts(self, names: Mapping[str, str]) -> dict[str, dict[int, int]]:
        if not self._readable:
            return {}
        salience: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for occurrence in self.occurrences:
            passage = bisect_right(self._starts, occurrence.position) - 1
            salience[occurrence.key][passage] += CAPITAL_WEIGHT if occurrence.marked else 1
        for key in self._headed:
            salience[key][0] += HEADING_WEIGHT
        best = _ranked(self.occurrences, self._headed, names)[:MAX_CONCEPTS]
        return {names.get(key, key): dict(sorted(salience[key].items())) for key in best}


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    for match in _WORD.finditer(text):
        bare = _POSSESSIVE.sub("", match[0])
        start = match.start()
        capital = bare[:1].isupper()
        opening = capital and opens_sentence(text, start)
        words.append(_Word(start, start + len(bare), bare, bare.casefold(), capital, opening))
    return words


def _occurrences(text: str, words: Sequence[_Word], stop_words: frozenset[str]) -> Iterator[_Occurrence]:
    inside = {word.key for word in words if word.capital and not word.opening}
    at = 0
    while at < len(words):
        end = _run_end(text, words, at)
        first = at
        while first < end and _is_no_part(words[first], stop_words, inside):
            yield from _single(words[first], stop_words)
            first += 1
        last = end
        while last > first and words[last - 1].key in stop_words:
            last -= 1
        if last - first > 1:
            name = " ".join(word.text for word in words[first:last])
            yield _Occurrence(words[first].start, name.casefold(), name, marked=True)
        elif last - first == 1:
            yield from _single(words[first], stop_words)
        at = max(end, at + 1)


def _run_end(text: str, words: Sequence[_Word], at: int) -> int:
    """Behind the last word of the capitals in a row that begin at ``at``; ``at + 1`` if it is not the first of any."""
    if not words[at].capital:
        return at + 1
    end = at + 1
    while end < len(words):
        small = 0
        if words[end].key in _LINKS:
            small = 2 if end + 1 < len(words) and words[end + 1].key in _ARTICLES else 1
        last = end + small
        joined = last < len(words) and all(_adjacent(text, words[i], words[i + 1]) for i in range(end - 1, last))
        if not joined or not words[last].capital:
            break
        end = last + 1
    return end


def _adjacent(text: str, before: _Word, after: _Word) -> bool:
    """Whether only white space, and no paragraph's end, is between two words; it is one name then."""
    gap = text[before.end : after.start]
    return gap.isspace() and gap.count("\n") < 2


def _is_no_part(word: _Word, stop_words: frozenset[str], inside: set[str]) -> bool:
    """Whether the first word of a run is only there because a sentence begins, or is too common to name."""
    return word.key in stop_words or (word.opening and word.key not in inside)


def _single(word: _Word, stop_words: frozenset[str]) -> Iterator[_Occurrence]:
    if len(word.text) > 1 and word.key not in stop_words:
        yield _Occurrence(word.start, word.key, word.text, marked=word.capital and not word.opening)


def _heading_terms(heading: str, stop_words: frozenset[str], known: set[str]) -> list[str]:
    """Keys of the heading's words, and of the names in it that the text knows too."""
    words = [
        word
        for word in _words(unicodedata.normalize("NFC", heading))
        if word.key not in _DIVISIONS and not _NUMERAL.fullmatch(word.text)
    ]
    terms = [word.key for word in words if len(word.text) > 1 and word.key not in stop_words]
    folded = " ".join(heading.casefold().split())
    names = sorted(key for key in known if " " in key and f" {key} " in f" {folded} ")
    return list(dict.fromkeys([*names, *terms]))


def _names(occurrences: Iterable[_Occurrence]) -> dict[str, str]:
    """How each concept is written: as it most often is, in small letters unless capitals inside sentences prevail."""
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    small: Counter[str] = Counter()
    for occurrence in occurrences:
        if occurrence.marked:
            spellings[occurrence.key][occurrence.spelling] += 1
        elif not occurrence.spelling[0].isupper():
            small[occurrence.key] += 1
    return {
        key: min(found, key=lambda spelling: (-found[spelling], spelling))
        for key, found in spellings.items()
        if found.total() >= small[key]
    }


def _ranked(occurrences: Sequence[_Occurrence], headed: Sequence[str], names: Mapping[str, str]) -> list[str]:
    frequency = Counter(occurrence.key for occurrence in occurrences)
    marked = {occurrence.key for occurrence in occurrences if occurrence.marked}
    keys = frequency.keys() | set(headed)
    return sorted(
        keys, key=lambda key: (key not in headed, key not in marked, -frequency[key], names.get(key, key), key)
    )
