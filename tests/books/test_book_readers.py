"""What each format gives: titles, chapters, paragraphs; and what bad files give."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from made_books import epub, page, pdf

from graphport_books.book import Book, UnreadableBookError
from graphport_books.epub import read_epub
from graphport_books.headings import find_headings
from graphport_books.markdown import read_markdown
from graphport_books.pages import chapters_of
from graphport_books.pdf import read_pdf
from graphport_books.plain import read_plain
from graphport_books.xhtml import read_xhtml


def outline(book: Book) -> list[tuple[str, list[str]]]:
    return [(chapter.title, [item.text for item in chapter.paragraphs]) for chapter in book.chapters]


def titles(text: str) -> list[str]:
    return [heading.title for heading in find_headings(text.splitlines())]


# -- plain text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headings",
    [
        ["CHAPTER I", "CHAPTER II"],
        ["Chapter 1. Of Grace", "Chapter 2. Of Works"],
        ["CHAPTER ONE", "CHAPTER TWENTY-ONE"],
        ["I.", "II.", "III."],
        ["1. The Council", "2. The Town"],
        ["Kapitel 3: Von der Gnade", "Kapitel 4"],
        ["Chapitre premier: rien", "Chapitre II", "Chapitre III"][1:],
        ["Cap\u00edtulo 1", "Cap\u00edtulo 2"],
        ["\u0413\u043b\u0430\u0432\u0430 1", "\u0413\u043b\u0430\u0432\u0430 2"],
        ["Preface", "Letter the First", "Letter the Second"],
        ["Introduction", "BOOK II"],
    ],
)
def test_headings_are_known_by_their_form(headings: list[str]) -> None:
    assert titles("\n\n".join(f"{heading}\n\nSome text stands here, and more." for heading in headings)) == headings


def test_a_heading_takes_the_title_below_it() -> None:
    text = "CHAPTER I.\n\nOF GRACE\n\nText stands here.\n\nCHAPTER II\nThe Council of\nTrent\n\nMore text."
    assert titles(text) == ["CHAPTER I: OF GRACE", "CHAPTER II: The Council of Trent"]
    assert outline(read_plain(text, "x")) == [
        ("CHAPTER I: OF GRACE", ["Text stands here."]),
        ("CHAPTER II: The Council of Trent", ["More text."]),
    ]


def test_a_sentence_below_a_number_is_no_title() -> None:
    text = "I\n\nIt was a dark night.\n\nII\n\nThe rain fell in torrents, and the wind blew,\n\nand so on."
    assert titles(text) == ["I", "II"]


def test_prose_that_looks_like_a_heading_is_prose() -> None:
    text = "Chapter 1 was long and I did not\nread it.\n\nIn Chapter 2 they met.\n\nI.\n\nV.\n\nDr. 3. x"
    assert titles(text) == []


def test_a_table_of_contents_tells_headings_of_any_form() -> None:
    text = (
        "CONTENTS\n\nThe Maniac ........ 12\nThe Suicide of Thought   30\nAuthority\n\n\n"
        "THE MANIAC\n\nThoroughly worldly people.\n\nThe Suicide of Thought.\n\nPhrases of the street.\n\n"
        "Authority\n\nThe last chapter."
    )
    assert titles(text) == ["THE MANIAC", "The Suicide of Thought.", "Authority"]


def test_the_table_of_contents_itself_is_no_chapter() -> None:
    text = (
        "CONTENTS\n\nCHAPTER I. Grace\nCHAPTER II. Works\n\n\nCHAPTER I. Grace\n\nText.\n\nCHAPTER II. Works\n\nMore."
    )
    assert outline(read_plain(text, "x")) == [("CHAPTER I. Grace", ["Text."]), ("CHAPTER II. Works", ["More."])]


def test_gutenbergs_frame_is_left_out_and_its_fields_are_read() -> None:
    text = (
        "Licence\n\nTitle: Orthodoxy\n\nAuthor: G. K. Chesterton\n\n"
        "*** START OF THE PROJECT GUTENBERG EBOOK ORTHODOXY ***\n\nI\n\nSee _The Napoleon_ here.\n\nII\n\nText.\n\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK ORTHODOXY ***\nLicence"
    )
    book = read_plain(text, "x")
    assert (book.title, book.author) == ("Orthodoxy", "G. K. Chesterton")
    assert outline(book) == [("I", ["See _The Napoleon_ here."]), ("II", ["Text."])]
    assert book.chapters[0].emphasised == ["The Napoleon"]
    assert (book.chapters[0].paragraphs[0].first_line, book.chapters[1].paragraphs[0].last_line) == (11, 15)


def test_a_text_without_headings_is_one_chapter_and_says_so() -> None:
    book = read_plain("Just text.\n\nMore.", "notes")
    assert outline(book) == [("notes", ["Just text.", "More."])]
    assert book.warnings == ["no chapter headings found; the book is one chapter"]
    assert read_plain("", "x").chapters == []


def test_text_before_the_first_heading_is_kept_if_it_is_prose() -> None:
    preface = "This is long. " * 30
    text = f"THE TITLE\n\nby Somebody\n\n{preface}\n\nChapter 1\n\nText.\n\nChapter 2\n\nMore."
    assert [title for title, _ in outline(read_plain(text, "x"))] == ["x", "Chapter 1", "Chapter 2"]
    short = "THE TITLE\n\nby Somebody\n\nChapter 1\n\nText.\n\nChapter 2\n\nMore."
    assert [title for title, _ in outline(read_plain(short, "x"))] == ["Chapter 1", "Chapter 2"]


def test_parts_name_the_chapters_in_them() -> None:
    text = "PART I\n\nCHAPTER I\n\nText.\n\nCHAPTER II\n\nText.\n\nPART II\n\nCHAPTER III\n\nText."
    assert [(chapter.part, chapter.title) for chapter in read_plain(text, "x").chapters] == [
        ("PART I", "CHAPTER I"),
        ("PART I", "CHAPTER II"),
        ("PART II", "CHAPTER III"),
    ]


# -- Markdown -----------------------------------------------------------------------------------------


def test_markdown_headings_make_the_chapters() -> None:
    text = "# The Book\n\nBefore.\n\n## One\n\nText.\n\n### Deeper\n\nMore.\n\n## Two\n\nEnd.\n"
    book = read_markdown(text, "x")
    assert book.title == "The Book"
    assert outline(book) == [("The Book", ["Before."]), ("One", ["Text.", "### Deeper", "More."]), ("Two", ["End."])]


def test_front_matter_gives_title_and_author() -> None:
    book = read_markdown("---\ntitle: A\nauthor: B\nyear: 1517\n---\n\n# One\n\nx\n\n# Two\n\ny\n", "x")
    assert (book.title, book.author) == ("A", "B")
    assert outline(book) == [("One", ["x"]), ("Two", ["y"])]
    assert book.chapters[0].paragraphs[0].first_line == 9
    assert read_markdown("---\n\n# One\n\nx\n\n# Two\n\ny", "t").title == "t"


def test_parts_above_chapters() -> None:
    text = "# Book I\n\n## A\n\nx\n\n## B\n\ny\n\n# Book II\n\n## C\n\nz\n"
    assert [(chapter.part, chapter.title) for chapter in read_markdown(text, "x").chapters] == [
        ("Book I", "A"),
        ("Book I", "B"),
        ("Book II", "C"),
    ]


def test_links_and_emphasis_belong_to_their_chapter() -> None:
    text = "# A\n\nsee [b](b.md#x) and *Orthodoxy*\n\n# B\n\nnothing\n"
    first, second = read_markdown(text, "x").chapters
    assert (first.links, first.emphasised) == (["b.md#x"], ["Orthodoxy"])
    assert (second.links, second.emphasised) == ([], [])


def test_a_hash_in_a_code_block_is_no_heading() -> None:
    assert len(read_markdown("# A\n\n```\n# not\n```\n\n# B\n\nx\n", "x").chapters) == 2


# -- XHTML and EPUB -----------------------------------------------------------------------------------


def test_blocks_of_a_page() -> None:
    body = (
        '<section id="c3"><hgroup><h2>III</h2><p epub:type="title">The Suicide of\n  Thought</p></hgroup>'
        '<p>A&#160;figure of <em>speech</em>,<br/>and <i>more</i>.<a epub:type="noteref" href="n.xhtml#1">1</a></p>'
        "<h3>Deeper</h3><blockquote><p>Quoted.</p></blockquote><ul><li>one</li><li>two</li></ul>"
        '<p>See <a href="chapter-4.xhtml#x">there</a>.<script>no()</script></p></section>'
    )
    found = read_xhtml(page(body, "III: The Suicide of Thought").encode())
    assert [(block.level, block.title, block.text) for block in found.blocks] == [
        (2, True, "III"),
        (0, True, "The Suicide of Thought"),
        (0, False, "A figure of speech,\nand more."),
        (3, False, "Deeper"),
        (0, False, "Quoted."),
        (0, False, "one"),
        (0, False, "two"),
        (0, False, "See there."),
    ]
    (chapter,) = chapters_of([("text/chapter-3.xhtml", found)], [])
    assert chapter.title == "III: The Suicide of Thought"
    assert chapter.links == ["text/chapter-4.xhtml#x"]
    assert chapter.emphasised == ["speech", "more"]
    assert chapter.paragraphs[1].text == "Deeper"


def test_html_that_is_not_xml_is_read_as_browsers_do() -> None:
    found = read_xhtml(b"<html><head><title>T</title></head><body><p>one<p>two &amp; three &nbsp;&eacute;<br></body>")
    assert [block.text for block in found.blocks] == ["one", "two & three \u00e9"]
    assert found.title == "T"


def test_named_characters_are_known_in_xml_too() -> None:
    assert [block.text for block in read_xhtml(page("<p>a&mdash;b &amp; c &eacute;</p>").encode()).blocks] == [
        "a\u2014b & c \u00e9"
    ]


def test_entities_are_not_expanded_and_nothing_is_fetched() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><html><body><p>x &b; y</p></body></html>'
    assert "aaaa" not in "".join(block.text for block in read_xhtml(bomb.encode()).blocks)
    outside = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><html><body><p>x &f; y</p></body></html>'
    assert "root" not in "".join(block.text for block in read_xhtml(outside.encode()).blocks)


@pytest.mark.parametrize("data", [b"", b"   ", b"<!-- nothing -->"])
def test_a_page_without_markup_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableBookError, match="no markup"):
        read_xhtml(data)


PAGES = {
    "title.xhtml": page("<p>A Book</p>", "Title", ' epub:type="frontmatter titlepage"'),
    "one.xhtml": page(
        '<h2>One</h2><p>First.</p><h3 id="s">Section</h3><p>Second. See <a href="two.xhtml#b">B</a>.</p>'
    ),
    "two.xhtml": page('<h2 id="a">A</h2><p>Third.</p><h2 id="b">B</h2><p>Fourth.</p>'),
}


def test_the_navigation_of_an_epub_makes_its_chapters() -> None:
    nav = (
        '<ol><li><a href="text/title.xhtml">Title</a></li>'
        '<li><a href="text/one.xhtml">Chapter One</a><ol><li><a href="text/one.xhtml#s">Section</a></li></ol></li>'
        '<li><span>Part II</span><ol><li><a href="text/two.xhtml#a">Chapter A</a></li>'
        '<li><a href="text/two.xhtml#b">Chapter B</a></li></ol></li></ol>'
    )
    book = read_epub(epub(PAGES, nav=nav, author="Somebody"), "x")
    assert (book.title, book.author, book.warnings) == ("A Book", "Somebody", [])
    assert outline(book) == [
        ("Chapter One", ["First.", "Section", "Second. See B."]),
        ("Chapter A", ["Third."]),
        ("Chapter B", ["Fourth."]),
    ]
    assert [chapter.part for chapter in book.chapters] == ["", "Part II", "Part II"]
    assert book.chapters[0].links == ["OEBPS/text/two.xhtml#b"]
    assert "OEBPS/text/two.xhtml#b" in book.chapters[2].anchors


def test_an_ncx_does_where_there_is_no_navigation() -> None:
    def point(label: str, source: str, inside: str = "") -> str:
        return f'<navPoint><navLabel><text>{label}</text></navLabel><content src="{source}"/>{inside}</navPoint>'

    ncx = point("Part I", "text/title.xhtml", point("One", "text/one.xhtml")) + point("Two", "text/two.xhtml")
    book = read_epub(epub(PAGES, ncx=ncx), "x")
    assert [(chapter.part, chapter.title) for chapter in book.chapters] == [("Part I", "One"), ("", "Two")]


def test_without_contents_headings_make_the_chapters() -> None:
    assert outline(read_epub(epub(PAGES), "x")) == [
        ("One", ["First.", "Section", "Second. See B."]),
        ("A", ["Third."]),
        ("B", ["Fourth."]),
    ]


def test_a_page_before_the_first_chapter_is_kept() -> None:
    pages = {"preface.xhtml": page("<p>Before all.</p>", "Preface"), **PAGES}
    nav = '<ol><li><a href="text/one.xhtml">One</a></li><li><a href="text/two.xhtml">Two</a></li></ol>'
    assert [title for title, _ in outline(read_epub(epub(pages, nav=nav), "x"))] == ["Preface", "One", "Two"]


@pytest.mark.parametrize("title", ["", "&lt;b&gt;"])
def test_a_book_without_title_is_called_by_its_file(title: str) -> None:
    assert read_epub(epub(PAGES, title=title), "file").title == ((title and "<b>") or "file")


def truncated() -> bytes:
    return epub(PAGES)[:-200]


def zipped(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


@pytest.mark.parametrize(
    "data,message",
    [
        (b"", "no readable EPUB"),
        (b"PK\x03\x04 but no zip", "no readable EPUB"),
        (truncated(), "no readable EPUB"),
        (zipped({"a.txt": "x"}), "META-INF/container.xml is missing"),
        (zipped({"META-INF/container.xml": "<container/>"}), "no package document"),
        (zipped({"META-INF/container.xml": ""}), "no markup"),
        (zipped({"META-INF/container.xml": '<x><rootfile full-path="gone.opf"/></x>'}), "gone.opf is missing"),
        (epub(PAGES, extra={"META-INF/rights.xml": "<x/>"}), "DRM"),
    ],
)
def test_a_broken_epub_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableBookError, match=message):
        read_epub(data, "x")


def test_a_package_cannot_pull_in_other_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    files = unzipped(epub(PAGES, title="Book &f;"))
    files["OEBPS/content.opf"] = f'<!DOCTYPE x [<!ENTITY f SYSTEM "{secret.as_uri()}">]>' + files["OEBPS/content.opf"]
    assert "hidden" not in read_epub(zipped(files), "x").title


def test_an_epub_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphport_books.epub.MAX_BYTES", 5000)
    with pytest.raises(UnreadableBookError, match="more than 5000 bytes"):
        read_epub(epub({"a.xhtml": page("<p>" + "x" * 10_000 + "</p>")}), "x")


def test_a_missing_page_is_a_warning() -> None:
    data = zipped({name: text for name, text in unzipped(epub(PAGES)).items() if not name.endswith("one.xhtml")})
    book = read_epub(data, "x")
    assert book.warnings == ["OEBPS/text/one.xhtml is listed and missing"]
    assert [chapter.title for chapter in book.chapters] == ["A", "B"]


def unzipped(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


# -- PDF ----------------------------------------------------------------------------------------------

SHEETS = [
    ["A BOOK", "Chapter 1", "", "Grace is a gift and a won-", "der to all.", "1"],
    ["A BOOK", "It goes on.", "2"],
    ["A BOOK", "Chapter 2", "", "Works are works.", "3"],
]


def test_the_outline_of_a_pdf_makes_its_chapters() -> None:
    book = read_pdf(pdf(SHEETS, outline=[("Of Grace", 0), ("Of Works", 2)], title="A Title"), "x")
    assert (book.title, book.author, book.warnings) == ("A Title", "Somebody", [])
    assert [title for title, _ in outline(book)] == ["Of Grace", "Of Works"]
    assert "a wonder to all." in outline(book)[0][1][0]
    assert [item.page for item in book.chapters[0].paragraphs] == [1, 2]


def test_without_an_outline_headings_make_the_chapters_and_running_heads_are_left_out() -> None:
    book = read_pdf(pdf([[line] for line in ["Chapter 1", "Grace.", "Chapter 2", "Works."]]), "x")
    assert outline(book) == [("Chapter 1", ["Grace."]), ("Chapter 2", ["Works."])]
    assert [item.page for chapter in book.chapters for item in chapter.paragraphs] == [2, 4]
    every = "".join(text for _, texts in outline(read_pdf(pdf(SHEETS), "x")) for text in texts)
    assert "A BOOK" not in every
    assert "3" not in every


@pytest.mark.parametrize(
    "data,message",
    [
        (b"", "no readable PDF"),
        (b"%PDF-1.7 and then nothing", "no readable PDF"),
        (pdf([[], []]), "holds no text"),
        (pdf(SHEETS, password="secret"), "encrypted"),
    ],
)
def test_a_broken_pdf_says_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(UnreadableBookError, match=message):
        read_pdf(data, "x")
