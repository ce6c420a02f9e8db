"""The graph builder for prose: files, headings and passages, and what they contain, follow, cite and use.

It takes every text file that no other builder wants. Markdown is cut at its headings, anything else at
blank lines.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphport.builders import Builder, Definition, Document, Entry, Extraction, Fact, Links, Lookup, NodeFact
from graphport.hookspecs import hookimpl
from graphport.knowledge.capitals import Capitals
from graphport.knowledge.chunking import Chunk, chunk_lines
from graphport.knowledge.tagger import installed_taggers
from graphport.proposals import EntityProposer

BINARY_DOCUMENTS = (".epub", ".pdf")
CITES = "cites"
MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
# What looks like the name of a piece of code in prose: `anything in backticks`, snake_case, CamelCase, call().
_CODE_NAME = re.compile(r"`([^`\n]{1,200})`|\b(\w+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)\b|\b(\w+)\(\)")
_WORD = re.compile(r"[^\W\d]\w*")


@hookimpl
def graphport_builders() -> Sequence[Builder]:
    return [TextBuilder(), EntryBuilder()]


@hookimpl
def graphport_proposers() -> Sequence[EntityProposer]:
    return [Capitals(), *installed_taggers()]


@dataclass(slots=True)
class _Section:
    """A heading and the text below it, up to the next heading; level 0 is what stands before the first."""

    level: int
    title: str
    first_line: int
    last_line: int = 0
    slug: str = ""
    parent: str = ""
    links: list[str] = field(default_factory=list[str])


class TextBuilder:
    """Nodes ``file:{path}``, ``heading:{path}#{slug}`` and ``passage:{entry}``; edges ``contains``,
    ``next``, ``cites`` (a link to another file or heading) and ``uses`` (a code name that some document
    defines as ``symbol:{name}``).
    """

    name = "text"
    version = 1
    priority = 0

    def accepts(self, path: str) -> bool:
        return not path.lower().endswith(BINARY_DOCUMENTS)

    def extract(self, document: Document) -> Extraction:
        lines = document.text.splitlines()
        is_markdown = document.path.lower().endswith(MARKDOWN)
        sections = _markdown_sections(document.text, lines) if is_markdown else [_Section(0, "", 1, len(lines))]
        entries: list[Entry] = []
        rows: list[dict[str, Any]] = []
        for section in sections:
            body = lines[section.first_line - 1 : section.last_line]
            chunks = list(chunk_lines(body, section.first_line))
            ids = [_entry_id(document.path, section.slug, number) for number in range(1, len(chunks) + 1)]
            title = section.title or posixpath.basename(document.path)
            entries.extend(
                _entry(document.path, entry_id, title, chunk, is_markdown)
                for entry_id, chunk in zip(ids, chunks, strict=True)
            )
            names = [sorted(_code_names(chunk.text)) for chunk in chunks]
            if ids:
                rows.append(
                    {
                        "slug": section.slug,
                        "title": title,
                        "parent": section.parent,
                        "entries": ids,
                        "links": section.links,
                        "names": names,
                    }
                )
        definitions = [Definition(f"file:{document.path}", {"node": f"file:{document.path}"})]
        definitions += [
            Definition(f"heading:{document.path}#{row['slug']}", {"node": _section_node(document.path, row)})
            for row in rows
            if row["slug"]
        ]
        return Extraction(entries, definitions if entries else (), {"sections": rows})

    def link(self, document: str, extraction: Extraction, lookup: Lookup) -> Links:
        nodes: list[NodeFact] = []
        facts: list[Fact] = []
        file = f"file:{document}"
        node_of = {row["slug"]: _section_node(document, row) for row in extraction.data["sections"]}
        previous: tuple[str, str] | None = None
        for row in extraction.data["sections"]:
            section = node_of[row["slug"]]
            for number, entry in enumerate(row["entries"]):
                node = section if number == 0 else f"passage:{entry}"
                kind = "heading" if number == 0 and row["slug"] else "passage"
                nodes.append(NodeFact(file, "file", document, entry, props={"path": document}))
                nodes.append(NodeFact(node, kind, row["title"], entry, stands_for_entry=True))
                inside = (
                    section
                    if number
                    else node_of[row["parent"]]
                    if row["parent"] in node_of and row["parent"]
                    else file
                )
                facts.append(Fact(inside, "contains", node, entry))
                if previous is not None:
                    facts.append(Fact(previous[0], "next", node, previous[1]))
                previous = (node, entry)
                facts += [Fact(node, "uses", target, entry) for target in _used(row["names"][number], lookup)]
            first = row["entries"][0]
            facts += [Fact(section, "cites", target, first) for target in _cited(document, row["links"], lookup)]
        return Links(nodes, facts)


class EntryBuilder:
    """Entries added by hand: each is the node ``entry:{id}``, kind ``passage`` or ``report``, named by its title.

    ``meta["cites"]`` lists nodes it has a ``cites`` edge to.
    """

    name = "entry"
    version = 1
    priority = -1

    def accepts(self, path: str) -> bool:  # noqa: ARG002 - no file is an entry
        return False

    def extract(self, document: Document) -> Extraction:
        return Extraction([Entry(document.path, document.text)])

    def link(self, document: str, extraction: Extraction, lookup: Lookup) -> Links:  # noqa: ARG002 - the builder interface
        nodes: list[NodeFact] = []
        facts: list[Fact] = []
        for entry in extraction.entries:
            node, kind = f"entry:{entry.id}", "report" if entry.kind == "report" else "passage"
            nodes.append(NodeFact(node, kind, entry.title or entry.id, entry.id, stands_for_entry=True))
            facts += [Fact(node, "cites", target, entry.id) for target in entry.meta.get(CITES, ())]
        return Links(nodes, facts)


def _entry(path: str, entry_id: str, title: str, chunk: Chunk, is_markdown: bool) -> Entry:
    kind = "section" if is_markdown else "passage"
    return Entry(entry_id, chunk.text, title, kind, path, chunk.start_line, chunk.end_line)


def _entry_id(path: str, slug: str, number: int) -> str:
    return f"{path}#{slug}" + (f"~{number}" if number > 1 or not slug else "")


def _section_node(path: str, row: dict[str, Any]) -> str:
    return f"heading:{path}#{row['slug']}" if row["slug"] else f"passage:{row['entries'][0]}"


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _markdown_sections(text: str, lines: list[str]) -> list[_Section]:
    """Sections in order, with slugs as GitHub makes them, their parents, and their links."""
    tokens = _markdown().parse(text)
    sections = [_Section(0, "", 1)]
    slugs: dict[str, int] = {}
    open_headings: list[_Section] = []
    for token, inside in zip(tokens, [*tokens[1:], None], strict=False):
        if token.type == "heading_open" and token.level == 0 and token.map and inside is not None:
            sections[-1].last_line = token.map[0]
            level = int(token.tag[1])
            section = _Section(level, _plain(inside) or "untitled", token.map[0] + 1)
            section.slug = _slug(section.title, slugs)
            while open_headings and open_headings[-1].level >= level:
                open_headings.pop()
            section.parent = open_headings[-1].slug if open_headings else ""
            open_headings.append(section)
            sections.append(section)
        elif token.type == "inline":
            sections[-1].links += _links(token)
    sections[-1].last_line = len(lines)
    return sections


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline")).strip()


def _slug(title: str, taken: dict[str, int]) -> str:
    base = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") or "section"
    number = taken.get(base, 0)
    taken[base] = number + 1
    return base if number == 0 else f"{base}-{number}"


def _links(inline: Token) -> list[str]:
    return [str(child.attrs["href"]) for child in inline.children or () if child.type == "link_open"]


def _code_names(text: str) -> set[str]:
    found: set[str] = set()
    for match in _CODE_NAME.finditer(text):
        quoted, plain, called = match.groups()
        found.update(_WORD.findall(quoted) if quoted else [plain or called])
    return found


def _used(names: Sequence[str], lookup: Lookup) -> Iterator[str]:
    """Nodes that the names stand for; a name with many meanings says nothing and is left out."""
    for name in names:
        found = {str(data["node"]) for _, data in lookup(f"symbol:{name}")}
        if len(found) <= 3:
            yield from sorted(found)


def _cited(document: str, links: Sequence[str], lookup: Lookup) -> list[str]:
    targets: dict[str, None] = {}
    for link in links:
        try:
            parts = urlsplit(link)
        except ValueError:  # "http://[" is no address, so it is no file of ours either
            continue
        if parts.scheme or parts.netloc or not (parts.path or parts.fragment):
            continue
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document), unquote(parts.path)))
        path = path if parts.path else document
        found = lookup(f"heading:{path}#{unquote(parts.fragment)}") if parts.fragment else ()
        for _, data in found or lookup(f"file:{path}"):
            targets[str(data["node"])] = None
    return list(targets)
