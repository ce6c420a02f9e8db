"""Which embedder a knowledge base uses, and that it stays the one its vectors came from."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphport.embedding import Embedder, EmbedderSpec, check_vectors, embed
from graphport.errors import BackendUnavailableError, ConfigError
from graphport.registry import plugins

log = logging.getLogger("graphport")

CALLABLE = "callable"
_BATCH = 256


@dataclass(slots=True)
class ChosenEmbedder:
    """An embedder by name, loaded on first use; ``identity`` is stored beside the vectors."""

    identity: str
    load: Callable[[], Embedder]
    _loaded: Embedder | None = None

    def vectors(
        self, texts: Sequence[str], width: int | None, progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """The (n, d) vectors of the texts, in batches; raises `InvalidVectorError` as `embed` does."""
        if self._loaded is None:
            self._loaded = self.load()
        parts: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _BATCH):
            part = embed(self._loaded, texts[start : start + _BATCH], width=width)
            width = part.shape[1]
            parts.append(part)
            if progress is not None:
                progress(min(start + _BATCH, len(texts)), len(texts))
        return np.concatenate(parts) if parts else np.zeros((0, width or 1), dtype=np.float32)

    def query(self, text: str, width: int) -> NDArray[np.float32]:
        """The (d,) vector of one query."""
        vector: NDArray[np.float32] = check_vectors(self.vectors([text], width), 1, width)[0]
        return vector


def choose_embedder(wanted: str | Embedder | None, stored: str | None = None) -> ChosenEmbedder | None:
    """The embedder a config or caller asks for: a name, ``"auto"``, ``"none"``, a callable, or None.

    ``stored`` is the identity of what made the vectors there are. "auto" is that one, and for a new
    knowledge base the usable one with the highest priority; None where there is none. Raises
    `ConfigError` for an unknown name or one that is not ``stored``, and `BackendUnavailableError`, with
    the install command, for one that cannot be used here.
    """
    if wanted is None or wanted == "none":
        return None
    if not isinstance(wanted, str):
        return _same(ChosenEmbedder(CALLABLE, lambda: wanted), stored)
    specs = plugins().embedders()
    if wanted == "auto":
        return _automatic(list(specs.values()), stored)
    if wanted not in specs:
        known = ", ".join([*specs, "auto", "none"])
        raise ConfigError(f"no embedder {wanted!r}; there are {known}", problem="unknown-embedder", key="embedder")
    reason = specs[wanted].missing()
    if reason is not None:
        hint = f"; {specs[wanted].install_hint}" if specs[wanted].install_hint else ""
        raise BackendUnavailableError(f"embedder {wanted!r} cannot be used here: {reason}{hint}")
    return _same(_chosen(specs[wanted]), stored)


def _automatic(specs: Sequence[EmbedderSpec], stored: str | None) -> ChosenEmbedder | None:
    usable = [spec for spec in specs if spec.missing() is None]
    if stored is None:
        best = max(usable, key=lambda spec: (spec.priority, spec.name), default=None)
        return None if best is None else _chosen(best)
    for spec in usable:
        if _chosen(spec).identity == stored:
            return _chosen(spec)
    log.warning("the vectors were made by %s, which is not at hand: search is lexical only", stored)
    return None


def _same(chosen: ChosenEmbedder, stored: str | None) -> ChosenEmbedder:
    if stored is not None and chosen.identity != stored:
        raise ConfigError(
            f"the vectors were made by {stored}, and {chosen.identity} is asked for; ask for the former, "
            "or embed everything again: graphport reembed NAME --embedder NAME",
            problem="embedder-changed",
            key="embedder",
        )
    return chosen


def _chosen(spec: EmbedderSpec) -> ChosenEmbedder:
    return ChosenEmbedder(f"{spec.name}/{spec.version}", spec.load)
