"""The gazetteer: entities declared in the config, and those added while reading, as one immutable value.

The declared layer is the config's and cannot be changed at run time. The runtime layer is kept whatever
becomes of the config: a runtime row whose entity the config now declares is *shadowed*, that is, kept,
listed and without effect until the config lets go of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from graphport.errors import EntityConflictError
from graphport.knowledge.entities import Entity, count_mentions, entity, entity_matcher, name_key
from graphport.matching import Matcher

Origin = Literal["declared", "runtime"]


@dataclass(frozen=True, slots=True)
class GazetteerRow:
    """An entity as listed; ``shadowed``: a runtime row without effect, as the config declares the entity."""

    id: str
    type: str
    names: tuple[str, ...]
    origin: Origin
    shadowed: bool = False


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name that several entities have: each mention of it needs a decision which one is meant."""

    name: str
    ids: tuple[str, ...]
    across_types: bool


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: ids of entities that are new, got further names, or are declared and thus left alone."""

    added: tuple[str, ...] = ()
    extended: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gazetteer:
    """Two layers of entities, each in the order given. Changes return a new gazetteer.

    Two rows are one entity if type and canonical name are equal but for case and spelling (`fold`).
    """

    declared: tuple[Entity, ...] = ()
    runtime: tuple[Entity, ...] = ()
    _declared_keys: dict[tuple[str, str], Entity] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        declared = _merged(self.declared)
        object.__setattr__(self, "declared", tuple(declared.values()))
        object.__setattr__(self, "runtime", tuple(_merged(self.runtime).values()))
        object.__setattr__(self, "_declared_keys", declared)

    @cached_property
    def effective(self) -> tuple[Entity, ...]:
        """What texts are matched against: the declared entities, then the runtime ones not shadowed."""
        if not self.declared:
            return self.runtime
        return (*self.declared, *(item for item in self.runtime if item.key not in self._declared_keys))

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the effective entities."""
        return frozenset(item.id for item in self.effective)

    @cached_property
    def matcher(self) -> Matcher:
        """The automaton over the effective names; built when first used."""
        return entity_matcher(self.effective)

    def listing(self) -> list[GazetteerRow]:
        """Every row of both layers, declared first."""
        return [
            *(GazetteerRow(item.id, item.type, item.names, "declared") for item in self.declared),
            *(
                GazetteerRow(item.id, item.type, item.names, "runtime", item.key in self._declared_keys)
                for item in self.runtime
            ),
        ]

    def add_entity(self, entity_type: str, names: str | Sequence[str]) -> Gazetteer:
        """With a runtime entity, or with further names of one that is there; unchanged if there is nothing new.

        Raises `EntityConflictError` if the config declares the entity, `InvalidIdError` as `entity`.
        """
        new = entity(entity_type, names)
        declared = self._declared_keys.get(new.key)
        if declared is not None:
            raise EntityConflictError(
                f"{declared.id!r:.120} is declared in the config and cannot be changed at run time; "
                "add the names to the config"
            )
        rows = {item.key: item for item in self.runtime}
        known = rows.get(new.key)
        rows[new.key] = new if known is None else known.with_names(new.names)
        runtime = tuple(rows.values())
        return self if runtime == self.runtime else replace(self, runtime=runtime)

    def remove_entity(self, entity_type: str, name: str) -> Gazetteer:
        """Without the runtime entity of that canonical name; unchanged if there is none.

        Raises `EntityConflictError` for an entity that only the config has.
        """
        key = entity(entity_type, name).key
        kept = tuple(item for item in self.runtime if item.key != key)
        if len(kept) < len(self.runtime):
            return replace(self, runtime=kept)
        if key in self._declared_keys:
            raise EntityConflictError(
                f"{self._declared_keys[key].id!r:.120} is declared in the config and cannot be removed at run time; "
                "remove it from the config"
            )
        return self

    def add_all(self, entities: Iterable[Entity]) -> tuple[Gazetteer, ImportReport]:
        """With all of ``entities`` in the runtime layer, save those the config declares, which stay as they are."""
        rows = {item.key: item for item in self.runtime}
        before = dict(rows)
        left: dict[str, None] = {}
        for item in entities:
            declared = self._declared_keys.get(item.key)
            if declared is not None:
                left[declared.id] = None
            else:
                rows[item.key] = rows[item.key].with_names(item.names) if item.key in rows else item
        added = tuple(item.id for key, item in rows.items() if key not in before)
        extended = tuple(item.id for key, item in rows.items() if key in before and item != before[key])
        return replace(self, runtime=tuple(rows.values())), ImportReport(added, extended, tuple(left))

    def shared_names(self) -> list[SharedName]:
        """Names that mean more than one effective entity, by name."""
        owners: dict[str, list[tuple[str, Entity]]] = {}
        for item in self.effective:
            for name in item.names:
                owners.setdefault(name_key(name), []).append((name, item))
        shared = [
            SharedName(
                found[0][0], tuple(sorted(item.id for _, item in found)), len({item.type for _, item in found}) > 1
            )
            for found in owners.values()
            if len(found) > 1
        ]
        return sorted(shared, key=lambda row: row.name)


def extract_entities(text: str, gazetteer: Gazetteer) -> dict[str, int]:
    """Mention counts by entity id, only of entities that are mentioned, by id.

    Names match as `graphport.matching` says: whatever the case, at word borders, the longest name of any
    entity wins, so "Council of Trent" is no mention of Trent. A name that several entities share counts
    for each of them; `graphport.knowledge.disambiguation` tells which one is meant.
    """
    return count_mentions(text, gazetteer.matcher)


def _merged(entities: Iterable[Entity]) -> dict[tuple[str, str], Entity]:
    rows: dict[tuple[str, str], Entity] = {}
    for item in entities:
        known = rows.get(item.key)
        rows[item.key] = item if known is None else known.with_names(item.names)
    return rows
