"""What REST and MCP answer a person who curates: proposals, shared names, and the texts behind an edge."""

from __future__ import annotations

from pydantic import Field

from graphport_serve.answers import Answer


class Example(Answer):
    """A few words around a proposed name in an entry."""

    entry: str
    text: str


class Proposal(Answer):
    """A name that may be an entity, seen ``count`` times in ``passages`` entries; ``type`` is "" where in doubt."""

    name: str
    type: str
    count: int
    passages: int
    examples: list[Example]


class Proposals(Answer):
    """Names that the gazetteer lacks, those in most passages first. Nothing was added."""

    proposals: list[Proposal]
    next_cursor: str | None


class Accepted(Answer):
    """Ids of the entities that are new, that were there already, and that the config declares and thus stay."""

    added: list[str]
    known: list[str]
    declared: list[str]


class Rejected(Answer):
    rejected: int = Field(description="How many of the names had not been rejected before.")


class Reconsidered(Answer):
    reconsidered: int = Field(description="How many of the names had been rejected.")


class RejectedNames(Answer):
    """Names that are not proposed, sorted."""

    names: list[str]
    next_cursor: str | None


class SharedName(Answer):
    """A name that several entities have; a mention of it is told by its company which one is meant."""

    name: str
    ids: list[str]
    across_types: bool


class SharedNames(Answer):
    names: list[SharedName]
    next_cursor: str | None


class EvidencePassage(Answer):
    """A visible entry that says so, or a part of one."""

    entry: str
    title: str
    text: str
    text_cut: bool = Field(default=False, description="The text goes on after what is shown.")
    document: str
    start_line: int
    end_line: int


class Evidence(Answer):
    """The visible entries that an edge is known from, by id; of ``co_occurs``, those that mention both ends."""

    source: str
    target: str
    kind: str
    passages: list[EvidencePassage]
    next_cursor: str | None
