"""EPUB 2 and 3: a zip of XHTML pages, a reading order and a table of contents."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from lxml.etree import LxmlError

from graphport_books.book import Book, UnreadableBookError
from graphport_books.markup import Element, first_text, named, parse_xml, tag_of, text_of, types_of
from graphport_books.pages import Entry, chapters_of, resolve, starts_of
from graphport_books.xhtml import NO_MATTER, Page, read_xhtml

MAX_BYTES = 300_000_000
"""Unpacked; more is no book but a bomb."""

# zipfile lets escape whatever a damaged file breaks in it; RuntimeError is its word for an encrypted member,
# NotImplementedError for a compression it lacks.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, NotImplementedError, OSError, RuntimeError,
    ValueError,
)  # fmt: skip
_CONTAINER = "META-INF/container.xml"


@dataclass(frozen=True, slots=True)
class _Package:
    """What the package document says; ``pages`` in reading order, paths inside the zip."""

    title: str
    author: str
    pages: list[str]
    contents: str
    contents_is_ncx: bool


def read_epub(data: bytes, fallback_title: str) -> Book:
    """The book in an EPUB file. Raises `UnreadableBookError` if it is none or its texts are encrypted."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read(_Archive(archive), fallback_title)
    except (*_DAMAGE, LxmlError) as error:
        raise UnreadableBookError(f"it is no readable EPUB ({error})") from error


class _Archive:
    """Members of the zip by path, with a bound on what is unpacked."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = set(archive.namelist())
        self._left = MAX_BYTES

    def __contains__(self, path: str) -> bool:
        return path in self._names

    def read(self, path: str) -> bytes:
        if path not in self._names:
            raise UnreadableBookError(f"it is no readable EPUB ({path} is missing)")
        with self._archive.open(path) as member:
            data = member.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableBookError(f"it unpacks to more than {MAX_BYTES} bytes")
        return data


def _read(archive: _Archive, fallback_title: str) -> Book:
    if "META-INF/rights.xml" in archive:
        raise UnreadableBookError("its texts are encrypted (DRM)")
    package = _package(archive, _package_path(archive))
    book = Book(package.title or fallback_title, package.author)
    pages: list[tuple[str, Page]] = []
    for path in package.pages:
        if path not in archive:
            book.warnings.append(f"{path} is listed and missing")
            continue
        page = read_xhtml(archive.read(path))
        if page.types.isdisjoint(NO_MATTER) and path != package.contents:
            pages.append((path, page))
    known = {path for path, _ in pages}
    starts = [start for start in starts_of(list(_contents(archive, package))) if start.page in known]
    book.chapters = chapters_of(pages, starts)
    for chapter in book.chapters:
        chapter.title = chapter.title or book.title
    return book


def _package_path(archive: _Archive) -> str:
    for element in named(parse_xml(archive.read(_CONTAINER)), "rootfile"):
        return str(element.get("full-path") or "")
    raise UnreadableBookError("it is no readable EPUB (no package document)")


def _package(archive: _Archive, path: str) -> _Package:
    root = parse_xml(archive.read(path))
    folder = posixpath.dirname(path)
    items = {str(item.get("id")): item for item in named(root, "item")}

    def place(item: Element) -> str:
        return posixpath.normpath(posixpath.join(folder, unquote(str(item.get("href") or ""))))

    refs = [ref for ref in named(root, "itemref") if ref.get("linear") != "no"]
    pages = [place(items[str(ref.get("idref"))]) for ref in refs if str(ref.get("idref")) in items]
    nav = next((item for item in items.values() if "nav" in str(item.get("properties") or "").split()), None)
    ncx = next((item for item in items.values() if item.get("media-type") == "application/x-dtbncx+xml"), None)
    contents = nav if nav is not None else ncx
    return _Package(
        first_text(root, "title"),
        first_text(root, "creator"),
        list(dict.fromkeys(pages)),
        place(contents) if contents is not None else "",
        nav is None and ncx is not None,
    )


def _contents(archive: _Archive, package: _Package) -> Iterator[Entry]:
    if package.contents not in archive:
        return
    root = parse_xml(archive.read(package.contents))
    folder = posixpath.dirname(package.contents)
    if package.contents_is_ncx:
        yield from _ncx_entries(next(named(root, "navmap"), root), folder)
        return
    toc = next((nav for nav in named(root, "nav") if "toc" in types_of(nav)), None)
    if toc is not None:
        yield from _nav_entries(toc, folder)


def _nav_entries(parent: Element, folder: str) -> Iterator[Entry]:
    for item in _items_of(parent):
        link = next(named(item, "a"), None)
        children = [child for sub in item if tag_of(sub) == "ol" for child in _nav_entries(sub, folder)]
        if link is not None and link.getparent() is item:
            yield _entry(str(link.get("href") or ""), text_of(link), children, folder)
        elif children:  # a label without a page of its own
            label = text_of(item[0]) if len(item) else ""
            yield Entry(children[0].page, children[0].anchor, label, children)


def _items_of(parent: Element) -> Iterator[Element]:
    lists = [parent] if tag_of(parent) == "ol" else [child for child in parent if tag_of(child) == "ol"]
    for found in lists:
        yield from (item for item in found if tag_of(item) == "li")


def _ncx_entries(parent: Element, folder: str) -> Iterator[Entry]:
    for point in parent:
        if tag_of(point) != "navpoint":
            continue
        content = next((child for child in point if tag_of(child) == "content"), None)
        label = next((child for child in point if tag_of(child) == "navlabel"), None)
        title = text_of(label) if label is not None else ""
        children = list(_ncx_entries(point, folder))
        yield _entry(str(content.get("src") or "") if content is not None else "", title, children, folder)


def _entry(href: str, title: str, children: list[Entry], folder: str) -> Entry:
    path, _, anchor = resolve(href, f"{folder}/").partition("#")
    return Entry(path, anchor, title, children)
