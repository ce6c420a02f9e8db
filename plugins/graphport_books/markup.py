"""XML and HTML by lxml: no entities are expanded and nothing is fetched."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TypeAlias, cast

from lxml import etree

from graphport_books.book import UnreadableBookError

Element: TypeAlias = etree._Element  # pyright: ignore[reportPrivateUsage] - its only name
_EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_XML_ENTITIES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_DECLARATION = re.compile(r"^\s*<\?xml[^>]*>?")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?\s*>", re.IGNORECASE)


def parse_xml(data: bytes) -> Element:
    """The root of an XML file, whose errors are passed over. Raises `UnreadableBookError` without any markup."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, recover=True)
    return _parsed(data, parser)


def parse_html(data: bytes) -> Element:
    """The root of an XHTML or HTML file. Raises `UnreadableBookError` without any markup."""
    text = data.decode("utf-16", errors="replace") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else _decode(data)
    text = _DOCTYPE.sub("", _DECLARATION.sub("", text), count=1)
    strict = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(_ENTITY.sub(_character, text), strict)
    except etree.XMLSyntaxError:
        return _parsed(text, etree.HTMLParser(remove_comments=True, no_network=True))  # as browsers read it


def _parsed(source: bytes | str, parser: etree.XMLParser | etree.HTMLParser) -> Element:
    try:
        root = cast("Element | None", etree.fromstring(source, parser))  # None where recovery finds nothing
    except etree.LxmlError as error:
        raise UnreadableBookError(f"there is no markup in it ({error})") from error
    if root is None:
        raise UnreadableBookError("there is no markup in it")
    return root


def tag_of(element: Element) -> str:
    """The element's name without its namespace; "" for what is no element."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def types_of(element: Element) -> list[str]:
    """The element's ``epub:type``."""
    return (element.get(_EPUB_TYPE) or "").split()


def text_of(element: Element) -> str:
    """All text in an element, on one line."""
    return " ".join("".join(element.itertext()).split())


def named(root: Element, name: str) -> Iterator[Element]:
    """The elements of a name (in lower case) below ``root``, in order."""
    return (element for element in root.iter() if tag_of(element) == name)


def first_text(root: Element, name: str) -> str:
    """Text of the first element of that name that has some, else ""."""
    return next((text for element in named(root, name) if (text := text_of(element))), "")


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("windows-1252", errors="replace")


def _character(match: re.Match[str]) -> str:
    """HTML's named characters, which XML does not know."""
    return match[0] if match[1] in _XML_ENTITIES else html.unescape(match[0])
