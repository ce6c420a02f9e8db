"""Which reader a file goes to."""

from __future__ import annotations

import posixpath
import re
from importlib.util import find_spec

from graphport.builders import Document
from graphport_books.book import Book

INSTALL_HINT = "pip install 'graphport[books]'"

_NEEDED = ("lxml", "pypdf", "stopwordsiso")
_ALWAYS = (".epub", ".pdf", ".xhtml", ".xhtm")
_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_PROSE = (*_MARKDOWN, ".txt", ".text")
_BOOK_FOLDERS = frozenset(("book", "books"))
_INNER_FOLDERS = frozenset(("epub", "oebps", "ops", "text", "xhtml", "html", "content", "src", "chapters", "body"))
"""Folders of an unpacked EPUB that say nothing of the book."""


def missing_packages() -> list[str]:
    """Packages of the ``books`` extra that are not installed; none is imported."""
    return [name for name in _NEEDED if find_spec(name) is None]


def is_book(path: str) -> bool:
    """Whether a file is read as a book.

    EPUB, PDF and XHTML files always are. A Markdown or text file is one below a folder called ``book`` or
    ``books``, or when it is named so (``institutes.book.txt``): nothing else about its path tells.
    """
    lowered = path.lower()
    if lowered.endswith(_ALWAYS):
        return True
    if not lowered.endswith(_PROSE):
        return False
    folder, _, name = lowered.rpartition("/")
    return not _BOOK_FOLDERS.isdisjoint(folder.split("/")) or name.rpartition(".")[0].endswith(".book")


def is_page(path: str) -> bool:
    """Whether a file is one page of a book that lies unpacked in a folder."""
    return path.lower().endswith((".xhtml", ".xhtm"))


def folder_of_book(path: str) -> str:
    """The folder of the book that a page belongs to; "" if it lies in none but the ones every EPUB has."""
    folder = posixpath.dirname(path)
    while folder and posixpath.basename(folder).lower() in _INNER_FOLDERS:
        folder = posixpath.dirname(folder)
    return folder


def title_from(path: str, root: str = "") -> str:
    """What a book is called that does not say so itself: its file's name, or its folder's.

    ``root`` is the name of the folder that was indexed, the book's if its pages lie right in it.
    """
    name = posixpath.basename(folder_of_book(path) or root or path) if is_page(path) else posixpath.basename(path)
    stem = re.sub(r"(?:\.book)?\.\w+$", "", name) if "." in name else name
    return stem or name


def read_book(document: Document) -> Book:
    """The book in a document that `is_book`. Raises `UnreadableBookError`."""
    path = document.path.lower()
    title = title_from(document.path, document.meta.get("folder", ""))
    if path.endswith(".epub"):
        from graphport_books.epub import read_epub

        return read_epub(document.data, title)
    if path.endswith(".pdf"):
        from graphport_books.pdf import read_pdf

        return read_pdf(document.data, title)
    if is_page(path):
        return _read_page(document, title)
    if path.endswith(_MARKDOWN):
        from graphport_books.markdown import read_markdown

        return read_markdown(document.text, title)
    from graphport_books.plain import read_plain

    return read_plain(document.text, title)


def _read_page(document: Document, title: str) -> Book:
    from graphport_books.pages import chapters_of
    from graphport_books.xhtml import NO_MATTER, read_xhtml

    page = read_xhtml(document.data or document.text.encode())
    if not page.types.isdisjoint(NO_MATTER):
        return Book(title)
    return Book(title, chapters=chapters_of([(document.path, page)], []))
