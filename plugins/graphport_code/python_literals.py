"""Python's literals as expressions: those that may be a key, a name or a path, and others of no interest."""

from __future__ import annotations

from graphport_code.ir import OPAQUE, Expr, make

MAX_KEY = 40
"""A longer string is no key of a table of functions."""
MAX_PATH = 100
"""A longer string is no path to something that is imported by it."""


def constant(value: object) -> Expr:
    """A literal as a possible key, or as something of no interest."""
    if value is None or isinstance(value, bool):
        return make("k", value)
    if isinstance(value, int) and abs(value) < 2**31:
        return make("k", value)
    if isinstance(value, str) and (len(value) <= MAX_KEY or _is_path(value)):
        return make("k", value)
    return OPAQUE


def _is_path(text: str) -> bool:
    """Whether a string may say where something is: ``package.module:name``."""
    return len(text) <= MAX_PATH and all(part.isidentifier() for part in text.replace(":", ".").split("."))


def beginning(text: str) -> Expr:
    """A string of which the beginning is known, if that could be the beginning of a name."""
    return make("pre", text) if text.isidentifier() and len(text) <= MAX_KEY else OPAQUE
