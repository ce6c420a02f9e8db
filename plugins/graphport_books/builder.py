"""The graph builder for books."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from graphport.builders import Definition, Document, Entry, Extraction, Fact, Links, Lookup, NodeFact
from graphport.errors import InvalidIdError
from graphport.knowledge.entities import TOPIC, entity_id
from graphport.matching import fold
from graphport_books.book import Book, Chapter, UnreadableBookError
from graphport_books.passages import Passage, passages_of
from graphport_books.reading import INSTALL_HINT, folder_of_book, is_book, is_page, missing_packages, read_book

_UNSPACED = "no concepts: the text is in a script that puts no spaces between words"
_MOST_EMPHASISED = 200
_NUMBER = re.compile(r"(\d+)")
Row = Mapping[str, Any]


class BookBuilder:
    """Reads books into chapters, passages and concepts.

    Nodes ``book:{path}``, ``chapter:{path}#{number}``, ``passage:{entry}`` and ``entity:topic:{name}``. Edges:
    book ``contains`` chapter ``contains`` passage; ``next`` from chapter to chapter and passage to passage;
    chapter and passage ``mentions`` topic, weighted with the topic's salience in them; chapter ``cites`` what
    it links to (files, chapters of the same book), and books whose title it emphasises.

    The pages of an EPUB that lies unpacked in a folder (``.xhtml``) are chapters of one book, in the order
    of the numbers in their names.
    """

    name = "books"
    priority = 10

    def __init__(self) -> None:
        self._missing = missing_packages()
        self.version = 0 if self._missing else 1  # so that what could not be read is, once the extra is there

    def accepts(self, path: str) -> bool:
        return is_book(path) and (not self._missing or path.lower().endswith((".epub", ".pdf")))

    def extract(self, document: Document) -> Extraction:
        if self._missing:
            return Extraction(warnings=(f"books need {', '.join(self._missing)}; {INSTALL_HINT}",))
        try:
            book = read_book(document)
        except UnreadableBookError as error:
            return Extraction(warnings=(str(error),))
        made = [list(passages_of(chapter.paragraphs)) for chapter in book.chapters]
        concepts = _concepts(book.chapters, made)
        anchors = _chapters_by_anchor(document.path, book.chapters)
        entries: list[Entry] = []
        rows: list[dict[str, Any]] = []
        for number, (chapter, passages, found) in enumerate(zip(book.chapters, made, concepts, strict=True), 1):
            own = [_entry(document.path, book, chapter, number, at, passage) for at, passage in enumerate(passages, 1)]
            node = chapter_node(document.path, number)
            entries += own
            rows.append(
                {
                    "node": node,
                    "title": chapter.title,
                    "part": chapter.part,
                    "entries": [entry.id for entry in own],
                    "concepts": [[name, [list(part) for part in parts.items()]] for name, parts in found.items()],
                    "links": _links(document.path, chapter, anchors),
                    "emphasised": _possible_titles(chapter.emphasised),
                }
            )
        warnings = [*book.warnings, *([_UNSPACED] if _has_unspaced(made) else [])]
        if not rows:
            return Extraction(warnings=warnings)
        whole = _book_node(document)
        data = {"book": whole, "title": book.title, "author": book.author, "chapters": rows}
        return Extraction(entries, list(_definitions(document.path, whole, book, rows)), data, warnings)

    def link(self, document: str, extraction: Extraction, lookup: Lookup) -> Links:
        data = extraction.data
        if not data:
            return Links()
        nodes: list[NodeFact] = []
        facts: list[Fact] = []
        rows: Sequence[Row] = data["chapters"]
        for row, following in zip(rows, [*rows[1:], None], strict=False):
            nodes += _nodes(data, row)
            facts += _structure(data["book"], row, following)
            facts += _mentions(row)
            facts += [Fact(row["node"], "cites", target, row["entries"][0]) for target in _cited(row, lookup)]
            nodes += _topics(row)
        if is_page(document):
            facts += _next_page(document, data["book"], rows[-1], lookup)
        return Links(nodes, facts)


def chapter_node(path: str, number: int) -> str:
    """Node of a chapter; ``number`` counts from 1."""
    return f"chapter:{path}#{number}"


def _book_node(document: Document) -> str:
    path = document.path
    return f"book:{folder_of_book(path) or document.meta.get('folder') or path}" if is_page(path) else f"book:{path}"


def _entry(path: str, book: Book, chapter: Chapter, number: int, at: int, passage: Passage) -> Entry:
    known = {"book": book.title, "chapter": chapter.title, "author": book.author, "part": chapter.part}
    meta: dict[str, Any] = {key: value for key, value in {**known, "page": passage.page}.items() if value}
    title = chapter.title if chapter.title == book.title else f"{book.title}: {chapter.title}"
    entry_id = f"{path}#{number}.{at}"
    return Entry(entry_id, passage.text, title, "passage", path, passage.first_line, passage.last_line, meta=meta)


def _concepts(chapters: Sequence[Chapter], made: Sequence[Sequence[Passage]]) -> list[dict[str, dict[int, int]]]:
    from graphport_books.concepts import concepts_of_book

    texts = [[passage.text for passage in passages] for passages in made]
    return concepts_of_book([(chapter.title, own) for chapter, own in zip(chapters, texts, strict=True)])


def _has_unspaced(made: Sequence[Sequence[Passage]]) -> bool:
    from graphport_books.concepts import is_unspaced

    return any(is_unspaced("".join(passage.text for passage in passages)) for passages in made)


def _chapters_by_anchor(path: str, chapters: Sequence[Chapter]) -> dict[str, str]:
    nodes: dict[str, str] = {}
    for number, chapter in enumerate(chapters, 1):
        for anchor in chapter.anchors:
            nodes.setdefault(anchor, chapter_node(path, number))
    return nodes


def _links(path: str, chapter: Chapter, anchors: Mapping[str, str]) -> list[list[str]]:
    """What a chapter links to: ``["node", id]`` inside the book, ``["name", ...]`` for `Lookup` otherwise."""
    found: dict[tuple[str, str], None] = {}
    for link in chapter.links:
        node = anchors.get(link) or anchors.get(link.partition("#")[0])
        if node is not None:
            found["node", node] = None
        elif not path.lower().endswith(".epub"):
            for name in _file_names("" if is_page(path) else posixpath.dirname(path), link):
                found["name", name] = None
    return [list(item) for item in found]


def _file_names(folder: str, link: str) -> Iterator[str]:
    """Names under which a linked file, or a heading in it, may be defined."""
    try:
        parts = urlsplit(link)
    except ValueError:  # "http://[" is no address, so it is no file of ours either
        return
    if parts.scheme or parts.netloc or not parts.path:
        return
    target = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
    yield f"heading:{target}#{unquote(parts.fragment)}" if parts.fragment else f"file:{target}"


def _possible_titles(emphasised: Sequence[str]) -> list[str]:
    """Keys of the emphasised texts that may be titles of books: those that begin with a capital."""
    keys: dict[str, None] = {}
    for text in emphasised:
        if text[:1].isupper() and len(text) <= 150 and (key := _key(text)):
            keys[key] = None
    return list(keys)[:_MOST_EMPHASISED]


def _key(text: str) -> str:
    try:
        return fold(text)
    except InvalidIdError:  # nothing but punctuation is set apart
        return ""


def _definitions(path: str, node: str, book: Book, rows: Sequence[Row]) -> Iterator[Definition]:
    yield Definition(f"file:{path}", {"node": rows[0]["node"] if is_page(path) else node})
    if _key(book.title):
        yield Definition(f"book:{_key(book.title)}", {"node": node})
    if is_page(path):
        yield Definition(f"pages:{node}", {"node": rows[0]["node"], "path": path})


def _nodes(data: Row, row: Row) -> Iterator[NodeFact]:
    book = {"author": data["author"]} if data["author"] else {}
    chapter = {"book": data["title"], **({"part": row["part"]} if row["part"] else {})}
    for entry in row["entries"]:
        yield NodeFact(data["book"], "book", data["title"], entry, props=book)
        yield NodeFact(row["node"], "chapter", row["title"], entry, props=chapter)
        yield NodeFact(f"passage:{entry}", "passage", row["title"], entry, stands_for_entry=True)


def _structure(book: str, row: Row, following: Row | None) -> Iterator[Fact]:
    entries: Sequence[str] = row["entries"]
    yield Fact(book, "contains", row["node"], entries[0])
    if following is not None:
        yield Fact(row["node"], "next", following["node"], entries[0])
    for entry, after in zip(entries, [*entries[1:], None], strict=True):
        yield Fact(row["node"], "contains", f"passage:{entry}", entry)
        if after is not None:
            yield Fact(f"passage:{entry}", "next", f"passage:{after}", entry)


def _mentions(row: Row) -> Iterator[Fact]:
    """The chapter's edge to a topic weighs its whole salience, for each passage adds its own."""
    for name, parts in row["concepts"]:
        for passage, salience in parts:
            entry = row["entries"][passage]
            for source in (row["node"], f"passage:{entry}"):
                yield Fact(source, "mentions", entity_id(TOPIC, name), entry, weight=float(salience))


