"""Chapters from XHTML pages: of a whole EPUB, or of one file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urldefrag

from graphport_books.book import Chapter, Paragraph
from graphport_books.headings import is_part
from graphport_books.xhtml import Block, Page


@dataclass(frozen=True, slots=True)
class Start:
    """Where a chapter begins: in a page, at an anchor ("" is the page's beginning)."""

    page: str
    anchor: str
    title: str
    part: str = ""


@dataclass(slots=True)
class _Open:
    chapter: Chapter
    head: list[str] = field(default_factory=list[str])


def chapters_of(pages: Sequence[tuple[str, Page]], starts: Sequence[Start]) -> list[Chapter]:
    """The chapters that begin at ``starts``; what stands before the first is a chapter named by its page.

    Without starts, headings of the two highest levels begin chapters, and so does each page.
    """
    wanted = {(start.page, start.anchor): start for start in starts}
    open_ones: list[_Open] = []
    for name, page in pages:
        start = wanted.get((name, ""))
        if start is not None or not starts or not open_ones:
            open_ones.append(_begin(name, start))
        for block, anchor in _with_anchor(name, page.blocks, wanted):
            if anchor is not None:
                open_ones.append(_begin(name, wanted[name, anchor]))
            elif not starts and block.level in (1, 2) and not block.title and open_ones[-1].chapter.paragraphs:
                open_ones.append(_begin(name, None))
            _take(open_ones[-1], name, block)
        if not open_ones[-1].chapter.title and not open_ones[-1].head and page.title:
            open_ones[-1].chapter.title = page.title
    return [_finished(item) for item in open_ones if item.chapter.paragraphs]


def _begin(page: str, start: Start | None) -> _Open:
    if start is None:
        return _Open(Chapter("", anchors=[page]))
    anchors = [page] if not start.anchor else [f"{page}#{start.anchor}"]
    return _Open(Chapter(start.title, part=start.part, anchors=anchors))


def _with_anchor(
    name: str, blocks: Sequence[Block], wanted: dict[tuple[str, str], Start]
) -> Iterator[tuple[Block, str | None]]:
    for block in blocks:
        yield block, next((anchor for anchor in block.ids if anchor and (name, anchor) in wanted), None)


def _take(item: _Open, page: str, block: Block) -> None:
    chapter = item.chapter
    chapter.anchors += [f"{page}#{anchor}" for anchor in block.ids]
    chapter.links += [resolve(link, page) for link in block.links]
    if (block.level or block.title) and not chapter.paragraphs:
        item.head.append(block.text)
        return
    chapter.paragraphs.append(Paragraph(block.text))
    chapter.emphasised += block.emphasised


def resolve(link: str, page: str) -> str:
    """A page's link as a path like the page's own; addresses of the web stay as they are."""
    if "://" in link or link.startswith(("mailto:", "data:")):
        return link
    path, anchor = urldefrag(link)
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path))) if path else page
    return f"{target}#{anchor}" if anchor else target


def _finished(item: _Open) -> Chapter:
    item.chapter.title = item.chapter.title or ": ".join(item.head)
    return item.chapter


def starts_of(entries: Sequence[Entry], part: str = "") -> list[Start]:
    """Where the chapters of a table of contents begin.

    An entry that holds entries of other pages is a part ("Book II"), and they are the chapters; entries
    below a chapter are its sections, and stay in it.
    """
    starts: list[Start] = []
    for entry in entries:
        elsewhere = any(child.page != entry.page for child in entry.children)
        starts.append(Start(entry.page, entry.anchor, entry.title, part))
        if entry.children and (elsewhere or is_part(entry.title) or len(entries) == 1):
            starts += starts_of(entry.children, entry.title)
    return starts


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a table of contents."""

    page: str
    anchor: str
    title: str
    children: Sequence[Entry] = ()
