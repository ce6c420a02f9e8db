"""The linkers a knowledge base has, over its names as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from graphport.config import LinkerName
from graphport.errors import UnsupportedError
from graphport.knowledge.embeddings import ChosenEmbedder
from graphport.knowledge.entities import Entity
from graphport.knowledge.vocabulary import Vocabulary
from graphport.retrieval.linking import LinkedEntity, Linker, link_query
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage

if TYPE_CHECKING:
    from graphport.knowledge.name_vectors import NameVectors
    from graphport.retrieval.fuzzy import FuzzyNames
    from graphport.retrieval.similar_names import SimilarNames

VECTOR_FILE = "name_vectors.sqlite3"

Graph = GraphSnapshot | GraphStorage
_Seen = tuple[int | None, Vocabulary]


class Linkers:
    """Linkers by name; the indexes some of them need are made on first use and take in what changed since."""

    def __init__(
        self,
        folder: Path | None,
        embedder: Callable[[], ChosenEmbedder | None],
        entities: Callable[[], Iterable[Entity]],
    ) -> None:
        self._file = None if folder is None else folder / VECTOR_FILE
        self._embedder = embedder
        self._entities = entities
        self._lock = threading.Lock()
        self._fuzzy: tuple[_Seen, FuzzyNames] | None = None
        self._similar: tuple[_Seen, SimilarNames] | None = None
        self._vectors: NameVectors | None = None

    def over(self, names: Sequence[LinkerName], graph: Graph, vocabulary: Vocabulary) -> list[Linker]:
        """The linkers of these names, in order. Raises `UnsupportedError` for "embedding" without an embedder."""
        made: dict[LinkerName, Callable[[Graph, Vocabulary], Linker]] = {
            "containment": _containment,
            "fuzzy": self._fuzzy_linker,
            "embedding": self._embedding_linker,
        }
        return [made[name](graph, vocabulary) for name in names]

    def forget_vectors(self) -> None:
        """Forget the names' vectors: another embedder is to make them."""
        self.close()
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def close(self) -> None:
        with self._lock:
            self._similar = None
            if self._vectors is not None:
                self._vectors.close()
                self._vectors = None

    def _fuzzy_linker(self, graph: Graph, vocabulary: Vocabulary) -> Linker:
        from graphport.knowledge.linkable import linkable_names
        from graphport.retrieval.fuzzy import FuzzyLinker, FuzzyNames

        with self._lock:
            known = FuzzyNames() if self._fuzzy is None else self._fuzzy[1]
            if self._fuzzy is None or _is_older(self._fuzzy[0], graph, vocabulary):
                known.replace(linkable_names(graph, self._entities()))
                self._fuzzy = (_seen(graph, vocabulary), known)
            return FuzzyLinker(known)

    def _embedding_linker(self, graph: Graph, vocabulary: Vocabulary) -> Linker:
        from graphport.knowledge.linkable import linkable_names
        from graphport.knowledge.name_vectors import NameVectors
        from graphport.retrieval.similar_names import EmbeddingLinker, SimilarNames

        embedder = self._embedder()
        if embedder is None:
            raise UnsupportedError("the embedding linker needs an embedder; pip install 'graphport[embed]' or pass one")
        with self._lock:
            if self._vectors is None:
                self._vectors = NameVectors(embedder, self._file)
            known = (
                self._similar[1]
                if self._similar
                else SimilarNames(partial(embedder.vectors, width=None), self._vectors)
            )
            if self._similar is None or _is_older(self._similar[0], graph, vocabulary):
                known.replace(linkable_names(graph, self._entities(), leading_on=True))
                self._similar = (_seen(graph, vocabulary), known)
            return EmbeddingLinker(known)


def _containment(graph: Graph, vocabulary: Vocabulary) -> Linker:
    def linked(query: str, found: Sequence[LinkedEntity], /) -> Sequence[LinkedEntity]:
        places = [(entity.start, entity.end) for entity in found]
        return [
            entity
            for entity in link_query(query, graph, vocabulary.matcher)
            if not any(start < entity.end and entity.start < end for start, end in places)
        ]

    return linked


def _seen(graph: Graph, vocabulary: Vocabulary) -> _Seen:
    return (graph.revision if isinstance(graph, GraphSnapshot) else graph.revision()), vocabulary


def _is_older(seen: _Seen, graph: Graph, vocabulary: Vocabulary) -> bool:
    """Whether names may have changed; a graph of the past has no revision, and is looked at each time."""
    revision, known = _seen(graph, vocabulary)
    return revision is None or revision != seen[0] or known is not seen[1]
