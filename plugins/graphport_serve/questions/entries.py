"""Entries and numbers of a knowledge base."""

from __future__ import annotations

from collections.abc import Sequence

from graphport.builders import Entry
from graphport.errors import EntryNotFoundError
from graphport.knowledge.base import KnowledgeBase
from graphport_serve.answers import Added, EntryAnswer, GraphNumbers, KnowledgeBaseStatus, Removed


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


def add_entries(kb: KnowledgeBase, entries: Sequence[Entry]) -> Added:
    """Insert or replace entries, all or none."""
    return Added(added=kb.add(entries))


def remove_entry(kb: KnowledgeBase, entry_id: str) -> Removed:
    """Remove an entry that was added by hand; `EntryNotFoundError` if there is none."""
    if not kb.remove([entry_id]):
        raise EntryNotFoundError(f"no entry {entry_id!r:.120}; nothing was removed")
    return Removed(removed=True)
