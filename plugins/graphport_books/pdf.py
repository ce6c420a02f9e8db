"""PDF: text by page, chapters by the outline, or else by their headings."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pypdf import PdfReader
from pypdf.errors import PyPdfError
from pypdf.generic import Destination

from graphport_books import plain
from graphport_books.book import Book, Chapter, Paragraph, UnreadableBookError

# pypdf lets escape whatever a damaged file breaks in it.
_DAMAGE = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError)
_FEWEST = 2
_HYPHEN = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_A-Z])")
_PAGE_NUMBER = re.compile(r"\s*(?:page\s+)?[\divxlc]{1,6}\s*", re.IGNORECASE)
_RUNNING = 0.3
"""A first or last line that this share of the pages has is a running head."""


def read_pdf(data: bytes, fallback_title: str) -> Book:
    """The book in a PDF file. Raises `UnreadableBookError` if it is none, encrypted, or holds no text."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableBookError("it is encrypted with a password")
        pages = [page.extract_text() for page in reader.pages]
        outline = list(_outline(reader))
        title, author = _metadata(reader)
    except (PyPdfError, *_DAMAGE) as error:
        raise UnreadableBookError(f"it is no readable PDF ({error})") from error
    if not any(page.strip() for page in pages):
        raise UnreadableBookError("it holds no text (scanned pages?); run OCR over it first")
    texts = _without_running_heads(pages)
    book = Book(title or fallback_title, author)
    book.chapters = _by_outline(texts, outline) if len(outline) >= _FEWEST else _by_headings(texts)
    if len(book.chapters) < _FEWEST:
        book.warnings.append("no outline and no chapter headings found; the book is one chapter")
    for chapter in book.chapters:
        chapter.title = chapter.title or book.title
    return book


def _outline(reader: PdfReader) -> Iterator[tuple[str, int]]:
    """Titles of the outline's top level and their pages from 0; of the second level where the first has one entry."""
    entries = cast("list[Any]", reader.outline)
    top = [entry for entry in entries if not isinstance(entry, list)]
    nested = cast("list[list[Any]]", [entry for entry in entries if isinstance(entry, list)])
    if len(top) == 1 and nested:
        top = [entry for entry in nested[0] if not isinstance(entry, list)]
    for entry in cast("list[Destination]", top):
        page = reader.get_destination_page_number(entry)
        if page is not None and page >= 0:
            yield " ".join(str(entry.title).split()), page


def _metadata(reader: PdfReader) -> tuple[str, str]:
    found = reader.metadata
    if found is None:
        return "", ""
    return " ".join((found.title or "").split()), " ".join((found.author or "").split())


def _without_running_heads(pages: Sequence[str]) -> list[list[str]]:
    """Lines of each page without page numbers and the line that heads or foots many pages."""
    lines = [[line.rstrip() for line in page.splitlines()] for page in pages]
    ends = Counter(_bare(page[at]) for page in lines if page for at in {0, len(page) - 1})
    running = {line for line, times in ends.items() if line and times >= max(3, _RUNNING * len(pages))}
    return [_trimmed(page, running) for page in lines]


def _trimmed(page: list[str], running: set[str]) -> list[str]:
    start, end = 0, len(page)
    while start < end and (_PAGE_NUMBER.fullmatch(page[start]) or _bare(page[start]) in running):
        start += 1
    while end > start and (_PAGE_NUMBER.fullmatch(page[end - 1]) or _bare(page[end - 1]) in running):
        end -= 1
    return page[start:end]


def _bare(line: str) -> str:
    return re.sub(r"\d+", "", line).strip().casefold()


def _by_outline(pages: Sequence[list[str]], outline: Sequence[tuple[str, int]]) -> list[Chapter]:
    starts = [("", 0), *outline] if outline[0][1] > 0 else list(outline)
    chapters: list[Chapter] = []
    for (title, first), (_, following) in zip(starts, [*starts[1:], ("", len(pages))], strict=True):
        last = max(following, first + 1)
        paragraphs = [paragraph for page in range(first, last) for paragraph in _paragraphs(pages[page], page + 1)]
        if paragraphs:
            chapters.append(Chapter(title, paragraphs))
    return chapters


def _by_headings(pages: Sequence[list[str]]) -> list[Chapter]:
    """Chapters found in all pages' lines together; each paragraph is given the page it begins on."""
    lines = [line for page in pages for line in [*page, ""]]
    page_of = [number for number, page in enumerate(pages, 1) for _ in [*page, ""]]
    chapters = plain.chapters_of(lines, 1)
    for chapter in chapters:
        chapter.paragraphs = [
            Paragraph(_joined(item.text), page=page_of[item.first_line - 1]) for item in chapter.paragraphs
        ]
    return chapters


def _paragraphs(page: Sequence[str], number: int) -> Iterator[Paragraph]:
    for paragraph in plain.paragraphs_of(page, 0, len(page), 1):
        yield Paragraph(_joined(paragraph.text), page=number)


def _joined(text: str) -> str:
    """Words put together that were cut at a line's end; lines joined."""
    return " ".join(_HYPHEN.sub("", text).split())
