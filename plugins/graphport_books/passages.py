"""Cutting a chapter into passages: paragraphs together, up to a size that retrieves well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from graphport_books.book import Paragraph

LEAST_CHARS, MOST_CHARS = 800, 1500

_SENTENCE_END = re.compile(r"(?<=[.!?\u2026])[\"'\u2019\u201d\u00bb)\]]*\s+|(?<=[\u3002\uff01\uff1f])(?!$)")
_BREAK = "\n\n"


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive text of one chapter, with the lines it covers and the page it begins on."""

    text: str
    first_line: int
    last_line: int
    page: int


@dataclass(slots=True)
class _Open:
    """The passage being filled."""

    text: str = ""
    parts: list[Paragraph] = field(default_factory=list[Paragraph])

    def fits(self, text: str) -> bool:
        return not self.text or len(self.text) + len(_BREAK) + len(text) <= MOST_CHARS

    def add(self, text: str, source: Paragraph, joint: str = _BREAK) -> None:
        self.text = f"{self.text}{joint}{text}" if self.text else text
        self.parts.append(source)

    def close(self) -> Passage:
        passage = Passage(self.text, self.parts[0].first_line, self.parts[-1].last_line, self.parts[0].page)
        self.text, self.parts = "", []
        return passage


def passages_of(paragraphs: Iterable[Paragraph]) -> Iterator[Passage]:
    """The passages of a chapter, in order, of `MOST_CHARS` at most; nothing but white space is lost.

    A paragraph is cut, between sentences, only where the passage before it would be shorter than
    `LEAST_CHARS`, or the paragraph is too long for one.
    """
    passage = _Open()
    for paragraph in paragraphs:
        if not passage.fits(paragraph.text) and len(passage.text) >= LEAST_CHARS and len(paragraph.text) <= MOST_CHARS:
            yield passage.close()
        if passage.fits(paragraph.text) and len(paragraph.text) <= MOST_CHARS:
            passage.add(paragraph.text, paragraph)
            continue
        joint = _BREAK
        for sentence in _sentences(paragraph.text):
            if not passage.fits(sentence):
                yield passage.close()
            passage.add(sentence, paragraph, joint)
            joint = " "
    if passage.text:
        yield passage.close()


def _sentences(text: str) -> Iterator[str]:
    """Sentences with their closing quotes; one that is longer than a passage is cut between words."""
    start = 0
    for end in [*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]:
        rest = text[start:end].strip()
        start = end
        while len(rest) > MOST_CHARS:
            cut = rest.rfind(" ", LEAST_CHARS, MOST_CHARS)
            cut = MOST_CHARS if cut < 0 else cut
            yield rest[:cut].rstrip()
            rest = rest[cut:].lstrip()
        if rest:
            yield rest
