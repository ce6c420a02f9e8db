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
NONE = "none"
"""Stored, and asked for, where a knowledge base has no vectors on purpose."""
Sample = Callable[[], tuple[str, NDArray[np.float32]] | None]
"""A text that was embedded before, and the vector (d,) it has; None where there is none."""

_BATCH = 256
_SAME = 0.95
"""Cosine between two vectors that one model gave a text, on whatever machine."""


@dataclass(slots=True)
class ChosenEmbedder:
    """An embedder by name, loaded on first use; ``identity`` is stored beside the vectors.

    A callable has no name to tell it by, so the first use embeds ``sample`` again, and raises
    `ConfigError` if the vector is another one.
    """

    identity: str
    load: Callable[[], Embedder]
    sample: Sample | None = None
    _loaded: Embedder | None = None

    def vectors(
        self, texts: Sequence[str], width: int | None, progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        """The (n, d) vectors of the texts, in batches; raises `InvalidVectorError` as `embed` does."""
        if self._loaded is None:
            self._loaded = self._checked(self.load())
        parts: list[NDArray[np.float32]] = []
        for start in range(0, len(texts), _BATCH):
            part = embed(self._loaded, texts[start : start + _BATCH], width=width)
            width = part.shape[1]
            parts.append(part)
            if progress is not None:
                progress(min(start + _BATCH, len(texts)), len(texts))
        return np.concatenate(parts) if parts else np.zeros((0, width or 1), dtype=np.float32)

    def _checked(self, loaded: Embedder) -> Embedder:
        known = None if self.sample is None else self.sample()
        if known is not None:
            text, before = known
            now = embed(loaded, [text], width=len(before))[0]
            if float(now @ before) < _SAME * float(np.linalg.norm(now) * np.linalg.norm(before)):
                raise embedder_changed("another callable", "this one")
        return loaded

    def query(self, text: str, width: int) -> NDArray[np.float32]:
        """The (d,) vector of one query."""
        vector: NDArray[np.float32] = check_vectors(self.vectors([text], width), 1, width)[0]
        return vector


def choose_embedder(
    wanted: str | Embedder | None, stored: str | None = None, sample: Sample | None = None
) -> ChosenEmbedder | None:
    """The embedder a config or caller asks for: a name, ``"auto"``, ``"none"``, a callable, or None.

    ``stored`` is the identity of what made the vectors there are, or `NONE` where there are none on
    purpose. "auto" is that one, and for a new knowledge base the usable one with the highest priority;
    None where there is none. ``sample`` tells whether a callable is the one of before. Raises
    `ConfigError` for an unknown name or one that is not ``stored``, and `BackendUnavailableError`, with
    the install command, for one that cannot be used here.
    """
    if wanted is None or wanted == NONE:
        return None
    if not isinstance(wanted, str):
        return _same(ChosenEmbedder(CALLABLE, lambda: wanted, sample if stored == CALLABLE else None), stored)
    specs = plugins().embedders()
    if wanted == "auto":
        return None if stored == NONE else _automatic(list(specs.values()), stored)
    if wanted not in specs:
        known = ", ".join([*specs, "auto", NONE])
        raise ConfigError(f"no embedder {wanted!r}; there are {known}", problem="unknown-embedder", key="embedder")
    reason = specs[wanted].missing()
    if reason is not None:
        hint = f"; {specs[wanted].install_hint}" if specs[wanted].install_hint else ""
        raise BackendUnavailableError(f"embedder {wanted!r} cannot be used here: {reason}{hint}")
    return _same(_chosen(specs[wanted]), stored)


def embedder_changed(stored: str, asked: str) -> ConfigError:
    """Vectors of two models are never mixed: what was asked for is not what made those there are."""
    made = "this knowledge base was made without vectors" if stored == NONE else f"the vectors were made by {stored}"
    kept = "auto" if stored == NONE else "the former"
    return ConfigError(
        f"{made}, and {asked} is asked for; ask for {kept}, or embed everything again: graphport reembed NAME "
        "--embedder NAME (in Python: forget_vectors(), open it with the other one, embed_missing())",
        problem="embedder-changed",
        key="embedder",
    )


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
        raise embedder_changed(stored, chosen.identity)
    return chosen


def _chosen(spec: EmbedderSpec) -> ChosenEmbedder:
    return ChosenEmbedder(f"{spec.name}/{spec.version}", spec.load)
