"""The hooks a plugin may implement. Project name and entry-point group are ``graphport``.

A plugin is a module with functions marked ``@graphport.hookimpl``::

    [project.entry-points.graphport]
    mystore = "mystore.plugin"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from graphport.batch import BatchEngine
    from graphport.builders import Builder
    from graphport.embedding import EmbedderSpec
    from graphport.proposals import EntityProposer
    from graphport.storage import Backend

PROJECT = "graphport"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def graphport_backends() -> Sequence[Backend]:  # type: ignore[empty-body]
    """Graph stores this plugin brings. Import no driver here: `Backend.open` does."""


@hookspec
def graphport_builders() -> Sequence[Builder]:  # type: ignore[empty-body]
    """Graph builders: what turns a document into entries, nodes and facts."""


@hookspec
def graphport_embedders() -> Sequence[EmbedderSpec]:  # type: ignore[empty-body]
    """Text embedders that a config may name."""


@hookspec
def graphport_batch_engines() -> Sequence[BatchEngine]:  # type: ignore[empty-body]
    """Engines that rank a graph for many seed sets at once: ``graphport rank --engine NAME``."""


@hookspec
def graphport_proposers() -> Sequence[EntityProposer]:  # type: ignore[empty-body]
    """What may see entities in texts that the gazetteer lacks: a tagger, a language model."""


@hookspec
def graphport_commands() -> Sequence[click.Command]:  # type: ignore[empty-body]
    """Commands of ``graphport`` on the command line."""
