"""Reports from a knowledge base: the evidence for a question, packed, and the report as an entry."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphport.builders import Entry
from graphport.knowledge.fingerprint import fingerprint
from graphport.knowledge.search import SearchOptions, entities_of
from graphport.knowledge.text_builder import CITES
from graphport.knowledge.truth import Truth
from graphport.retrieval.dense import DenseIndex
from graphport.retrieval.packing import pack_evidence
from graphport.retrieval.report import Report, compose_report

if TYPE_CHECKING:
    from graphport.knowledge.base import KnowledgeBase

REPORT = "report"
"""Kind of the entries that are reports; they are no evidence for others."""


def report_on(
    kb: KnowledgeBase,
    truth: Truth,
    dense: DenseIndex | None,
    query: str,
    budget: float,
    options: Mapping[str, Any],
) -> Report:
    """The report that `KnowledgeBase.make_report` tells of; ``dense`` has the entries' vectors."""
    asked: dict[str, Any] = {"graph": kb.config.strategy.graph, "top_k": 40, **options}
    hits = [hit for hit in kb.search(query, **asked) if hit.kind != REPORT]
    entries = [hit.entry for hit in hits]
    linked = entities_of(kb, query, SearchOptions.of(kb.config.retrieval, asked))
    with truth.read() as db:
        about = _about(db, entries, {entity.node for entity in linked})
    packed = pack_evidence(hits, budget, query=query, entities=about, similarity=_similarity(dense, entries))
    return compose_report(query, packed.hits)


def report_entry(truth: Truth, report: Report) -> Entry:
    """The report as an entry, by its content, that cites the nodes of what the report cites."""
    query = "SELECT DISTINCT id FROM node_facts WHERE entry = ? AND stands ORDER BY id"
    with truth.read() as db:
        nodes = [node for entry in report.cites for (node,) in db.execute(query, (entry,))]
    return Entry(f"report:{fingerprint(report.markdown)}", report.markdown, report.query, REPORT, meta={CITES: nodes})


def _about(db: sqlite3.Connection, entries: Sequence[str], nodes: Iterable[str]) -> dict[str, list[str]]:
    """Which of the nodes each of the entries is about; an entry that is about none is not in the dict."""
    about: dict[str, list[str]] = {}
    rows = db.execute(
        "SELECT DISTINCT n.entry, n.id FROM json_each(?) j JOIN node_facts n ON n.entry = j.value "
        "WHERE n.id IN (SELECT value FROM json_each(?)) ORDER BY n.entry, n.id",
        (json.dumps(list(entries)), json.dumps(sorted(nodes))),
    )
    for entry, node in rows:
        about.setdefault(entry, []).append(node)
    return about


def _similarity(dense: DenseIndex | None, entries: Sequence[str]) -> NDArray[np.float32] | None:
    """(n, n) cosines of entries by their vectors, None unless each has one."""
    vectors = [] if dense is None else [dense.vector(entry) for entry in entries]
    known = [vector for vector in vectors if vector is not None]
    if len(known) < len(entries) or not known:
        return None
    matrix = np.stack(known)
    return matrix @ matrix.T
