"""Books in plain text, as Project Gutenberg and PDF extraction give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from graphport_books.book import Book, Chapter, Paragraph
from graphport_books.headings import Heading, find_headings, is_part

_START = re.compile(r"\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*")
_END = re.compile(r"\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*")
_FIELD = re.compile(r"(Title|Author):\s+(\S.*)")
_EMPHASIS = re.compile(r"(?<![\w_])_([^_\n]{2,100})_(?![\w_])")


def read_plain(text: str, fallback_title: str) -> Book:
    """A book from plain text: its title and author where they stand as fields, chapters by their headings."""
    lines = text.splitlines()
    start = next((row + 1 for row, line in enumerate(lines) if _START.match(line)), 0)
    end = next((row for row, line in enumerate(lines) if row > start and _END.match(line)), len(lines))
    fields = {match[1]: match[2].strip() for line in lines[: start or 30] if (match := _FIELD.fullmatch(line.strip()))}
    book = Book(fields.get("Title", fallback_title), fields.get("Author", ""))
    book.chapters = chapters_of(lines[start:end], start + 1)
    if len(book.chapters) < 2:
        book.warnings.append("no chapter headings found; the book is one chapter")
    for chapter in book.chapters:
        chapter.title = chapter.title or book.title
    return book


def chapters_of(lines: Sequence[str], first_line: int) -> list[Chapter]:
    """The chapters of some lines, the first of which has the number ``first_line``.

    What stands before the first heading is a chapter of its own, without title, if it holds a paragraph
    that is more than a title page.
    """
    headings = find_headings(lines)
    bounds = [Heading("", 0, 0), *headings, Heading("", len(lines), len(lines))]
    chapters: list[Chapter] = []
    part = ""
    for heading, following in pairwise(bounds):
        paragraphs = paragraphs_of(lines, heading.body, following.line, first_line)
        if not paragraphs or (headings and heading is bounds[0] and not _is_prose(paragraphs)):
            part = heading.title if is_part(heading.title) else part
            continue
        chapter = Chapter(heading.title, paragraphs, part="" if heading.title == part else part)
        chapter.emphasised = _EMPHASIS.findall("\n".join(item.text for item in paragraphs))
        chapters.append(chapter)
    return chapters


def paragraphs_of(lines: Sequence[str], start: int, end: int, first_line: int) -> list[Paragraph]:
    """What stands between blank lines in ``lines[start:end]``, lines as they are."""
    found: list[Paragraph] = []
    row = start
    while row < end:
        if not lines[row].strip():
            row += 1
            continue
        last = row
        while last + 1 < end and lines[last + 1].strip():
            last += 1
        text = "\n".join(line.rstrip() for line in lines[row : last + 1])
        found.append(Paragraph(text, first_line + row, first_line + last))
        row = last + 1
    return found


def _is_prose(paragraphs: Sequence[Paragraph]) -> bool:
    return any(len(item.text) > 300 for item in paragraphs)
