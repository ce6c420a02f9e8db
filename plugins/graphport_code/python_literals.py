"""Python's literals as expressions: those that may be a key, a name or a path, and others of no interest."""

from __future__ import annotations

from functools import lru_cache

from graphport_code.ir import OPAQUE, Expr, make

MAX_KEY = 40
"""A longer string is no key of a table of functions."""
MAX_PATH = 100
"""A longer string is no path to something that is imported by it."""


def constant(value: object) -> Expr:
    """A literal as a possible key, or as something of no interest."""
    if value is None or isinstance(value, bool):
        return _known(value)
    if isinstance(value, int) and abs(value) < 2**31:
        return _known(value)
    if isinstance(value, str) and (len(value) <= MAX_KEY or _is_path(value)):
        return _known(value)
    return OPAQUE


def _is_path(text: str) -> bool:
    """Whether a string may say where something is: ``package.module:name``."""
    return len(text) <= MAX_PATH and all(part.isidentifier() for part in text.replace(":", ".").split("."))


@lru_cache(maxsize=4096, typed=True)  # True is not 1; one expression for each literal, and not one for each use
def _known(value: str | int | bool | None) -> Expr:
    return make("k", value)


def beginning(text: str) -> Expr:
    """A string of which the beginning is known, if that could be the beginning of a name."""
    return make("pre", text) if text.isidentifier() and len(text) <= MAX_KEY else OPAQUE
