"""What every command needs: the config, a knowledge base by name, a console, progress."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from graphport.config import Config, load_config

if TYPE_CHECKING:  # a command that needs neither pays for neither: scipy, igraph and tantivy take half a second
    from graphport.knowledge.base import KnowledgeBase
    from graphport.knowledge.indexing import Progress as Report

STAGES = {"read": "reading", "embed": "embedding", "link": "linking", "mentions": "finding names"}


class Cli:
    """One invocation: ``config`` and ``home`` as given before the command."""

    def __init__(self, config: Path | None = None, home: Path | None = None) -> None:
        self._config = config
        self._home = home
        self.console = Console(highlight=False, soft_wrap=True)
        self.errors = Console(stderr=True, highlight=False)

    @cached_property
    def config(self) -> Config:
        config = load_config(self._config)
        return config if self._home is None else config.model_copy(update={"data_dir": self._home})

    def open(self, name: str, *, create: bool = False, embedder: str | None = None) -> KnowledgeBase:
        """The knowledge base of that name; unless ``create``, it must exist."""
        from graphport.knowledge.opening import open_knowledge_base

        return open_knowledge_base(name, config=self.config, create=create, embedder=embedder or "auto")

    @contextmanager
    def progress(self) -> Generator[Report]:
        """A bar on stderr for each stage of long work; silent when stderr is no terminal."""
        if not self.errors.is_terminal:
            yield lambda stage, done, total: None  # noqa: ARG005 - quiet when piped
            return
        columns = (TextColumn("{task.description:14}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self.errors, transient=True) as bars:
            tasks: dict[str, Any] = {}

            def report(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = bars.add_task(STAGES.get(stage, stage), total=total)
                bars.update(tasks[stage], completed=done, total=total)

            yield report

    def print_json(self, value: Any) -> None:
        """``value`` as JSON on stdout, for programs."""
        click.echo(json.dumps(plain(value), ensure_ascii=False, indent=2))


pass_cli = click.make_pass_decorator(Cli, ensure=True)


def plain(value: Any) -> Any:
    """Dataclasses, paths, enums and mappings as JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType] - any mapping
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - any items
    if isinstance(value, Enum):
        return value.value
    return str(value) if isinstance(value, Path) else value
