"""Chapter headings in plain text, where nothing but their form and a table of contents tells them.

A heading stands alone between blank lines. It is known by its form ("CHAPTER IV. Of Grace", "Kapitel 3",
"XII.", "7. The Council"), or because the table of contents lists it. The way that finds more wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphport.errors import InvalidIdError
from graphport.matching import fold

_DIVISION = (
    r"chapter|book|part|volume|letter|lecture|sermon|essay|canto|act|section|"
    r"kapitel|buch|teil|band|brief|predigt|chapitre|livre|partie|lettre|cap[ií]tulo|libro|parte|capitolo|lettera|"
    r"hoofdstuk|deel|boek|kapitola|rozdzia\u0142|\u0433\u043b\u0430\u0432\u0430|\u043a\u043d\u0438\u0433\u0430|caput|liber"
)
_NUMBER = r"[ivxlcdm]+|\d{1,3}|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
_WORDS = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty(?:[- ]\w+)?"
)
_NAMED = re.compile(rf"(?:{_DIVISION})\s+(?:{_NUMBER}|{_WORDS})\b(?P<rest>[.:,\u2013\u2014 -].*)?", re.IGNORECASE)
_SPECIAL = re.compile(
    r"(?:preface|foreword|introduction|prologue|epilogue|conclusion|afterword|appendix(?: \w{1,4})?|vorwort|einleitung|"
    r"nachwort|schluss|pr\u00e9face|avant-propos|pr\u00f3logo|introducci\u00f3n|prefazione|introduzione)\.?",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"(?P<number>[IVXLC]{1,7}|\d{1,3})\.?(?P<rest>\s+\S.{0,78})?")
_CONTENTS = re.compile(
    r"(?:table of )?contents\.?|inhalt(?:sverzeichnis)?|table des mati\u00e8res|\u00edndice|indice|inhoud|"
    r"\u0441\u043e\u0434\u0435\u0440\u0436\u0430\u043d\u0438\u0435",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"[\s.\u2026\u00b7_]*\s\s*(?:\d{1,4}|[ivxlc]{1,7})\s*$|[.\u2026\u00b7_]{3,}\s*\w*\s*$")
_PART = re.compile(r"(?:part|book|volume|teil|buch|band|partie|livre|parte|libro|deel|boek)\b", re.IGNORECASE)
_MOST_TITLE = 90
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; its text begins at ``line`` (from 0) and what it heads begins at ``body``."""

    title: str
    line: int
    body: int


def is_part(title: str) -> bool:
    """Whether a heading is that of a part, which chapters lie in ("Book II", "Teil 3")."""
    return _PART.match(title.strip()) is not None


def find_headings(lines: Sequence[str]) -> list[Heading]:
    """The chapter headings of a text, in order; [] if there are fewer than two, for then it has none."""
    contents = _contents(lines)
    start = contents[-1][0] + 1 if contents else 0
    listed = list(_listed(lines, [title for _, title in contents], start))
    formed = list(_formed(lines, start))
    found = listed if len(listed) >= max(_FEWEST, len(formed)) else formed
    return found if len(found) >= _FEWEST else []


def _stands_alone(lines: Sequence[str], row: int) -> bool:
    before = row == 0 or not lines[row - 1].strip()
    after = row + 1 == len(lines) or not lines[row + 1].strip()
    return before and after


def _formed(lines: Sequence[str], start: int) -> Iterator[Heading]:
    """Headings by their form. A bare numeral must be the next one of its kind."""
    expected = 1
    for row in range(start, len(lines)):
        line = lines[row].strip()
        if not line or len(line) > _MOST_TITLE or (row > 0 and lines[row - 1].strip()):
            continue
        alone = _stands_alone(lines, row)
        if _is_named(line, alone=alone) or (alone and _SPECIAL.fullmatch(line)):
            yield _with_title(lines, row, line)
        elif (match := _NUMERAL.fullmatch(line)) and alone and _value(match["number"]) == expected:
            expected += 1
            yield _with_title(lines, row, line)


def _is_named(line: str, *, alone: bool) -> bool:
    """Whether a line is "Chapter 3" or the like; a title on it must be set off, or the line stand alone."""
    match = _NAMED.fullmatch(line)
    return match is not None and (alone or not match["rest"] or match["rest"][0] in ".:,\u2013\u2014")


def _with_title(lines: Sequence[str], row: int, line: str) -> Heading:
    """The heading, joined with the title on the lines below if it is only a number itself."""
    match = _NAMED.fullmatch(line) or _NUMERAL.fullmatch(line)
    body = row + 1
    if match is None or (match["rest"] or "").strip(" .:,-\u2013\u2014"):
        return Heading(line, row, body)
    at = body
    while at < len(lines) and not lines[at].strip():
        at += 1
    end = at
    while end < len(lines) and lines[end].strip():
        end += 1
    title = " ".join(lines[i].strip() for i in range(at, end))
    if at - row <= 3 and 0 < end - at <= 2 and len(title) <= _MOST_TITLE and _is_title(title):
        return Heading(f"{line.rstrip('.:')}: {title}", row, end)
    return Heading(line, row, body)


def _is_title(text: str) -> bool:
    """Whether a short line is a title, neither a sentence nor the next heading."""
    if _NUMERAL.fullmatch(text) or _is_named(text, alone=True):
        return False
    return text[0].isupper() and (text[-1] not in ".,;" or text.isupper())


def _contents(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Rows and titles of the table of contents."""
    for row, line in enumerate(lines):
        if _CONTENTS.fullmatch(line.strip()) and _stands_alone(lines, row):
            return list(_entries(lines, row + 1))
    return []


def _entries(lines: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
    """Lines of the table, up to a gap of two blank lines or the first title that stands there again."""
    seen: set[str] = set()
    blank = 0
    for row in range(start, len(lines)):
        if len(lines[row]) > 3 * _MOST_TITLE:
            return
        title = _LEADERS.sub("", lines[row]).strip()
        if not title:
            blank += 1
            if blank > 1 and len(seen) >= _FEWEST:
                return
            continue
        key = _key(title)
        if key in seen or len(title) > _MOST_TITLE:
            return
        blank = 0
        if key:
            seen.add(key)
            yield row, title


def _listed(lines: Sequence[str], titles: Sequence[str], start: int) -> Iterator[Heading]:
    """Lines that repeat the titles of the table of contents, in its order."""
    wanted = [_key(title) for title in titles]
    at = 0
    for row in range(start, len(lines)):
        if at == len(wanted):
            return
        line = lines[row].strip()
        if not line or len(line) > _MOST_TITLE or (row > 0 and lines[row - 1].strip()):
            continue
        key = _key(line)
        if key and key in wanted[at:]:
            at = wanted.index(key, at) + 1
            yield Heading(line, row, row + 1)


def _key(title: str) -> str:
    try:
        return fold(title.rstrip(".:"))
    except InvalidIdError:  # a line of asterisks
        return ""


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}[letter] for letter in number]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
