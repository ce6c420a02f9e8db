"""Vectors kept between evaluations, by text: what takes minutes is done once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from graphport.knowledge.embeddings import ChosenEmbedder


class KeptVectors:
    """An embedder that remembers what it embedded, in one file per embedder in ``folder``.

    `save` writes what is new. A file that cannot be read counts as none: it is only a cache.
    """

    def __init__(self, embedder: ChosenEmbedder, folder: Path) -> None:
        self._embedder = embedder
        self._file = folder / f"{re.sub(r'[^A-Za-z0-9.]+', '-', embedder.identity)}.npz"
        self._rows: dict[str, NDArray[np.float32]] = self._load()
        self._saved = len(self._rows)

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        keys = [_key(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._rows}
        vectors = self._embedder.vectors(list(new.values()), None)
        self._rows.update(zip(new, vectors, strict=True))
        return np.stack([self._rows[key] for key in keys]) if keys else vectors

    def save(self) -> None:
        """Write the vectors to the file if there are new ones."""
        if len(self._rows) == self._saved:
            return
        self._file.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._file.with_suffix(".new.npz")
        np.savez(fresh, keys=np.array(list(self._rows)), vectors=np.stack(list(self._rows.values())))
        fresh.replace(self._file)
        self._saved = len(self._rows)

    def _load(self) -> dict[str, NDArray[np.float32]]:
        try:
            with self._file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                return dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return {}


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
