"""Entities that the gazetteer lacks: what a proposer saw, counted, for a person to accept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from graphport.errors import InvalidInputError, InvalidQueryError
from graphport.knowledge.facts import VISIBLE
from graphport.knowledge.gazetteer import Gazetteer
from graphport.knowledge.ingest import folded
from graphport.knowledge.mentions import PROSE
from graphport.knowledge.suggested_types import SuggestedTypes
from graphport.knowledge.truth import Truth
from graphport.matching import fold
from graphport.proposals import EntityProposer, Example, Known, Passage, Proposal, Sighting
from graphport.registry import plugins

EXAMPLES = 3
"""Entries that a proposal shows."""
_AROUND = 60
"""Characters shown on either side."""
_READ = 20
"""Entries by which a name's type is judged."""
_PAGE = 1000


def propose_entities(
    proposer: EntityProposer,
    passages: Iterable[Passage],
    gazetteer: Gazetteer,
    texts: Callable[[Collection[str]], Mapping[str, str]],
    *,
    limit: int,
    at_least: int,
    rejected: Collection[str] = (),
) -> list[Proposal]:
    """The ``limit`` names seen in most passages, then most often, then by name.

    Spellings that one text would mention are one name, shown as it is written most often. Left out are
    names seen in fewer than ``at_least`` passages, those the gazetteer has, what it could not hold, and
    those whose keys (`fold`) were ``rejected``.
    ``texts`` gives the texts of entries, for the examples. A name without a type gets the one that the
    words around it suggest.

    Raises `InvalidInputError` for a sighting of what does not stand where the proposer says.
    """
    types = SuggestedTypes()
    have = {fold(name) for item in gazetteer.effective for name in item.names}.union(rejected)
    by_name: dict[str, list[Sighting]] = {}
    for sighting in proposer.propose(types.reading(passages)):
        key = folded(sighting.name)
        if key is not None and key not in have:
            by_name.setdefault(key, []).append(sighting)
    counted = [_proposal(found) for found in by_name.values()]
    chosen = sorted(
        (item for item in counted if item[0].passages >= at_least),
        key=lambda item: (-item[0].passages, -item[0].count, item[0].name),
    )[:limit]
    read = texts({sighting.entry for _, first in chosen for sighting in first})
    return [
        replace(
            proposal,
            type=proposal.type or types.suggest([_place(sighting, read) for sighting in first]),
            examples=tuple(_example(proposer.name, sighting, read) for sighting in first[:EXAMPLES]),
        )
        for proposal, first in chosen
    ]


def visible_prose(truth: Truth, gazetteer: Gazetteer, now: float) -> Iterator[Passage]:
    """Passages, sections and chapters that are visible at ``now``, by id, a page at a time."""
    type_of = {item.id: item.type for item in gazetteer.effective}
    last = ""
    while True:
        with truth.read() as db:
            rows = db.execute(
                "SELECT e.id, e.text FROM entries e WHERE e.id > :last AND "  # noqa: S608 - a constant
                f"e.kind IN (SELECT value FROM json_each(:kinds)) AND {VISIBLE} ORDER BY e.id LIMIT :page",
                {"last": last, "kinds": json.dumps(sorted(PROSE)), "now": now, "page": _PAGE},
            ).fetchall()
        for entry, text in rows:
            known = (
                Known(match.start, match.end, tuple(sorted({type_of[item] for item in match.ids})))
                for match in gazetteer.matcher.find(text)
            )
            yield Passage(entry, text, tuple(known))
        if len(rows) < _PAGE:
            return
        last = rows[-1][0]


def find_proposer(name: str) -> EntityProposer:
    """The proposer of that name; else `InvalidQueryError`."""
    proposers = plugins().proposers()
    if name not in proposers:
        raise InvalidQueryError(f"no proposer {name!r:.80}; installed: {', '.join(proposers) or 'none'}")
    return proposers[name]


def _proposal(found: Sequence[Sighting]) -> tuple[Proposal, list[Sighting]]:
    """A name's sightings counted, and those to look at: the first in each of the first entries by id."""
    first: dict[str, Sighting] = {}
    for sighting in found:
        first.setdefault(sighting.entry, sighting)
    name = _most_common(sighting.name for sighting in found)
    kind = _most_common(sighting.type for sighting in found if sighting.type)
    return Proposal(name, kind, len(found), len(first), ()), [first[entry] for entry in sorted(first)[:_READ]]


def _most_common(values: Iterable[str]) -> str:
    """The most frequent value, the first by code point of several; "" of none."""
    return min(Counter(values).items(), key=lambda item: (-item[1], item[0]), default=("", 0))[0]


def _place(sighting: Sighting, texts: Mapping[str, str]) -> tuple[str, int, int]:
    return texts.get(sighting.entry, ""), sighting.start, sighting.start + len(sighting.name)


def _example(proposer: str, sighting: Sighting, texts: Mapping[str, str]) -> Example:
    text, start, end = _place(sighting, texts)
    if start < 0 or text[start:end] != sighting.name:
        raise InvalidInputError(
            f"proposer {proposer!r} saw {sighting.name!r:.80} at {start} of entry {sighting.entry!r:.80}, "
            f"where there is {text[max(0, start) : end]!r:.80}; a sighting quotes the text"
        )
    return Example(sighting.entry, " ".join(text[max(0, start - _AROUND) : end + _AROUND].split()))