def _topics(row: Row) -> Iterator[NodeFact]:
    for name, parts in row["concepts"]:
        for passage, _ in parts:
            yield NodeFact(entity_id(TOPIC, name), "entity", name, row["entries"][passage], props={"type": TOPIC})


def _cited(row: Row, lookup: Lookup) -> list[str]:
    targets: dict[str, None] = {}
    for kind, value in row["links"]:
        if kind == "node":
            targets[value] = None
            continue
        found = lookup(value)
        if not found and value.startswith("heading:"):
            found = lookup("file:" + value.removeprefix("heading:").partition("#")[0])
        for _, data in found:
            targets[str(data["node"])] = None
    for key in row["emphasised"]:
        for _, data in lookup(f"book:{key}"):
            targets[str(data["node"])] = None
    own = {row["node"]}
    return [target for target in targets if target not in own]


def _next_page(document: str, book: str, row: Row, lookup: Lookup) -> Iterator[Fact]:
    """The edge to the page that follows this one in the book's folder."""
    pages = {str(data["path"]): str(data["node"]) for _, data in lookup(f"pages:{book}")}
    ordered = sorted(pages, key=_reading_order)
    after = ordered.index(document) + 1 if document in pages else len(ordered)
    if after < len(ordered):
        yield Fact(row["node"], "next", pages[ordered[after]], row["entries"][0])


def _reading_order(path: str) -> list[tuple[int, str]]:
    """Paths in the order of the numbers in them: chapter-2 before chapter-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBER.split(path)]
