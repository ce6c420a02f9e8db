"""Who may propose entities that the gazetteer lacks: the interface of proposers.

A proposer reads passages and says where it saw what may be an entity. It need not know of capitals: a
language model or a tagger is one, too. What it saw is counted, shown to a person and added by nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Known:
    """``text[start:end]`` of a passage names an entity of one of ``types``, which are sorted."""

    start: int
    end: int
    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of a visible entry, with the names in it that the gazetteer knows, in order."""

    entry: str
    text: str
    known: tuple[Known, ...] = ()

    def is_known(self, start: int, end: int) -> bool:
        """Whether a known name covers ``text[start:end]``."""
        return any(name.start <= start and end <= name.end for name in self.known)


@dataclass(frozen=True, slots=True)
class Sighting:
    """``name`` stands at ``start`` in the text of ``entry`` and may be an entity, of ``type`` if that is known."""

    entry: str
    start: int
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A few words around a proposed name in an entry."""

    entry: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A name that may be an entity: ``count`` sightings in ``passages`` entries, and some of these.

    ``type`` is what most sightings say; where none says any, what the words around the name suggest, or "".
    """

    name: str
    type: str
    count: int
    passages: int
    examples: tuple[Example, ...]


@runtime_checkable
class EntityProposer(Protocol):
    """Something that sees entities in passages; a plugin offers it by the hook ``graphport_proposers``."""

    name: str

    def propose(self, passages: Iterable[Passage]) -> Iterable[Sighting]:
        """What may be entities in the passages, which can be read once. Names that are known need not be left out."""
        ...
