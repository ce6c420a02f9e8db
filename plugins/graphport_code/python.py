"""Python files as units: read by Python's own parser, and around what it cannot parse."""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections import Counter

from graphport_code.python_definitions import ModuleReader
from graphport_code.source import Source
from graphport_code.unit import Unit

MAX_REPAIRS = 300
"""Places that are left out of a broken file before it is read by its surface only."""

_EMPTY_BLOCK = re.compile(r"expected an indented block after .* on line (\d+)")
_STRAY_INDENT = ("unexpected indent", "unindent does not match")


def read_python(source: Source, deadline: float) -> Unit | None:
    """A Python file as a unit; None if too little of it parses.

    What does not parse is left out line by line and named once in the unit's warnings. Raises
    TimeoutError after ``deadline``, a `time.monotonic` moment.
    """
    tree, broken = _parse_around_errors(source, deadline)
    if tree is None:
        return None
    unit = ModuleReader(source, deadline).read_module(tree)
    if broken:
        more = f" and {len(broken) - 1} more" if broken[1:] else ""
        unit.warnings.append(f"syntax error in line {min(broken)}{more}: left out")
    return unit


def _parse_around_errors(source: Source, deadline: float) -> tuple[ast.Module | None, list[int]]:
    lines = source.text.split("\n")
    seen: Counter[int] = Counter()
    for _ in range(MAX_REPAIRS):
        if time.monotonic() > deadline:
            raise TimeoutError
        try:
            return _parse("\n".join(lines)), list(seen)
        except SyntaxError as error:
            line = min(max(error.lineno or 1, 1), len(lines))
            seen[line] += 1
            if not _leave_out(lines, line, error.msg or "", seen[line]):
                return None, list(seen)
        except (ValueError, RecursionError, MemoryError):  # CPython's words for code that nests too deep
            return None, list(seen)
    return None, list(seen)


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _leave_out(lines: list[str], line: int, message: str, attempt: int) -> bool:
    """Blank what the parser stumbled over in 1-based ``line``, more with each attempt; False if nothing is left."""
    empty_block = _EMPTY_BLOCK.search(message)
    if empty_block:
        header = int(empty_block.group(1)) - 1
        if lines[header].rstrip().endswith(":"):
            lines[header] = lines[header].rstrip() + " pass"
            return True
        return _blank(lines, header)
    if message.startswith(_STRAY_INDENT) and lines[line - 1].strip():
        lines[line - 1] = ""
        return True
    row = line - 1
    if attempt > 1 or not lines[row].strip() or lines[row].strip() == "pass":
        row = _enclosing(lines, row)
    return _blank(lines, row)


def _enclosing(lines: list[str], row: int) -> int:
    """The nearest line above with a smaller indent, or simply with something in it."""
    indent = _indent(lines[row]) if lines[row].strip() else 10**6
    for above in range(row - 1, -1, -1):
        text = lines[above].strip()
        if text and text != "pass" and (_indent(lines[above]) < indent or not lines[row].strip()):
            return above
    return row


def _blank(lines: list[str], row: int) -> bool:
    """Put ``pass`` in the place of a line and drop what is indented below it; False if that changes nothing."""
    indent = _indent(lines[row])
    changed = lines[row].strip() not in ("", "pass")
    lines[row] = lines[row][:indent] + "pass"
    below = row + 1
    while below < len(lines) and (not lines[below].strip() or _indent(lines[below]) > indent):
        changed = changed or bool(lines[below].strip())
        lines[below] = ""
        below += 1
    return changed


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t\f"))
