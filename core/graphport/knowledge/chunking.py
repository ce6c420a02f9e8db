"""Cutting text into chunks of a size that retrieves well, at the best places there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

CHUNK_CHARS = 1500
"""Aimed at: some 250 words, what small embedders read whole (256 to 512 tokens)."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines of a text; ``start_line`` and ``end_line`` count from 1."""

    text: str
    start_line: int
    end_line: int


def chunk_lines(lines: list[str], first_line: int = 1, size: int = CHUNK_CHARS) -> Iterator[Chunk]:
    """Chunks of at most about ``size`` characters, cut at blank lines where possible, else between lines.

    A single line longer than twice ``size`` is cut between words. Blank lines at either end are left
    out; nothing else is lost.
    """
    start, length = 0, 0
    last_blank = -1
    for row, line in enumerate(lines):
        if not line.strip():
            last_blank = row
        if length and length + len(line) > size:
            cut = last_blank if last_blank > start else row
            yield from _chunk(lines, start, cut, first_line, size)
            start = cut
            length = sum(len(kept) + 1 for kept in lines[start:row])
        length += len(line) + 1
    yield from _chunk(lines, start, len(lines), first_line, size)


def _chunk(lines: list[str], start: int, end: int, first_line: int, size: int) -> Iterator[Chunk]:
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start == end:
        return
    text = "\n".join(lines[start:end])
    if end - start > 1 or len(text) <= 2 * size:
        yield Chunk(text, first_line + start, first_line + end - 1)
        return
    for piece in _cut_line(text, size):
        yield Chunk(piece, first_line + start, first_line + start)


def _cut_line(text: str, size: int) -> Iterator[str]:
    while len(text) > size:
        cut = text.rfind(" ", size // 2, size)
        cut = size if cut < 0 else cut
        yield text[:cut]
        text = text[cut:].lstrip()
    if text:
        yield text
