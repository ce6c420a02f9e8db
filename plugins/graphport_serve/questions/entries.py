"""Entries and numbers of a knowledge base."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graphport.builders import Entry
from graphport.errors import EntryNotFoundError
from graphport.knowledge.base import KnowledgeBase
from graphport_serve.answers import Added, EntryAnswer, EntryPart, GraphNumbers, KnowledgeBaseStatus, Removed
from graphport_serve.paging import Bounds, page_of


def status(kb: KnowledgeBase) -> KnowledgeBaseStatus:
    found = kb.status()
    graph = None
    if found.graph is not None:
        graph = GraphNumbers(
            nodes=found.graph.nodes,
            edges=found.graph.edges,
            node_kinds=found.graph.node_kinds,
            edge_kinds=found.graph.edge_kinds,
        )
    return KnowledgeBaseStatus(
        name=found.name,
        revision=found.revision,
        documents=found.documents,
        entries=found.entries,
        vectors=found.vectors,
        embedder=found.embedder,
        backend=found.backend,
        graph=graph,
    )


def get_entry(kb: KnowledgeBase, entry_id: str) -> EntryAnswer:
    """The entry, hidden or not; `EntryNotFoundError` if there is none."""
    entry = kb.get([entry_id]).get(entry_id)
    if entry is None:
        raise EntryNotFoundError(f"no entry {entry_id!r:.120}; search finds those there are")
    return EntryAnswer(
        id=entry.id,
        text=entry.text,
        title=entry.title,
        kind=entry.kind,
        document=entry.document,
        start_line=entry.start_line,
        end_line=entry.end_line,
        names=list(entry.names),
        meta=entry.meta,
        flagged=entry.flagged,
        valid_to=entry.valid_to,
    )


def read_entry(kb: KnowledgeBase, entry_id: str, *, bounds: Bounds, text: int, cursor: str | None = None) -> EntryPart:
    """`get_entry`, its text a part at a time; ``text`` cuts the title, and leaves out a ``meta`` larger as JSON."""
    whole = get_entry(kb, entry_id)
    page = page_of(
        whole.text, cursor, bounds,
        question=("entry", kb.config.name, entry_id), size=lambda char: len(json.dumps(char, ensure_ascii=False)) - 2,
    )  # fmt: skip
    large = len(json.dumps(whole.meta)) > text
    shown: dict[str, Any] = {
        "title": whole.title[:text],
        "text": "".join(page.items),
        "meta": {} if large else whole.meta,
    }
    return EntryPart.model_validate({**whole.model_dump(), **shown, "meta_cut": large, "next_cursor": page.next})


def show_entry(kb: KnowledgeBase, entry_id: str, visibility: Mapping[str, Any]) -> EntryAnswer:
    """Sets ``flagged`` and ``valid_to``, whichever are given; the entry as it is then."""
    if "flagged" in visibility:
        kb.flag(entry_id, flagged=visibility["flagged"])
    if "valid_to" in visibility:
        kb.expire(entry_id, visibility["valid_to"])
    return get_entry(kb, entry_id)


def add_entries(kb: KnowledgeBase, entries: Sequence[Entry]) -> Added:
    """Insert or replace entries, all or none."""
    return Added(added=kb.add(entries))


def remove_entry(kb: KnowledgeBase, entry_id: str) -> Removed:
    """Remove an entry that was added by hand; `EntryNotFoundError` if there is none."""
    if not kb.remove([entry_id]):
        raise EntryNotFoundError(f"no entry {entry_id!r:.120}; nothing was removed")
    return Removed(removed=True)
