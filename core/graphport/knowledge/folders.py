"""Where knowledge bases lie: a folder each, told by its truth. Light, so that listing them opens nothing."""

from __future__ import annotations

from graphport.config import Config

TRUTH_FILE = "truth.sqlite3"


def knowledge_bases(config: Config) -> list[str]:
    """Names of the knowledge bases there are in the config's ``data_dir``, sorted."""
    if not config.home.is_dir():
        return []
    return sorted(folder.name for folder in config.home.iterdir() if (folder / TRUTH_FILE).exists())
