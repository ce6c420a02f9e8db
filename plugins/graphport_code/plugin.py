"""The code tier as graphport finds it; no parser is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphport.builders import Builder
from graphport.hookspecs import hookimpl
from graphport_code.builder import CodeBuilder

if TYPE_CHECKING:
    import click


@hookimpl
def graphport_builders() -> Sequence[Builder]:
    return [CodeBuilder()]


@hookimpl
def graphport_commands() -> Sequence[click.Command]:
    from graphport_code.commands import code

    return [code]
