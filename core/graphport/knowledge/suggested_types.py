"""A type for a name that nobody declared: the one whose known names have such words around them.

The classifier of `graphport.knowledge.cues`, taught by the gazetteer's names. On 31,102 verses with half of
3,000 people and places declared, 85 % of the first names proposed of the other half get a type, and 97 %
of these the right one (``benchmarks/relations.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from graphport.knowledge.candidates import COMMON_TYPES
from graphport.knowledge.cues import Cues, TypeCues, cues_at, probabilities
from graphport.proposals import Known, Passage

_SURE = 0.7
"""Below this probability no type is suggested."""


class SuggestedTypes:
    """Learns from passages that are read through it."""

    def __init__(self) -> None:
        self._certain: list[tuple[str, Cues]] = []
        self._taught: TypeCues | None = None

    def reading(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """The passages, each learnt from as it goes by."""
        for passage in passages:
            for known in passage.known:
                if _teaches(passage.text, known):
                    self._certain.append((known.types[0], cues_at(passage.text, known.start, known.end)))
            yield passage

    def suggest(self, places: Sequence[tuple[str, int, int]]) -> str:
        """The type of a name that stands at ``text[start:end]`` for each of ``places``; "" if that is in doubt."""
        if self._taught is None:
            self._taught = TypeCues(self._certain)
        types = sorted(self._taught.types)
        if len(types) < 2 or not places:
            return ""
        evidence: Counter[str] = Counter()
        for place in places:
            evidence.update(self._taught.evidence(cues_at(*place)))
        found = probabilities({kind: value / len(places) for kind, value in evidence.items()}, types) or {}
        best = min(types, key=lambda kind: (-found[kind], kind))
        return best if found[best] >= _SURE else ""


def _teaches(text: str, known: Known) -> bool:
    """Whether a known name is of one type, and no ordinary word that happens to be somebody's name."""
    return len(known.types) == 1 and (not text[known.start].islower() or known.types[0] in COMMON_TYPES)
