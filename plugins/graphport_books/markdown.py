"""Books in Markdown: headings make the chapters."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import cast

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphport_books.book import Book, Chapter
from graphport_books.headings import is_part
from graphport_books.plain import paragraphs_of


def read_markdown(text: str, fallback_title: str) -> Book:
    """A book from Markdown.

    A single first heading of level 1 above others is the title (front matter has precedence). Chapters
    are the headings of the highest level that has two, or of the next one below "Part I", "Book II", ...;
    deeper headings stay in their chapter's text.
    """
    lines = text.splitlines()
    front, start = _front_matter(lines)
    headings, tokens = _parse("\n".join(lines[start:]), start)
    title = front.get("title", "")
    if _has_title(headings):
        title = title or headings[0].title
    book = Book(title or fallback_title, front.get("author", ""))
    body = headings[1:] if _has_title(headings) else headings
    level = _chapter_level(body)
    starts = [heading for heading in body if heading.level <= level]
    bounds = [_Heading("", 0, headings[0].end if _has_title(headings) else start, 0), *starts]
    part = ""
    for heading, following in zip(bounds, [*bounds[1:], None], strict=True):
        end = len(lines) if following is None else following.line
        paragraphs = paragraphs_of(lines, heading.end, end, 1)
        if heading.level and heading.level < level:
            part = heading.title
        if paragraphs:
            chapter = Chapter(heading.title or book.title, paragraphs, part="" if heading.title == part else part)
            chapter.links, chapter.emphasised = _inline(tokens, heading.end, end)
            book.chapters.append(chapter)
    if len(book.chapters) < 2:
        book.warnings.append("no chapter headings found; the book is one chapter")
    return book


class _Heading:
    """A heading of the document's top level; it covers the lines ``line`` to ``end`` (from 0, exclusive)."""

    __slots__ = ("end", "level", "line", "title")

    def __init__(self, title: str, line: int, end: int, level: int) -> None:
        self.title, self.line, self.end, self.level = title, line, end, level


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _parse(text: str, offset: int) -> tuple[list[_Heading], list[tuple[int, Token]]]:
    """Headings, and the inline tokens with their line; lines count from the start of the file."""
    tokens = _markdown().parse(text)
    headings: list[_Heading] = []
    inline: list[tuple[int, Token]] = []
    for token, inside in zip(tokens, [*tokens[1:], None], strict=False):
        if token.type == "heading_open" and token.level == 0 and token.map and inside is not None:
            title = _plain(inside) or "untitled"
            headings.append(_Heading(title, offset + token.map[0], offset + token.map[1], int(token.tag[1])))
        elif token.type == "inline" and token.map:
            inline.append((offset + token.map[0], token))
    return headings, inline


def _has_title(headings: list[_Heading]) -> bool:
    return len(headings) > 1 and headings[0].level == 1 and all(heading.level > 1 for heading in headings[1:])


def _chapter_level(headings: list[_Heading]) -> int:
    levels = sorted({heading.level for heading in headings})
    for level, deeper in zip(levels, [*levels[1:], None], strict=False):
        titles = [heading.title for heading in headings if heading.level == level]
        if len(titles) > 1 and not (deeper is not None and all(map(is_part, titles))):
            return level
    return levels[-1] if levels else 1


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline")).strip()


def _inline(tokens: list[tuple[int, Token]], start: int, end: int) -> tuple[list[str], list[str]]:
    """Links and emphasised texts in some lines."""
    links: list[str] = []
    emphasised: list[str] = []
    for line, token in tokens:
        if not start <= line < end:
            continue
        children = token.children or []
        links += [str(child.attrs["href"]) for child in children if child.type == "link_open"]
        emphasised += [
            after.content for before, after in pairwise(children) if before.type == "em_open" and after.type == "text"
        ]
    return links, emphasised


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Title and author from a YAML block at the beginning, and where the text begins behind it."""
    if not lines or lines[0].strip() != "---":
        return {}, 0
    end = next((row for row in range(1, len(lines)) if lines[row].strip() in ("---", "...")), None)
    if end is None:
        return {}, 0
    try:
        found: object = yaml.safe_load("\n".join(lines[1:end]))
    except yaml.YAMLError:  # a thematic break, then text
        return {}, 0
    if not isinstance(found, dict):
        return {}, 0
    fields = cast("dict[object, object]", found)
    return {key: str(fields[key]) for key in ("title", "author") if isinstance(fields.get(key), str)}, end + 1
