"""wordllama: a static table of token vectors, averaged. Fast enough for tests and very large corpora."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import wordllama  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # none are published
from numpy.typing import NDArray

WIDTH = 256


class StaticVectors:
    """``(n texts) -> (n, 256) float32``, rows of norm 1, zeros for the empty text (which has no token)."""

    def __init__(self) -> None:
        # Without cache_dir, 0.4 looks for the tokenizer in ~/.cache although the package brings it.
        self._model = cast("Any", wordllama).WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, disable_download=True
        )

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        filled = [row for row, text in enumerate(texts) if text]
        if filled:
            vectors[filled] = self._model.embed([texts[row] for row in filled], norm=True)
        return vectors
