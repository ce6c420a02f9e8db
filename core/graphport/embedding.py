"""Text embedders: any callable from texts to a matrix, and how a plugin declares one by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphport.errors import InvalidVectorError

Embedder = Callable[[Sequence[str]], NDArray[np.float32]]
"""``(n texts) -> (n, d) float32``, one row a text, every row of the same width and finite."""


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """An embedder as its plugin declares it, before any model is loaded.

    ``load`` returns the embedder; ``missing`` returns what keeps it from working here, None if nothing
    does. The usable one with the highest ``priority`` is the default. ``name`` and ``version`` are
    stored beside the vectors: another one re-embeds.
    """

    name: str
    load: Callable[[], Embedder]
    version: str = "1"
    priority: int = 0
    install_hint: str = ""
    missing: Callable[[], str | None] = lambda: None


def embed(embedder: Embedder, texts: Sequence[str], *, width: int | None = None) -> NDArray[np.float32]:
    """The (n, d) vectors of n texts, checked; ``width`` is the d that is expected, None takes any.

    Raises `InvalidVectorError` for a wrong shape, NaN or infinite numbers.
    """
    answer: Any = embedder(list(texts))
    try:
        vectors = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidVectorError(
            f"the embedder returned {type(answer).__name__}; expected ({len(texts)}, d) floats"
        ) from error
    return check_vectors(vectors, len(texts), width)


def check_vectors(vectors: NDArray[np.float32], n: int, width: int | None) -> NDArray[np.float32]:
    """``vectors`` if they are (n, width) and finite; else `InvalidVectorError`."""
    if vectors.ndim != 2 or vectors.shape[0] != n or vectors.shape[1] == 0:
        raise InvalidVectorError(f"the embedder returned shape {vectors.shape}; expected ({n}, d): one row a text")
    if width is not None and vectors.shape[1] != width:
        raise InvalidVectorError(
            f"vectors are {vectors.shape[1]} wide, but this knowledge base holds {width}; "
            "use the embedder it was built with, or index it again with reembed"
        )
    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        raise InvalidVectorError(f"vector {int(bad.argmax())} of {n} holds NaN or infinity; the embedder must not")
    return vectors
