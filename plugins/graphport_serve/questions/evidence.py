"""Which texts say what an edge says."""

from __future__ import annotations

from graphport.builders import Entry
from graphport.errors import MissingNodeError
from graphport.knowledge.base import KnowledgeBase
from graphport.model import EdgeKey
from graphport_serve.answers_curating import Evidence, EvidencePassage
from graphport_serve.paging import Bounds, json_size, page_of


def find_evidence(
    kb: KnowledgeBase, edge: EdgeKey, *, bounds: Bounds, cursor: str | None = None, text: int | None = None
) -> Evidence:
    """`KnowledgeBase.evidence`, a page of entries at a time; ``text`` cuts each one's text.

    Raises `MissingNodeError` for an edge that is neither in the graph nor in any visible entry.
    """
    ids = kb.evidence(edge)
    if not ids and not kb.storage.get_edges([edge]):
        raise MissingNodeError(
            f"no edge {edge.source!r:.120} {edge.kind!r:.80} {edge.target!r:.120}; "
            "ask for the graph around a node to see its edges"
        )
    told: dict[str, EvidencePassage] = {}

    def size(entry_id: str) -> int:
        entry = kb.get([entry_id]).get(entry_id)
        if entry is None:  # gone since it was named
            return 0
        told[entry_id] = _passage(entry, text)
        return json_size(told[entry_id])

    page = page_of(ids, cursor, bounds, question=("evidence", kb.config.name, *edge), size=size)
    return Evidence(
        source=edge.source,
        target=edge.target,
        kind=edge.kind,
        passages=[told[entry] for entry in page.items if entry in told],
        next_cursor=page.next,
    )


def _passage(entry: Entry, text: int | None) -> EvidencePassage:
    return EvidencePassage(
        entry=entry.id,
        title=entry.title,
        text=entry.text[:text],
        text_cut=text is not None and len(entry.text) > text,
        document=entry.document,
        start_line=entry.start_line,
        end_line=entry.end_line,
    )
