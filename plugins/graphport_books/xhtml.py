"""XHTML as books hold it: its blocks of text in order, with what links to them and what they link to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from graphport_books.markup import Element, first_text, named, parse_html, tag_of, text_of, types_of

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = _HEADINGS | frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form header "
    "hgroup hr li main nav ol p pre section table tbody td tfoot th thead tr ul".split()
)
_SILENT = frozenset("head img math object script style svg template video audio".split())
_EMPHASIS = frozenset(("cite", "em", "i"))
_MARKS = frozenset(("noteref", "backlink", "pagebreak", "annoref"))
NO_MATTER = frozenset(
    "cover titlepage halftitlepage toc landmarks loi lot copyright-page imprint colophon other-credits".split()
)
"""Types of front and back matter that nobody searches for."""
_WHITE_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class Block:
    """A paragraph, list item, ... or a heading of ``level`` 1 to 6 (0: no heading).

    ``ids`` are the anchors at or inside it; ``title`` says that it is part of a heading of several lines.
    """

    level: int = 0
    text: str = ""
    ids: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    emphasised: list[str] = field(default_factory=list[str])
    title: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One XHTML file; ``types`` are the ``epub:type`` of its body and of what directly holds all its text."""

    title: str
    types: frozenset[str]
    blocks: list[Block]


def read_xhtml(data: bytes) -> Page:
    """The blocks of an XHTML (or HTML) file. Raises `UnreadableBookError` if there is no markup in it."""
    root = parse_html(data)
    body = next(named(root, "body"), root)
    blocks = [block for block in _Reader(body).blocks if block.text]
    return Page(first_text(root, "title"), frozenset(_types(body)), blocks)


def _types(body: Element) -> Iterator[str]:
    """Types of the body, and of the one element that holds everything in it."""
    element: Element | None = body
    while element is not None:
        yield from types_of(element)
        children = [child for child in element if tag_of(child)]
        only = len(children) == 1 and tag_of(children[0]) in ("section", "article", "div")
        element = children[0] if only else None


class _Reader:
    """Walks the tree once and closes a block wherever a block element begins or ends."""

    def __init__(self, body: Element) -> None:
        self.blocks: list[Block] = [Block()]
        self._walk(body, level=0, title=False)
        for block in self.blocks:
            lines = (" ".join(line.split()) for line in block.text.split("\n"))
            block.text = "\n".join(line for line in lines if line)

    def _walk(self, element: Element, *, level: int, title: bool) -> None:
        tag, types = tag_of(element), types_of(element)
        if tag in _SILENT or not _MARKS.isdisjoint(types):
            self._anchor(element)
            return
        level = int(tag[1]) if tag in _HEADINGS else level
        title = title or tag == "hgroup" or "title" in types or "subtitle" in types
        if tag in _BLOCKS:
            self._open(level, title=title)
        self._anchor(element)
        self._note(element, tag)
        self._text(element.text)
        for child in element:
            if tag_of(child):
                self._walk(child, level=level, title=title)
            self._text(child.tail)
        if tag in _BLOCKS:
            self._open(0, title=False)

    def _note(self, element: Element, tag: str) -> None:
        block = self.blocks[-1]
        if tag == "br":
            block.text += "\n"
        elif tag == "a" and element.get("href"):
            block.links.append(str(element.get("href")))
        elif tag in _EMPHASIS:
            block.emphasised.append(text_of(element))

    def _text(self, text: str | None) -> None:
        """Line breaks of the source are spaces; only ``<br/>`` breaks a line."""
        if text:
            self.blocks[-1].text += _WHITE_SPACE.sub(" ", text)

    def _open(self, level: int, *, title: bool) -> None:
        last = self.blocks[-1]
        if last.text.strip():
            self.blocks.append(Block(level, title=title))
        else:
            last.level, last.title = level, title

    def _anchor(self, element: Element) -> None:
        anchor = element.get("id")
        if anchor:
            self.blocks[-1].ids.append(anchor)
