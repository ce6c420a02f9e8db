"""Linking names that a query calls otherwise: by the similarity of embeddings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from graphport.retrieval.dense import DenseIndex
from graphport.retrieval.linking import LinkedEntity, share_of
from graphport.retrieval.names import proper_names
from graphport.retrieval.open_spans import open_spans

EMBEDDING = "embedding"
CUTOFF = 0.8
"""Least cosine of two names that mean one thing (HippoRAG's threshold for synonyms)."""

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]
"""``(n texts) -> (n, d)``."""


class SimilarNames:
    """Names ``(node, name)`` by their vectors, (n, d) in memory; takes in what changed.

    ``kept`` embeds the names, once each if it remembers them; ``vectors`` the parts of queries.
    """

    def __init__(self, vectors: Vectors, kept: Vectors) -> None:
        self._vectors = vectors
        self._kept = kept
        self._names: frozenset[tuple[str, str]] = frozenset()
        self._index: DenseIndex | None = None

    def replace(self, names: Iterable[tuple[str, str]]) -> None:
        """Hold these ``(node, name)`` and no others; embeds what was not there before."""
        wanted = frozenset(names)
        new = sorted(wanted - self._names)
        if new:
            matrix = self._kept([name for _, name in new])
            if self._index is None:
                self._index = DenseIndex(matrix.shape[1])
            self._index.put(["\0".join(pair) for pair in new], matrix)
        if self._index is not None:
            self._index.remove("\0".join(pair) for pair in self._names - wanted)
        self._names = wanted

    def near(self, texts: Sequence[str]) -> list[tuple[str, float] | None]:
        """For each text the node of the name nearest to it, and its cosine if at least `CUTOFF`; else None."""
        if self._index is None or not texts:
            return [None] * len(texts)
        return [_above_cutoff(self._index.search(vector, 1)) for vector in self._vectors(texts)]


class EmbeddingLinker:
    """Links what means nearly a name: each proper name of a query that no earlier linker linked as a whole.

    In a query without capitals any run of words may be a name; the longest first, and none overlap.
    """

    def __init__(self, names: SimilarNames) -> None:
        self._names = names

    def __call__(self, query: str, found: Sequence[LinkedEntity], /) -> list[LinkedEntity]:
        """As `graphport.retrieval.linking.Linker`."""
        whole = proper_names(query)
        places = {(name.start, name.end) for name in whole}
        spans = [span for span in open_spans(query, found) if not places or (span.start, span.end) in places]
        linked: list[LinkedEntity] = []
        for span, near in zip(spans, self._names.near([query[one.start : one.end] for one in spans]), strict=True):
            is_free = not any(span.start < other.end and other.start < span.end for other in linked)
            if near is not None and is_free:
                share = share_of(query, span.start, span.end, whole)
                linked.append(LinkedEntity(near[0], span.start, span.end, share, EMBEDDING, near[1]))
        return sorted(linked, key=lambda entity: (entity.start, entity.node))


def _above_cutoff(found: Sequence[tuple[str, float]]) -> tuple[str, float] | None:
    for what, score in found:
        if score >= CUTOFF:
            return what.partition("\0")[0], min(1.0, score)
    return None
