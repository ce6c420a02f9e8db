"""A book as its readers give it: chapters of paragraphs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, and where it stands: lines from 1 in a text file, page from 1 in a PDF, 0 where there are none."""

    text: str
    first_line: int = 0
    last_line: int = 0
    page: int = 0


@dataclass(slots=True)
class Chapter:
    """A chapter.

    ``anchors`` are what links call it (``text/chapter-3.xhtml``, ``text/chapter-3.xhtml#note``), ``links``
    what it links to, ``emphasised`` the texts it sets apart, which is how prose names other books.
    ``part`` is the title of the part of the book it belongs to.
    """

    title: str
    paragraphs: list[Paragraph] = field(default_factory=list[Paragraph])
    part: str = ""
    anchors: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])
    emphasised: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class Book:
    """Chapters in order. ``warnings`` say what could not be read."""

    title: str
    author: str = ""
    chapters: list[Chapter] = field(default_factory=list[Chapter])
    warnings: list[str] = field(default_factory=list[str])


class UnreadableBookError(Exception):
    """A file that is not what its name says; the message is shown in the summary."""
