"""The proposer that is always there: runs of capitalised words that no known name covers.

A word that the texts mostly write small is no name because it has a capital somewhere ("Therefore"). No
model is needed; it is of no use in a language that writes every noun with a capital, or has no capitals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from functools import partial
from itertools import dropwhile

from graphport.knowledge.casing import opens_sentence
from graphport.proposals import Passage, Sighting
from graphport.retrieval.names import possessive, proper_names, words_of

_Word = tuple[str, int, int]


class Capitals:
    """Proposes runs of capitalised words."""

    name = "capitals"

    def propose(self, passages: Iterable[Passage]) -> Iterable[Sighting]:
        """Every such run, without words before it that are no part of a name.

        A single word must stand inside a sentence somewhere: where one begins, or as a heading, a capital
        says nothing.
        """
        small: Counter[str] = Counter()
        capital: Counter[str] = Counter()
        runs: list[tuple[Passage, list[_Word]]] = []
        for passage in passages:
            words = words_of(passage.text)
            for word, _, _ in words:
                (small if word == word.lower() else capital)[word.lower()] += 1
            runs += (
                (passage, [word for word in words if run.start <= word[1] < run.end])
                for run in proper_names(passage.text)
                if not passage.is_known(run.start, run.end)
            )
        ordinary = {word for word, times in small.items() if times > capital[word]}
        seen = [(passage, [*dropwhile(partial(_no_name, passage.text, ordinary), words)]) for passage, words in runs]
        inner = {words[0][0] for passage, words in seen if words and not opens_sentence(passage.text, words[0][1])}
        for passage, words in seen:
            if len(words) > 1 or (words and words[0][0] in inner):
                start, end = words[0][1], words[-1][2] - len(possessive(words[-1][0]))
                if not passage.is_known(start, end):
                    yield Sighting(passage.entry, start, passage.text[start:end])


def _no_name(text: str, ordinary: Container[str], word: _Word) -> bool:
    """Whether a capitalised word is none of a name: "Therefore", or a single letter that is no initial."""
    written, _, end = word
    return written.lower() in ordinary or (len(written) == 1 and text[end : end + 1] != ".")
