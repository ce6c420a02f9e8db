"""A report from packed evidence: Markdown in which every sentence names its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphport.retrieval.hits import Hit

PROSE = frozenset({"", "passage", "section", "chapter"})
"""Kinds of entries that are cut into sentences; anything else is quoted as it stands."""

_END = re.compile(r"[.!?\u2026][\"'\u201d\u2019)\]]*\s+(?=[\"'\u201c\u2018(\[]?[^\W_a-z])")
_NO_END = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|cf|ca|No|Vol|pp?|Fig|e\.g|i\.e))\.$")


@dataclass(frozen=True, slots=True)
class Report:
    """``markdown`` and the ids of the entries it cites, in order of their numbers."""

    query: str
    markdown: str
    cites: tuple[str, ...]


def compose_report(query: str, evidence: Sequence[Hit]) -> Report:
    """The evidence hit by hit, each sentence followed by the number of its source, and the sources below."""
    blocks = [f"# {' '.join(query.split())}", "## Evidence"]
    if not evidence:
        blocks.append("Nothing was found.")
    for number, hit in enumerate(evidence, 1):
        blocks.append(_quoted(hit, number))
    if evidence:
        blocks += ["## Sources", "\n".join(f"{number}. {_source(hit)}" for number, hit in enumerate(evidence, 1))]
    return Report(query, "\n\n".join(blocks) + "\n", tuple(hit.entry for hit in evidence))


def sentences(text: str) -> list[str]:
    """The sentences of a text, white space tidied; a period behind an initial or a short title ends none."""
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if not _NO_END.search(text[start : end.end()].rstrip()):
            found.append(text[start : end.end()])
            start = end.end()
    found.append(text[start:])
    return [tidy for part in found if (tidy := " ".join(part.split()))]


def _quoted(hit: Hit, number: int) -> str:
    if hit.kind in PROSE:
        return "\n".join(f"> {sentence} [{number}]" for sentence in sentences(hit.text) or [hit.title or hit.entry])
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", hit.text)), default=0))
    return f"From [{number}]:\n\n{fence}\n{hit.text}\n{fence}"


def _source(hit: Hit) -> str:
    title = " ".join(hit.title.split()) or hit.entry
    return f"{title} ({hit.location})"
