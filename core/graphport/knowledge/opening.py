"""Opening a knowledge base by its name, its folder, or in memory alone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from graphport.config import Config, load_config
from graphport.embedding import Embedder
from graphport.errors import KnowledgeBaseNotFoundError, StorageUnavailableError
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.folders import TRUTH_FILE, knowledge_bases

MEMORY = ":memory:"


def open_knowledge_base(
    name: str | Path,
    *,
    config: Config | str | Path | Mapping[str, Any] | None = None,
    embedder: str | Embedder | None = "auto",
    create: bool = True,
    clock: Callable[[], float] = time.time,
) -> KnowledgeBase:
    """Open a knowledge base by name (in the config's ``data_dir``), by folder, or ``":memory:"``.

    A `Path`, or a name with a ``/``, is a folder. ``embedder`` overrides the config: a name, a callable
    from texts to an (n, d) matrix, None for none. ``create`` False raises `KnowledgeBaseNotFoundError`
    for one that does not exist. ``clock`` gives the seconds since the epoch that expiry is judged by.
    """
    settings = config if isinstance(config, Config) else load_config(config)
    is_folder = isinstance(name, Path) or "/" in name
    folder = None if name == MEMORY else Path(name) if is_folder else settings.home / str(name)
    label = "memory" if folder is None else folder.name
    base = settings.knowledge_base(_config_name(label))
    if folder is not None and not (folder / TRUTH_FILE).exists():
        if not create:
            there = ", ".join(knowledge_bases(settings)) or "none yet"
            raise KnowledgeBaseNotFoundError(
                f"no knowledge base {str(name)!r} in {folder.parent}; there are: {there}. "
                f"Make it with: graphport index PATH --db {name}"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageUnavailableError(f"folder {folder} cannot be made ({error}); check the path") from error
    wanted = base.embedder if embedder == "auto" and base.embedder is not None else embedder
    return KnowledgeBase(base, folder, embedder=wanted, clock=clock)


def _config_name(label: str) -> str:
    cleaned = re.sub(r"[^A-Za-z0-9_.-]", "-", label).strip(".-_")
    return cleaned or "default"
