"""The graph a book gives, edge by edge."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from made_books import epub, page, pdf

from graphport.builders import Builder, Document, Extraction, Links
from graphport_books.builder import BookBuilder
from graphport_books.reading import is_book, title_from

BUILDER = BookBuilder()


def text(path: str, body: str) -> Document:
    return Document(path, body, body.encode())


def build(*documents: Document) -> dict[str, Links]:
    """Extract and link some documents, with each extraction as it comes out of storage."""
    made: dict[str, Extraction] = {}
    names: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for document in sorted(documents, key=lambda item: item.path):
        extraction = BUILDER.extract(document)
        made[document.path] = Extraction(extraction.entries, (), json.loads(json.dumps(extraction.data)))
        for definition in extraction.definitions:
            names.setdefault(definition.name, []).append((document.path, definition.data))

    def lookup(name: str) -> Sequence[tuple[str, Mapping[str, Any]]]:
        return names.get(name, [])

    links = {path: BUILDER.link(path, extraction, lookup) for path, extraction in made.items()}
    declared = {node.id for found in links.values() for node in found.nodes}
    for found in links.values():
        assert {fact.source for fact in found.facts} | {fact.target for fact in found.facts} <= declared
    return links


def edges(links: Links, *kinds: str) -> list[tuple[str, str, str]]:
    return sorted({(fact.source, fact.kind, fact.target) for fact in links.facts if fact.kind in kinds})


def weight(links: Links, source: str, target: str) -> float:
    return sum(
        fact.weight for fact in links.facts if (fact.source, fact.kind, fact.target) == (source, "mentions", target)
    )


BOOK = "# The Book\n\n## Of Grace\n\nWe say with Luther that grace is free.\n\n## Of Works\n\nThe works and the law.\n"


def test_it_is_a_builder() -> None:
    assert isinstance(BUILDER, Builder)


def test_a_book_contains_chapters_that_follow_each_other_and_contain_passages() -> None:
    links = build(text("books/b.md", BOOK))["books/b.md"]
    assert edges(links, "contains", "next") == [
        ("book:books/b.md", "contains", "chapter:books/b.md#1"),
        ("book:books/b.md", "contains", "chapter:books/b.md#2"),
        ("chapter:books/b.md#1", "contains", "passage:books/b.md#1.1"),
        ("chapter:books/b.md#1", "next", "chapter:books/b.md#2"),
        ("chapter:books/b.md#2", "contains", "passage:books/b.md#2.1"),
    ]
    nodes = {node.id: node for node in links.nodes}
    assert (nodes["book:books/b.md"].kind, nodes["book:books/b.md"].name) == ("book", "The Book")
    assert (nodes["chapter:books/b.md#1"].kind, nodes["chapter:books/b.md#1"].name) == ("chapter", "Of Grace")
    assert nodes["passage:books/b.md#1.1"].stands_for_entry
    assert not nodes["chapter:books/b.md#1"].stands_for_entry


def test_passages_are_the_entries_and_know_where_they_stand() -> None:
    first, second = BUILDER.extract(text("books/b.md", BOOK)).entries
    assert (first.id, first.title, first.kind) == ("books/b.md#1.1", "The Book: Of Grace", "passage")
    assert (first.start_line, first.end_line, first.document) == (5, 5, "books/b.md")
    assert first.text == "We say with Luther that grace is free."
    assert first.meta == {"book": "The Book", "chapter": "Of Grace"}
    assert second.start_line == 9


def test_chapters_and_passages_mention_their_topics_with_their_salience() -> None:
    links = build(text("books/b.md", BOOK))["books/b.md"]
    luther, grace = "entity:topic:Luther", "entity:topic:grace"
    assert weight(links, "chapter:books/b.md#1", luther) == 2
    assert weight(links, "chapter:books/b.md#1", grace) == 1 + 3
    assert weight(links, "passage:books/b.md#1.1", grace) == 1 + 3
    (node,) = {(node.id, node.kind, node.name, node.props["type"]) for node in links.nodes if node.id == luther}
    assert node == (luther, "entity", "Luther", "topic")


def test_the_weight_of_a_chapters_topic_is_what_its_passages_add() -> None:
    long = "\n\n".join(f"We met Luther here. {'Many words follow on this. ' * 50}" for _ in range(3))
    document = text("books/b.txt", f"Chapter 1\n\n{long}\n\nChapter 2\n\nThe end of it.")
    links = build(document)["books/b.txt"]
    passages = [f"passage:books/b.txt#1.{number}" for number in (1, 2, 3)]
    assert [weight(links, passage, "entity:topic:Luther") for passage in passages] == [2, 2, 2]
    assert weight(links, "chapter:books/b.txt#1", "entity:topic:Luther") == 6
    assert edges(links, "next")[1:] == [(passages[0], "next", passages[1]), (passages[1], "next", passages[2])]


def test_a_chapter_cites_what_it_links_to_and_books_whose_title_it_sets_apart() -> None:
    notes = (
        "# Notes\n\n## One\n\nSee [it](a.md), [itself](#x), [the web](https://x.org) and *The Book*.\n\n## Two\n\nx\n"
    )
    links = build(
        text("books/a.md", "# A\n\n## One\n\nx\n\n## Two\n\ny\n"), text("books/b.md", BOOK), text("books/c.md", notes)
    )
    assert edges(links["books/c.md"], "cites") == [
        ("chapter:books/c.md#1", "cites", "book:books/a.md"),
        ("chapter:books/c.md#1", "cites", "book:books/b.md"),
    ]


def test_links_inside_an_epub_are_citations_of_chapters() -> None:
    pages = {
        "a.xhtml": page('<h2>A</h2><p>See <a href="b.xhtml#n">there</a> and <a href="#x">here</a>.</p>'),
        "b.xhtml": page('<h2>B</h2><p id="n">Text.<a epub:type="noteref" href="a.xhtml">1</a></p>'),
    }
    links = build(Document("x.epub", "", epub(pages)))["x.epub"]
    assert edges(links, "cites") == [("chapter:x.epub#1", "cites", "chapter:x.epub#2")]


def test_pages_of_an_unpacked_epub_are_one_book_in_the_order_of_their_numbers() -> None:
    def sheet(number: int) -> Document:
        path = f"gibbon/src/epub/text/chapter-{number}.xhtml"
        return Document(
            path, "", page(f'<h2>{number}</h2><p>See <a href="chapter-9.xhtml">nine</a>.</p>', f"No. {number}").encode()
        )

    links = build(sheet(9), sheet(10), sheet(11))
    of_ten = links["gibbon/src/epub/text/chapter-10.xhtml"]
    nine, ten, eleven = (f"chapter:gibbon/src/epub/text/chapter-{number}.xhtml#1" for number in (9, 10, 11))
    assert edges(of_ten, "next", "cites") == [(ten, "cites", nine), (ten, "next", eleven)]
    assert edges(links["gibbon/src/epub/text/chapter-9.xhtml"], "next", "cites") == [(nine, "next", ten)]
    assert edges(links["gibbon/src/epub/text/chapter-11.xhtml"], "next") == []
    assert {fact.source for found in links.values() for fact in found.facts if fact.target == nine} == {
        "book:gibbon",
        ten,
        eleven,
    }
    assert {node.name for found in links.values() for node in found.nodes if node.kind == "book"} == {"gibbon"}


def test_front_matter_pages_give_nothing() -> None:
    sheet = Document("b/text/titlepage.xhtml", "", page("<p>x</p>", "", ' epub:type="frontmatter titlepage"').encode())
    assert BUILDER.extract(sheet) == Extraction(warnings=[])
    assert build(sheet)["b/text/titlepage.xhtml"] == Links()


def test_a_script_without_spaces_has_no_concepts_and_the_summary_says_so() -> None:
    japanese = "\u79c1\u306f\u6771\u4eac\u306b\u4f4f\u3093\u3067\u3044\u307e\u3059\u3002"
    document = text("books/j.md", f"# \u672c\n\n## \u4e00\n\n{japanese}\n\n## \u4e8c\n\n{japanese}\n")
    assert BUILDER.extract(document).warnings == [
        "no concepts: the text is in a script that puts no spaces between words"
    ]
    links = build(document)["books/j.md"]
    assert edges(links, "mentions") == []
    assert len(edges(links, "contains")) == 4


def _changed(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


_EPUB = epub({"a.xhtml": page("<h2>A</h2><p>Text.</p>")})
_END = b"PK\x05\x06"


@pytest.mark.parametrize(
    "path,data",
    [
        ("x.epub", b"no zip"),
        ("x.epub", _EPUB[: _EPUB.index(_END)] + _EPUB[_EPUB.index(_END) + 30 :]),
        ("x.epub", _EPUB[: _EPUB.index(_END) + 16] + b"\xff\xff\xff\x7f" + _EPUB[_EPUB.index(_END) + 20 :]),
        ("x.epub", _changed(_EPUB, b"META-INF", b"META\xff\xffNF")),
        ("x.pdf", b"no pdf"),
        ("x.pdf", _changed(pdf([["Text"]]), b"BT /F1", b"<< BT /")),
        ("x.xhtml", b""),
    ],
)
def test_a_file_that_cannot_be_read_is_a_warning_and_no_failure(path: str, data: bytes) -> None:
    extraction = BUILDER.extract(Document(path, "", data))
    assert extraction.entries == ()
    assert len(extraction.warnings) == 1
    assert BUILDER.link(path, extraction, lambda _: ()) == Links()


def test_an_empty_book_gives_nothing() -> None:
    assert not BUILDER.extract(text("books/e.txt", "\n\n")).entries
    assert not BUILDER.extract(text("books/e.md", "# Only a heading\n")).entries
    assert not BUILDER.extract(text("books/e.md", "\n\n")).entries
    assert not BUILDER.extract(text("books/e.md", "---\ntitle: E\n---\n")).entries


def test_a_markdown_book_without_headings_is_one_chapter() -> None:
    extraction = BUILDER.extract(text("books/licence.md", "The source text is free.\n"))
    assert [entry.title for entry in extraction.entries] == ["licence"]
    assert extraction.warnings == ["no chapter headings found; the book is one chapter"]


@pytest.mark.parametrize(
    "path,expected",
    [
        ("a.epub", True),
        ("A.PDF", True),
        ("x/chapter-1.xhtml", True),
        ("books/a.txt", True),
        ("x/Books/y/a.md", True),
        ("institutes.book.txt", True),
        ("notes/a.md", False),
        ("bookshelf/a.md", False),
        ("books/a.py", False),
        ("a.txt", False),
        ("books.txt", False),
    ],
)
def test_what_is_a_book(path: str, expected: bool) -> None:
    assert is_book(path) is expected
    assert BUILDER.accepts(path) is expected


@pytest.mark.parametrize(
    "path,title",
    [
        ("books/john-calvin.txt", "john-calvin"),
        ("institutes.book.md", "institutes"),
        ("gibbon/src/epub/text/chapter-1.xhtml", "gibbon"),
        ("chapter-1.xhtml", "chapter-1"),
    ],
)
def test_what_a_book_is_called_that_does_not_say(path: str, title: str) -> None:
    assert title_from(path) == title


def test_without_the_extra_a_book_says_what_to_install_and_prose_goes_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("graphport_books.builder.missing_packages", lambda: ["lxml"])
    bare = BookBuilder()
    assert bare.version != BUILDER.version  # so that the file is read again once the extra is there
    assert bare.accepts("a.epub")
    assert not bare.accepts("books/a.md")
    assert bare.extract(Document("a.epub", "", b"")).warnings == ("books need lxml; pip install 'graphport[books]'",)
