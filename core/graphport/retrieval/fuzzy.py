"""Linking names that a query spells a little otherwise: a letter wrong, missing, doubled or swapped, accents.

Which of many names are near is asked of a Levenshtein automaton over their sorted keys (tantivy: 0.2 ms for
two edits among 100,000 names, where comparing with each takes 50); how near, of rapidfuzz.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import tantivy

from graphport.errors import BackendUnavailableError, InvalidIdError
from graphport.matching import form_tokens
from graphport.retrieval.linking import LinkedEntity, share_of
from graphport.retrieval.names import proper_names
from graphport.retrieval.open_spans import open_spans

FUZZY = "fuzzy"
CUTOFF = 0.8
"""Least similarity, 1 - edits / letters: one edit from five letters on, two from ten."""
MAX_EDITS = 2
MAX_EQUAL = 3
"""Of more names than these that are equally near, none is meant more than another: the first by id are taken."""
_SHORT = 4
_REACH = 1000
_LONGEST = 200
_WRITER_HEAP = 30_000_000


class Near(NamedTuple):
    """A name, the node it leads to, and its similarity in [`CUTOFF`, 1]."""

    node: str
    name: str
    score: float


class FuzzyNames:
    """Names ``(node, name)`` by their spelling; an index in memory, which takes in what changed.

    Raises `BackendUnavailableError` without rapidfuzz.
    """

    def __init__(self) -> None:
        self._edits = _edit_distance()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("key", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("what", stored=True, tokenizer_name="raw", index_option="basic")
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema)
        self._names: frozenset[tuple[str, str]] = frozenset()
        self._lock = threading.Lock()

    def replace(self, names: Iterable[tuple[str, str]]) -> None:
        """Hold these ``(node, name)`` and no others; costs what differs from before."""
        wanted = frozenset(names)
        with self._lock:
            if wanted == self._names:
                return
            writer = self._index.writer(_WRITER_HEAP, 1)
            for pair in sorted(self._names - wanted):
                writer.delete_documents_by_term("what", "\0".join(pair))
            for pair in sorted(wanted - self._names):
                key = bare(pair[1])
                if 0 < len(key) <= _LONGEST:
                    writer.add_document(tantivy.Document(key=key, what="\0".join(pair)))
            writer.commit()
            writer.wait_merging_threads()
            self._index.reload()
            self._names = wanted

    def near(self, written: str) -> list[Near]:
        """The names most like ``written``, all equally near, by node, then name; [] if none is like it."""
        key = bare(written)
        edits = _most_edits(len(key))
        if not 0 < len(key) <= _LONGEST:
            return []
        if edits:
            query = tantivy.Query.fuzzy_term_query(self._schema, "key", key, distance=edits)
        else:
            query = tantivy.Query.term_query(self._schema, "key", key, "basic")
        searcher = self._index.searcher()
        found = searcher.search(query, _REACH, count=False).hits
        pairs = (str(searcher.doc(address)["what"][0]).split("\0") for _, address in found)
        near = [Near(node, name, self._similarity(key, bare(name))) for node, name in pairs]
        best = max((one.score for one in near), default=0.0)
        return sorted(one for one in near if one.score == best) if best >= CUTOFF else []

    def _similarity(self, left: str, right: str) -> float:
        if left == right:
            return 1.0
        if _means_another(left.split(), right.split()):
            return 0.0
        return 1 - self._edits(left, right) / max(len(left), len(right))


class FuzzyLinker:
    """Links what is nearly a name, in the parts of a query that no earlier linker linked.

    The longest parts first; what is linked does not overlap. Names that are equally near share the weight.
    """

    def __init__(self, names: FuzzyNames) -> None:
        self._names = names

    def __call__(self, query: str, found: Sequence[LinkedEntity], /) -> list[LinkedEntity]:
        """As `graphport.retrieval.linking.Linker`."""
        linked: list[LinkedEntity] = []
        whole = proper_names(query)
        for span in open_spans(query, found):
            if any(span.start < other.end and other.start < span.end for other in linked):
                continue
            written = query[span.start : span.end]
            best = {one.node: one.score for one in self._names.near(written)[:MAX_EQUAL]}
            share = share_of(query, span.start, span.end, whole) / max(1, len(best))
            linked += [
                LinkedEntity(node, span.start, span.end, share, FUZZY, score) for node, score in sorted(best.items())
            ]
        return sorted(linked, key=lambda entity: (entity.start, entity.node))


def bare(name: str) -> str:
    """A name's key: its words, folded, without accents and punctuation; "" for one without letters or digits."""
    try:
        tokens = form_tokens(name)
    except InvalidIdError:
        return ""
    plain = ("".join(char for char in token if not unicodedata.combining(char)) for token in tokens)
    return " ".join(token for token in plain if token[:1].isalnum())


def _most_edits(letters: int) -> int:
    """Edits that a name may be away from a key of so many letters; each may make it a letter longer."""
    return max(edits for edits in range(MAX_EDITS + 1) if edits <= (1 - CUTOFF) * (letters + edits) + 1e-9)


def _means_another(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether what differs between two names is a number or a short word ("1994", "1998"; "Henry IV", "Henry VI")."""
    if len(left) != len(right):
        return [*filter(str.isdigit, "".join(left))] != [*filter(str.isdigit, "".join(right))]
    differing = [pair for pair in zip(left, right, strict=True) if pair[0] != pair[1]]
    return any(min(map(len, pair)) < _SHORT or any(map(str.isdigit, "".join(pair))) for pair in differing)


def _edit_distance() -> Callable[[str, str], int]:
    """Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours count one each."""
    try:
        from rapidfuzz.distance import OSA
    except ImportError as error:
        raise BackendUnavailableError("the fuzzy linker needs rapidfuzz; pip install 'graphport[fuzzy]'") from error
    return OSA.distance
