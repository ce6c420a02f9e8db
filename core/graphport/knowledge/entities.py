"""Typed entities and their mentions in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphport.errors import InvalidIdError
from graphport.matching import Matcher, fold
from graphport.model import check_text

ENTITY_TYPES = (
    "person",
    "location",
    "topic",
    "doctrine",
    "council",
    "book",
    "sermon",
    "institution",
    "event",
    "concept",
    "other",
)
"""Recommended types; any other text without a colon is a type too."""

TOPIC = "topic"
"""Type of the concepts that a book's chapters bring by themselves."""


@lru_cache(maxsize=2**18)
def name_key(name: str) -> str:
    """`fold`, remembered: one change of a gazetteer compares all of its names several times."""
    return fold(name)


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing with a type and names: ``names[0]`` is canonical, the rest are aliases, each once.

    Make one with `entity`, which checks and tidies.
    """

    type: str
    names: tuple[str, ...]

    @property
    def id(self) -> str:
        return entity_id(self.type, self.names[0])

    @property
    def key(self) -> tuple[str, str]:
        """Equal for two entities that are one: the same type, and one canonical name but for its spelling."""
        return self.type, name_key(self.names[0])

    def with_names(self, names: Iterable[str]) -> Entity:
        """The same entity with further names; those it has, in whatever case, are not added again."""
        by_key = {name_key(name): name for name in reversed([*self.names, *names])}
        ordered = dict.fromkeys(name_key(name) for name in [*self.names, *names])
        merged = tuple(by_key[key] for key in ordered)
        return self if merged == self.names else Entity(self.type, merged)


def entity_id(entity_type: str, name: str) -> str:
    """Node id of an entity: ``entity:{type}:{canonical name}``."""
    return f"entity:{entity_type}:{name}"


def entity(entity_type: str, names: str | Sequence[str]) -> Entity:
    """A checked entity. White space around and inside type and names is tidied; repeated names count once.

    Raises `InvalidIdError` for no name at all, a type or name that is empty or holds NUL, a type with a
    colon (two entities could get one id), and a name that has neither letter nor digit.
    """
    entity_type = " ".join(check_text(entity_type, "entity type").split())
    check_text(entity_type, "entity type")
    if ":" in entity_type:
        raise InvalidIdError(f"entity type {entity_type!r:.80} holds a colon; use another separator")
    tidy = [" ".join(check_text(name, "name").split()) for name in ([names] if isinstance(names, str) else names)]
    if not tidy:
        raise InvalidIdError(f"an entity of type {entity_type!r:.80} has no name; give its canonical name first")
    for name in tidy:
        fold(name)
    return Entity(entity_type, (tidy[0],)).with_names(tidy[1:])


def difference(old: Sequence[Entity], new: Sequence[Entity]) -> tuple[list[Entity], list[Entity]]:
    """The entities of ``old`` that are not in ``new``, and those of ``new`` that are not in ``old``, in order.

    One is compared only if it is not the same object on both sides: a changed gazetteer shares the others.
    """
    before, after = {id(item) for item in old}, {id(item) for item in new}
    gone = [item for item in old if id(item) not in after]
    come = [item for item in new if id(item) not in before]
    equal = set(gone) & set(come)
    return [item for item in gone if item not in equal], [item for item in come if item not in equal]


def entity_matcher(entities: Iterable[Entity]) -> Matcher:
    """One automaton over all names; a form that several entities share names them all."""
    forms: dict[str, list[str]] = {}
    for item in entities:
        for name in item.names:
            forms.setdefault(name, []).append(item.id)
    return Matcher(forms)


def count_mentions(text: str, matcher: Matcher) -> dict[str, int]:
    """How often each entity is mentioned, by id; those that are not are left out."""
    counts: dict[str, int] = {}
    for match in matcher.find(text):
        for entity in match.ids:
            counts[entity] = counts.get(entity, 0) + 1
    return dict(sorted(counts.items()))
