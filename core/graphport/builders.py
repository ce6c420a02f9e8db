"""What turns documents into a graph: the interface of graph builders.

A builder works in two steps. `Builder.extract` sees one document alone and is cached by its content.
`Builder.link` turns what was extracted into nodes and facts, and may look up what other documents
define by name. Each lookup is remembered, so that a changed document makes exactly those documents link
again whose lookups it touches: editing one file costs one file, and gives the graph that indexing from
nothing gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from graphport.model import Props


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or an entry that was added by hand (which is a document of its own).

    ``path`` is relative to the folder that was indexed, with ``/``; unique in a knowledge base.
    ``data`` are the raw bytes; ``text`` is decoded from them (BOM removed, newlines as they are). A file's
    ``meta`` has the name of the ``folder`` that was indexed.
    """

    path: str
    text: str
    data: bytes = b""
    meta: Props = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Entry:
    """A chunk of text: what is searched for, and what every node and fact is known from.

    ``id`` is unique in a knowledge base. ``document`` is the path of the document it comes from ("" for
    one added by hand), ``start_line`` and ``end_line`` its lines there, from 1 (0 where there are none).
    ``kind`` says what it is (``passage``, ``section``, ``symbol``, ``chapter``). ``names`` are further
    surface forms it can be linked by. ``flagged`` entries and those whose ``valid_to`` (seconds since
    the epoch) has passed are invisible: neither found nor carrying rank.
    """

    id: str
    text: str
    title: str = ""
    kind: str = "passage"
    document: str = ""
    start_line: int = 0
    end_line: int = 0
    names: tuple[str, ...] = ()
    meta: Props = field(default_factory=dict[str, Any])
    flagged: bool = False
    valid_to: float | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that other documents may look up, and what is known of it (JSON values)."""

    name: str
    data: Props


@dataclass(frozen=True, slots=True)
class NodeFact:
    """A node, as known from one entry. It is in the graph while a visible entry says so.

    Of several declarations of one id the first by entry id counts. ``stands_for_entry``: the node is the
    entry's own (`Node.entry`), which is how ranks lead back to text.
    """

    id: str
    kind: str
    name: str
    entry: str
    stands_for_entry: bool = False
    props: Props = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Fact:
    """``source -kind-> target``, as known from one entry.

    The edge's weight is the sum over visible entries of the largest ``weight`` each gives it: with the
    default 1.0 the number of distinct entries, with mention counts their total. Then the kind's
    relation factor from the config applies. Props come from the first entry by id that has some.
    """

    source: str
    kind: str
    target: str
    entry: str
    weight: float = 1.0
    props: Props = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one document holds by itself.

    ``data`` is the builder's own (JSON values), handed to `Builder.link`; ``warnings`` are shown once
    in the summary ("syntax error in line 7").
    """

    entries: Sequence[Entry] = ()
    definitions: Sequence[Definition] = ()
    data: Props = field(default_factory=dict[str, Any])
    warnings: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Links:
    """Nodes and facts of one document; every fact's ends must be nodes that some document declares."""

    nodes: Sequence[NodeFact] = ()
    facts: Sequence[Fact] = ()


Lookup = Callable[[str], Sequence[tuple[str, Mapping[str, Any]]]]
"""Definitions of a name as ``(document path, data)``, by path and order of definition; () if there is none."""


@runtime_checkable
class Builder(Protocol):
    """A graph builder. Of those that accept a document, the one with the highest ``priority`` gets it.

    Both methods are pure functions of their arguments. ``version`` is raised whenever their answers
    change: what an older version extracted is extracted again.
    """

    name: str
    version: int
    priority: int

    def accepts(self, path: str) -> bool:
        """Whether this builder reads such a document (nothing is opened).

        ``path`` is the document's, below the name of the folder that was indexed.
        """
        ...

    def extract(self, document: Document) -> Extraction:
        """Entries, definitions and the rest of one document. Cached by content, path and ``version``."""
        ...

    def link(self, document: str, extraction: Extraction, lookup: Lookup) -> Links:
        """Nodes and facts of the document with that path; names go through ``lookup``."""
        ...
