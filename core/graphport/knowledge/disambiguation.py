"""Which entity a mention means when several have the name.

Each candidate gets a weight, the product of what speaks for it. The shares are the weights divided by
their sum: the best candidate is the reading, and the losing ones keep theirs.

==================  ===================================================================================
canonical name      1 for the canonical name (a qualifier in brackets aside: "Joseph (son of Jacob)"),
                    1/4 for a part of it ("Trent" of "Council of Trent"), 1/16 for another alias
words around        P(type | the two words on either side), as mentions of a single type teach it,
                    here and on average over the mentions of the name (`graphport.knowledge.cues`)
other names nearby  8 if the chapter has another name of the candidate, or a name in its qualifier
usual company       8 if so do the chapters of more than half of the name's mentions
company             0.3 + its share of a walk from the entities of the chapter that nobody contests
                    (`graphport.knowledge.company`), where no other name is nearby to tell more
==================  ===================================================================================

If nothing tells two candidates apart, the one with more names wins, then the one declared first.

Ordinary words are told from proper names by their case (`graphport.knowledge.candidates`), and an alias
that is itself written small ("the prophet") needs another name of the same entity in the chapter.

The factors are round numbers, chosen on the 31,102 verses with 3,000 entities that they are measured on
(``benchmarks/entities.py``), so another corpus may do worse. What matters is their order: an alias with
other names nearby is still less than a canonical name. Halving or doubling one of them costs at most 0.4
points of precision and 0.2 of recall while that holds, and two where it does not; taking a third for "more
than half" costs four.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from graphport.knowledge.candidates import COMMON_TYPES, Mention, find_mentions, ordinary_words
from graphport.knowledge.company import Company
from graphport.knowledge.cues import Cues, TypeCues, probabilities
from graphport.knowledge.gazetteer import Gazetteer
from graphport.matching import Matcher, fold

Reason = Literal[
    "only reading", "ordinary word", "canonical name", "words around", "other names nearby", "usual company",
    "company", "more names", "declared first",
]  # fmt: skip
Factors = dict[Reason, dict[str, float]]

CANONICAL, PART_OF_CANONICAL, ALIAS = 1.0, 1 / 4, 1 / 16
NEARBY = USUAL = 8.0
MOSTLY = 0.5

_QUALIFIER = re.compile(r"\s*\(([^()]*)\)\s*$")
_ROUNDING = 9


@dataclass(frozen=True, slots=True)
class Reading:
    """One mention, ``text[start:end]``, and what it means.

    ``shares`` are the candidates, best first, and sum to 1; empty for an ordinary word that only looks
    like a name. ``decided_by`` is what speaks more for the best candidate than for any other.
    """

    start: int
    end: int
    shares: Mapping[str, float]
    decided_by: tuple[Reason, ...]

    @property
    def id(self) -> str | None:
        """Id of the entity that is meant; None for an ordinary word."""
        return next(iter(self.shares), None)


def resolve_mentions(
    chapters: Mapping[str, str], gazetteer: Gazetteer, *, matcher: Matcher | None = None
) -> dict[str, list[Reading]]:
    """Every mention of every chapter (by its id) with its reading, in the order of the text.

    A function of all chapters together, for a name is decided by the company it keeps everywhere.
    ``matcher`` finds the mentions, by default the gazetteer's own; of what it finds, only entities of the
    gazetteer count.
    """
    finder = gazetteer.matcher if matcher is None else matcher
    mentions = {chapter: find_mentions(text, finder, gazetteer.ids) for chapter, text in chapters.items()}
    ordinary = ordinary_words(mentions.values(), gazetteer.effective)
    for chapter, found in mentions.items():
        mentions[chapter] = [
            replace(mention, ids=()) if (mention.form, mention.case) in ordinary else mention for mention in found
        ]
    corpus = _Corpus(mentions, gazetteer)
    return {chapter: [corpus.read(chapter, mention) for mention in found] for chapter, found in mentions.items()}


def resolved_mentions(readings: Iterable[Reading]) -> dict[str, float]:
    """Mentions by entity id, each divided as its reading shares it; by id."""
    weights: dict[str, float] = {}
    for reading in readings:
        for entity, share in reading.shares.items():
            weights[entity] = weights.get(entity, 0.0) + share
    return dict(sorted(weights.items()))


class _Corpus:
    """What all chapters together say about the names."""

    def __init__(self, mentions: Mapping[str, Sequence[Mention]], gazetteer: Gazetteer) -> None:
        self._mentions = mentions
        self._matcher = gazetteer.matcher
        self._entities = {item.id: item for item in gazetteer.effective}
        self._order = {item.id: number for number, item in enumerate(gazetteer.effective)}
        self._forms = {item.id: [fold(name) for name in item.names] for item in gazetteer.effective}
        self._counts: dict[str, Counter[str]] = {}
        self._ids: dict[str, tuple[str, ...]] = {}
        for chapter, mention in self._each():
            self._counts.setdefault(mention.form, Counter())[chapter] += 1
            self._ids[mention.form] = mention.ids
        self._standings: dict[tuple[str, str], float] = {}
        self._evidence: dict[tuple[str, str], frozenset[str]] = {}
        self._usual: dict[tuple[str, str], bool] = {}

    def _each(self) -> Iterator[tuple[str, Mention]]:
        """Every mention that may be a name, with its chapter."""
        for chapter, found in self._mentions.items():
            for mention in found:
                if mention.ids:
                    yield chapter, mention

    def read(self, chapter: str, mention: Mention) -> Reading:
        """The reading of one mention."""
        start, end, ids = mention.start, mention.end, self._in_place(chapter, mention)
        if not ids:
            return Reading(start, end, {}, ("ordinary word",))
        if len(ids) == 1:
            return Reading(start, end, {ids[0]: 1.0}, ("only reading",))
        factors = self._own_evidence(chapter, mention, ids)
        if len(set(factors["other names nearby"].values())) == 1:
            company = self._company.evidence(chapter, ids)
            factors |= {"company": company} if company else {}
        shares = _shares(factors, ids)
        ordered = sorted(ids, key=lambda entity: (-round(shares[entity], _ROUNDING), *self._last_resort(entity)))
        return Reading(start, end, {entity: shares[entity] for entity in ordered}, self._reasons(factors, ordered))

    def _in_place(self, chapter: str, mention: Mention) -> tuple[str, ...]:
        """The candidates, without the proper names for which a small alias is out of place here."""
        if mention.case != "small":
            return mention.ids
        return tuple(
            entity
            for entity in mention.ids
            if self._entities[entity].type in COMMON_TYPES
            or self._standing(entity, mention.form) == CANONICAL
            or chapter in self._chapters_with_evidence(entity, mention.form)
        )

    def _last_resort(self, entity: str) -> tuple[int, int]:
        return -len(self._forms[entity]), self._order[entity]

    def _reasons(self, factors: Factors, ordered: Sequence[str]) -> tuple[Reason, ...]:
        best, *rivals = ordered
        reasons: list[Reason] = [
            kind for kind, factor in factors.items() if factor[best] > max(factor[entity] for entity in rivals)
        ]
        if reasons:
            return tuple(reasons)
        more_names = len(self._forms[best]) > max(len(self._forms[entity]) for entity in rivals)
        return ("more names",) if more_names else ("declared first",)

    def _own_evidence(self, chapter: str, mention: Mention, ids: Sequence[str]) -> Factors:
        """Everything but the company, by kind and candidate."""
        form = mention.form
        near = {entity: chapter in self._chapters_with_evidence(entity, form) for entity in ids}
        factors: Factors = {
            "canonical name": {entity: self._standing(entity, form) for entity in ids},
            "other names nearby": {entity: NEARBY if near[entity] else 1.0 for entity in ids},
            "usual company": {entity: USUAL if self._is_usual(entity, form) else 1.0 for entity in ids},
        }
        types = self._type_probabilities(mention, ids)
        if types:
            factors["words around"] = {entity: types[self._entities[entity].type] for entity in ids}
        return factors

    # -- names --------------------------------------------------------------------------------------

    def _standing(self, entity: str, form: str) -> float:
        known = self._standings.get((entity, form))
        if known is None:
            known = self._standings[entity, form] = self._judge_standing(entity, form)
        return known

    def _judge_standing(self, entity: str, form: str) -> float:
        """How near a form is to the canonical name.

        Where that occurs nowhere (an identifier, say), the first name that does is as good as a part of it.
        """
        canonical = self._entities[entity].names[0]
        bare = _QUALIFIER.sub("", canonical) or canonical
        heads = {fold(canonical), fold(bare)}
        if form in heads:
            return CANONICAL
        if f" {form} " in f" {fold(canonical)} ":
            return PART_OF_CANONICAL
        occurring = [name for name in self._forms[entity] if name in self._counts]
        stands_in = heads.isdisjoint(self._counts) and occurring[:1] == [form]
        return PART_OF_CANONICAL if stands_in else ALIAS

    def _chapters_with_evidence(self, entity: str, form: str) -> frozenset[str]:
        """Chapters with another name that makes one think of the candidate first, or a name in its qualifier."""
        known = self._evidence.get((entity, form))
        if known is None:
            names = {name for name in self._forms[entity] if self._comes_first(entity, name)}
            names |= self._qualifier_names(entity)
            known = frozenset(chapter for name in names - {form} for chapter in self._counts.get(name, ()))
            self._evidence[entity, form] = known
        return known

    def _comes_first(self, entity: str, name: str) -> bool:
        best = max((self._standing(rival, name) for rival in self._ids.get(name, ())), default=0.0)
        return self._standing(entity, name) >= best

    def _qualifier_names(self, entity: str) -> set[str]:
        qualifiers = [found[1] for name in self._entities[entity].names if (found := _QUALIFIER.search(name))]
        spans = [text[match.start : match.end] for text in qualifiers for match in self._matcher.find(text)]
        return {fold(span) for span in spans} - set(self._forms[entity])

    def _is_usual(self, entity: str, form: str) -> bool:
        known = self._usual.get((entity, form))
        if known is None:
            chapters, counts = self._chapters_with_evidence(entity, form), self._counts[form]
            near = sum(times for chapter, times in counts.items() if chapter in chapters)
            known = self._usual[entity, form] = near > MOSTLY * counts.total()
        return known

    # -- words around -------------------------------------------------------------------------------

    def _types(self, ids: Iterable[str]) -> set[str]:
        return {self._entities[entity].type for entity in ids}

    @cached_property
    def _cues(self) -> TypeCues:
        def certain() -> Iterator[tuple[str, Cues]]:
            for _, mention in self._each():
                types = self._types(mention.ids)
                if len(types) == 1 and (mention.case == "name" or types <= COMMON_TYPES):
                    yield types.pop(), mention.cues

        return TypeCues(certain())

    @cached_property
    def _usual_cues(self) -> dict[str, dict[str, float]]:
        """Mean evidence over the mentions of each form that several types share."""
        sums: dict[str, Counter[str]] = {}
        for _, mention in self._each():
            if len(self._types(mention.ids)) > 1:
                sums.setdefault(mention.form, Counter()).update(self._cues.evidence(mention.cues))
        return {
            form: {kind: value / self._counts[form].total() for kind, value in total.items()}
            for form, total in sums.items()
        }

    def _type_probabilities(self, mention: Mention, ids: Sequence[str]) -> dict[str, float] | None:
        types = sorted(self._types(ids))
        if len(types) == 1:
            return None
        usual = self._usual_cues[mention.form]
        here = self._cues.evidence(mention.cues)
        return probabilities({kind: here[kind] + usual[kind] for kind in here}, types)

    # -- company ------------------------------------------------------------------------------------

    @cached_property
    def _company(self) -> Company:
        settled: Counter[tuple[str, str]] = Counter()
        alone: dict[str, Counter[str]] = {chapter: Counter() for chapter in self._mentions}
        for chapter, mention in self._each():
            if len(mention.ids) == 1:
                settled[chapter, mention.ids[0]] += 1
                alone[chapter][mention.ids[0]] += 1
                continue
            shares = _shares(self._own_evidence(chapter, mention, mention.ids), mention.ids)
            best = max(shares, key=lambda entity: shares[entity])
            if shares[best] > MOSTLY:
                settled[chapter, best] += 1
        return Company(settled, alone)


def _shares(factors: Factors, ids: Sequence[str]) -> dict[str, float]:
    weights = dict.fromkeys(ids, 1.0)
    for factor in factors.values():
        for entity in ids:
            weights[entity] *= factor[entity]
    total = sum(weights.values())
    return {entity: weight / total for entity, weight in weights.items()}
