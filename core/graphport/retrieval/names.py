"""Proper names in a text, told by their capitals: what links texts where nobody declared a name.

No model and no dictionary: a run of capitalised words is a name ("Neil Young", "University of
Copenhagen", "J. M. Barrie"). What it finds besides (months, nationalities) does no harm where a name
counts the less the more entries hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphport.matching import fold

MAX_WORDS = 8
"""Longer runs of capitals are headlines, not names."""

_WORD = re.compile(r"\w[\w'\u2019-]*")
_POSSESSIVE = re.compile(r"['\u2019][sS]?$")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)\s*$")
_BEFORE_SENTENCE = frozenset('.!?:;"“”(«»\n')
# Small words that names hold inside, and words whose capital only says that a sentence begins.
_INSIDE = frozenset("al bin da de del della den der des di du el ibn la le of the van von zu".split())
_NOT_NAMES = frozenset(
    "a after all also although an and are as at be because before besides both but by can could did do does during "
    "each for from had has have he her here hers his how however i if in into is it its later many most my no not of "
    "on one or other our she since so some such than that the their then there these they this those through to two "
    "under until was we were what when where which while who whom whose why will with would you your".split()
)

_Word = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Name:
    """``text[start:end]`` is a proper name of ``words`` words."""

    start: int
    end: int
    words: int


def proper_names(text: str) -> list[Name]:
    """The proper names of a text, in order; none overlap.

    A single word that begins a sentence is a name only if the text has it with a capital elsewhere too.
    """
    words = words_of(text)
    inner = {word for word, start, _ in words if word[0].isupper() and not _begins_sentence(text, start)}
    found: list[Name] = []
    for begin, last in _runs(text, words):
        first = next((at for at in range(begin, last) if _may_begin(words[at][0])), last)
        word, start, _ = words[first]
        alone = first == last
        if alone and (len(word) < 2 or not _may_begin(word) or (word not in inner and _begins_sentence(text, start))):
            continue
        if last - first < MAX_WORDS:
            found.append(Name(start, words[last][2] - len(possessive(words[last][0])), last - first + 1))
    return found


def words_of(text: str) -> list[_Word]:
    """Words with their place, ``(word, start, end)``; apostrophes and hyphens join."""
    return [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def title_forms(title: str) -> tuple[str, ...]:
    """What texts call the thing that an entry's title names: the title, and without a note in parentheses.

    ``"Bullet (2014 film)"`` is called ``"Bullet"`` too.
    """
    bare = _PARENTHESIS.sub("", title)
    return (title, bare) if bare and bare != title else (title,)


def is_mention(written: str, name: str) -> bool:
    """Whether a text that has ``written`` means the thing called ``name``.

    One word in lower case is the common noun and not the thing with a capital: "hope", the film "Hope".
    """
    return not written.islower() or name.islower() or len(written.split()) > 1


def is_common_word(word: str) -> bool:
    """Whether a word is one that begins sentences and is no name ("However")."""
    return word.lower() in _NOT_NAMES


def phrase_id(name: str) -> str:
    """Node of a title or name: equal for all spellings that one text would mention."""
    return f"phrase:{fold(name)}"


def _runs(text: str, words: list[_Word]) -> Iterator[tuple[int, int]]:
    """First and last word of each run of capitalised words, small words inside."""
    at = 0
    while at < len(words):
        if words[at][0][0].isupper():
            first = at
            while (following := _continues(text, words, at)) is not None:
                at = following
            yield first, at
        at += 1


def _may_begin(word: str) -> bool:
    return word[0].isupper() and not is_common_word(word)


def _continues(text: str, words: list[_Word], last: int) -> int | None:
    """The next word of the run that has reached ``last``, None at its end."""
    for at in range(last + 1, min(last + 4, len(words))):
        previous, _, end = words[at - 1]
        word, start, _ = words[at]
        is_initial = len(previous) == 1 and text[end:start] == ". "
        if not (text[end:start] in (" ", "\u00a0") or is_initial) or len(possessive(previous)) > 1:
            return None
        if word[0].isupper() or (word[0].isdigit() and at == last + 1):
            return at
        if word not in _INSIDE:
            return None
    return None


def _begins_sentence(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] in " \u00a0":
        at -= 1
    return at < 0 or text[at] in _BEFORE_SENTENCE


def possessive(word: str) -> str:
    """The possessive ending of a word ("'s", or the apostrophe of "Drivers'"), "" if it has none."""
    found = _POSSESSIVE.search(word)
    return found.group() if found else ""
