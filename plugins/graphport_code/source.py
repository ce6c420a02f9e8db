"""The text of a source file: its lines as every parser counts them."""

from __future__ import annotations

import re
from functools import cached_property

MINIFIED_CHARS = 20_000
"""A file of at least this size whose lines are mostly longer than `MINIFIED_LINE` was written by a machine."""
MINIFIED_LINE = 500

_NEWLINE = re.compile(r"\r\n?")


class Source:
    """A file's text with one kind of newline, and nothing that some parser cannot take.

    Only CR LF, CR and LF end a line: `str.splitlines` also splits at form feeds and other characters
    that no compiler counts. NUL and lone surrogates become spaces and question marks.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        plain = _NEWLINE.sub("\n", text.removeprefix("\ufeff")).replace("\0", " ")
        self.data = plain.encode("utf-8", "replace")
        self.text = self.data.decode("utf-8")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their newline; a last empty line is none."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines

    @cached_property
    def is_minified(self) -> bool:
        """Whether most of the text stands in lines that nobody wrote by hand."""
        if len(self.text) < MINIFIED_CHARS:
            return False
        return sum(len(line) for line in self.lines if len(line) > MINIFIED_LINE) * 2 > len(self.text)
