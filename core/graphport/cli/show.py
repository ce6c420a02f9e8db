"""Hits and reports as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from graphport.knowledge.indexing import IndexReport
    from graphport.retrieval.hits import Hit, Hop

_SNIPPET = 160


def show_hits(console: Console, hits: Sequence[Hit], query: str, *, explain: bool, names: Mapping[str, str]) -> None:
    """Ranked hits; ``names`` are the names of nodes on paths."""
    if not hits:
        console.print("nothing found")
    elif explain:
        for line in link_lines(hits[0], names):
            console.print(f"[dim]{escape(line)}[/]")
    for rank, hit in enumerate(hits, 1):
        title = f"  {escape(hit.title)}" if hit.title and hit.title not in hit.location else ""
        console.print(f"[bold]{rank:>2}[/] [cyan]{escape(hit.location)}[/]{title}  [dim]{hit.score:.3f}[/]")
        console.print(f"   {escape(snippet(hit.text, query))}")
        if explain and hit.explanation is not None:
            for line in explanation_lines(hit, names):
                console.print(f"   [dim]{escape(line)}[/]")


def link_lines(hit: Hit, names: Mapping[str, str]) -> list[str]:
    """What the query was linked to, a line for each entity; the same for every hit."""
    told = hit.explanation
    return [
        f"{link.written!r} names {names.get(link.node, link.node)} ({link.linker}, {link.score:.2f})"
        for link in (told.links if told is not None else ())
    ]


def explanation_lines(hit: Hit, names: Mapping[str, str]) -> list[str]:
    """Why a hit is where it is, a line for each reason."""
    told = hit.explanation
    if told is None:
        return []
    ranks = ", ".join(f"{leg} rank {rank}" for leg, rank in told.ranks.items())
    lines = [f"found by: {ranks or 'the graph alone'}; base score {told.base:.3f}"]
    if told.ppr is not None:
        lines.append(f"graph: {told.ppr:.3f} of the walk's largest share")
    if told.path or told.path_from:
        lines.append(f"path: {path_text(told.path_from, told.path, names)}")
    return [*lines, *told.notes]


def path_text(start: str | None, path: Sequence[Hop], names: Mapping[str, str]) -> str:
    """``Acme -mentions- Bob -titled-> passage``, by the names of the nodes."""
    parts = [names.get(start or "", start or "")]
    for hop in path:
        end = hop.target if hop.forward else hop.source
        arrow = f"-{hop.kind}->" if hop.forward else f"<-{hop.kind}-"
        parts += [arrow, names.get(end, end)]
    return " ".join(parts)


def snippet(text: str, query: str) -> str:
    """A line of ``text`` around the first of the query's longer words, or its beginning."""
    flat = " ".join(text.split())
    words = sorted(re.findall(r"\w{4,}", query), key=len, reverse=True)
    places = [match.start() for word in words if (match := re.search(re.escape(word), flat, re.IGNORECASE))]
    start = max(0, (places[0] if places else 0) - _SNIPPET // 3)
    start = flat.rfind(" ", 0, start) + 1 if start else 0
    cut = flat[start : start + _SNIPPET]
    return f"{'… ' if start else ''}{cut}{' …' if start + _SNIPPET < len(flat) else ''}"


def show_report(console: Console, report: IndexReport, entries: int) -> None:
    """What an index run did."""
    console.print(
        f"{report.added} added, {report.changed} changed, {report.removed} removed, {report.unchanged} unchanged "
        f"in {report.seconds:.1f} s; {entries} entries"
    )
    if report.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
        console.print(f"skipped: {reasons}")
    for path, warning in report.warnings[:20]:
        console.print(f"  {escape(path)}: {escape(warning)}")
    if len(report.warnings) > 20:
        console.print(f"  and {len(report.warnings) - 20} more warnings")


def table(*columns: str) -> Table:
    """A plain table with these columns."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold")
    return made
