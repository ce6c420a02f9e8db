"""The words around a mention tell its type: "in X" is a place, "X said" a person, in any language.

A naive Bayes classifier over the two words on either side, taught by the mentions whose type is not in
doubt. Nothing else is known of the language.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

Cues = tuple[str, str, str, str]
"""The second and first word before a mention, the first and second behind it, folded; "" at the text's ends."""

_WORD = re.compile(r"[^\W\d_]+|[.,;:!?]")
_WINDOW = 40
_SMOOTHING = 0.5  # Jeffreys' prior
_FEWEST = 10
"""A type with fewer certain mentions than this teaches nothing."""
_DOUBT = 0.05
"""Naive Bayes is too sure of itself; no type gets less than this, so that other evidence can win."""


def cues_at(text: str, start: int, end: int) -> Cues:
    """The cues of the mention ``text[start:end]``."""
    before = _WORD.findall(text[max(0, start - _WINDOW) : start].casefold())[-2:]
    behind = _WORD.findall(text[end : end + _WINDOW].casefold())[:2]
    first, second = ["", "", *before][-2:]
    third, fourth = [*behind, "", ""][:2]
    return first, second, third, fourth


class TypeCues:
    """What the words around mentions of each type are.

    ``certain`` are ``(type, cues)`` of mentions whose type is known.
    """

    def __init__(self, certain: Iterable[tuple[str, Cues]]) -> None:
        self._seen: Counter[str] = Counter()
        self._words: defaultdict[str, Counter[tuple[int, str]]] = defaultdict(Counter)
        for kind, cues in certain:
            self._seen[kind] += 1
            self._words[kind].update(enumerate(cues))

    @cached_property
    def types(self) -> frozenset[str]:
        """Types with enough certain mentions."""
        return frozenset(kind for kind, seen in self._seen.items() if seen >= _FEWEST)

    def evidence(self, cues: Cues) -> dict[str, float]:
        """Log P(cues | type) of each of `types`."""
        return {kind: self._log_likelihood(kind, cues) for kind in self.types}

    def _log_likelihood(self, kind: str, cues: Cues) -> float:
        seen, words = self._seen[kind], self._words[kind]
        return sum(math.log((words[place] + _SMOOTHING) / (seen + 2 * _SMOOTHING)) for place in enumerate(cues))


def probabilities(evidence: Mapping[str, float], types: Collection[str]) -> dict[str, float] | None:
    """P(type) for the given types, within [0.05, 0.95]; None if one of them has no evidence."""
    if not all(kind in evidence for kind in types):
        return None
    best = max(evidence[kind] for kind in types)
    weights = {kind: math.exp(evidence[kind] - best) for kind in types}
    total = sum(weights.values())
    return {kind: min(1 - _DOUBT, max(_DOUBT, weight / total)) for kind, weight in weights.items()}
