"""Entities that the texts seem to name: proposing, accepting, rejecting."""

from __future__ import annotations

from collections.abc import Sequence

from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.entities import entity
from graphport.server_config import Scope
from graphport_serve.answers_curating import Accepted, Proposal, Proposals, Reconsidered, Rejected, RejectedNames
from graphport_serve.paging import Bounds, json_size, page_of

CAPITALS = "capitals"
_MOST = 500
"""Proposals there are in one go; others follow as these are accepted or rejected."""


def scope_of(proposer: str) -> Scope:
    """What a token needs to ask a proposer: one that is not our own may take long, or cost money by the text."""
    return "read" if proposer == CAPITALS else "write"


def propose(kb: KnowledgeBase, *, proposer: str, at_least: int, bounds: Bounds, cursor: str | None = None) -> Proposals:
    """`KnowledgeBase.propose_entities`, a page at a time."""
    found = kb.propose_entities(proposer, limit=_MOST, at_least=at_least)
    rows = [Proposal.model_validate(proposal) for proposal in found]
    page = page_of(rows, cursor, bounds, question=("proposals", kb.config.name, proposer, at_least), size=json_size)
    return Proposals(proposals=page.items, next_cursor=page.next)


def accept(kb: KnowledgeBase, entity_type: str, names: Sequence[str]) -> Accepted:
    """Add an entity of one type for each name, all or none."""
    wanted = [entity(entity_type, name) for name in names]
    report = kb.import_entities(wanted)
    new = {*report.added, *report.declared}
    known = dict.fromkeys(item.id for item in wanted if item.id not in new)
    return Accepted(added=list(report.added), known=list(known), declared=list(report.declared))


def reject(kb: KnowledgeBase, names: Sequence[str]) -> Rejected:
    """Never propose the names again."""
    return Rejected(rejected=kb.reject_proposals(names))


def reconsider(kb: KnowledgeBase, names: Sequence[str]) -> Reconsidered:
    """Let the names be proposed again."""
    return Reconsidered(reconsidered=kb.reconsider_proposals(names))


def rejected(kb: KnowledgeBase, *, bounds: Bounds, cursor: str | None = None) -> RejectedNames:
    """The names that are not proposed."""
    page = page_of(
        kb.rejected_proposals(), cursor, bounds, question=("rejected", kb.config.name), size=lambda name: len(name) + 4
    )
    return RejectedNames(names=page.items, next_cursor=page.next)
