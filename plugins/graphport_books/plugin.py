"""The book tier as graphport finds it; no parser is imported here."""

from __future__ import annotations

from collections.abc import Sequence

from graphport.builders import Builder
from graphport.hookspecs import hookimpl
from graphport_books.builder import BookBuilder


@hookimpl
def graphport_builders() -> Sequence[Builder]:
    return [BookBuilder()]
