"""Which graph a command is about: a store with its options, or a knowledge base by name."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import yaml

from graphport.cli.context import Cli
from graphport.errors import InvalidInputError
from graphport.registry import available_backends, open_storage
from graphport.storage import GraphStorage


@contextmanager
def opened_graph(cli: Cli, text: str) -> Generator[GraphStorage]:
    """The store that ``text`` names, as `opened`; a single word that is no backend is a knowledge base's name."""
    if len(text.split()) > 1 or text.strip() in available_backends():
        with opened(text) as graph:
            yield graph
    else:
        with cli.open(text) as kb:
            yield kb.storage


def opened(text: str) -> GraphStorage:
    """The storage that ``text`` names: a backend, then its options in YAML flow style."""
    name, _, rest = text.strip().partition(" ")
    try:
        options: Any = yaml.safe_load(rest) if rest.strip() else {}
    except yaml.YAMLError as error:
        raise InvalidInputError(f"options {rest!r} are not YAML; write for example: kuzu {{path: g.kuzu}}") from error
    if not isinstance(options, dict):
        raise InvalidInputError(f"options {rest!r} are no mapping; write for example: kuzu {{path: g.kuzu}}")
    return open_storage(name, **options)
