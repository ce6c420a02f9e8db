"""Vectors of names, kept on disk by content: a name is embedded once."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphport.errors import StorageCorruptError
from graphport.knowledge.embeddings import ChosenEmbedder
from graphport.knowledge.truth import BUSY_SECONDS, sqlite_errors

log = logging.getLogger("graphport")

_AT_ONCE = 500


class NameVectors:
    """``texts -> (n, d)`` by an embedder, each text computed once; ``file`` None keeps nothing on disk.

    The file is derived: one that is missing or damaged is begun anew.
    """

    def __init__(self, embedder: ChosenEmbedder, file: Path | None) -> None:
        self._embedder = embedder
        self._file = file
        self._lock = threading.Lock()
        try:
            self._db = _opened(file)
        except StorageCorruptError:
            if file is None:
                raise
            log.warning("%s cannot be read; the names are embedded again", file)
            file.unlink()
            self._db = _opened(file)

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        with self._lock, sqlite_errors(self._file):
            return np.concatenate([self._some(texts[at : at + _AT_ONCE]) for at in range(0, len(texts), _AT_ONCE)])

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _some(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [self._key(text) for text in texts]
        places = ", ".join("?" * len(keys))
        rows = self._db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({places})", keys)  # noqa: S608 - marks
        known = {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            width = next((len(vector) for vector in known.values()), None)
            made = dict(zip(new, self._embedder.vectors(list(new.values()), width), strict=True))
            stored = [(key, vector.astype("<f4").tobytes()) for key, vector in made.items()]
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", stored)
            known |= made
        return np.stack([known[key] for key in keys])

    def _key(self, text: str) -> bytes:
        identity = f"{self._embedder.identity}\0{text}"
        return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _opened(file: Path | None) -> sqlite3.Connection:
    with sqlite_errors(file):
        db = sqlite3.connect(file or ":memory:", check_same_thread=False, timeout=BUSY_SECONDS)
        try:
            db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        except BaseException:
            db.close()
            raise
        return db
