"""The two search legs against brute force."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphport.errors import StorageCorruptError
from graphport.retrieval.dense import DenseIndex
from graphport.retrieval.lexical import LexicalIndex

WORDS = ["graph", "walk", "rank", "seed", "edge", "node", "leg"]


def bm25(documents: dict[str, list[str]], query: list[str]) -> dict[str, float]:
    """BM25 as in Robertson and Zaragoza (2009) with Lucene's idf, k1 = 1.2, b = 0.75."""
    mean = sum(map(len, documents.values())) / len(documents)
    scores: dict[str, float] = {}
    for name, words in documents.items():
        counts = Counter(words)
        for term in set(query):
            df = sum(term in other for other in documents.values())
            if counts[term]:
                idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
                tf = counts[term]
                scores[name] = scores.get(name, 0) + idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / mean))
    return scores


@given(
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=30), min_size=2, max_size=8
    ),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True),
)
@settings(max_examples=40, deadline=None)
def test_lexical_scores_are_bm25(documents: dict[str, list[str]], query: list[str]) -> None:
    index = LexicalIndex()
    index.apply(1, [(name, " ".join(words)) for name, words in documents.items()], [])
    found = dict(index.search(" ".join(query), 10))
    # Field lengths up to 40 are exact in the index; beyond that they are rounded.
    assert found == pytest.approx(bm25(documents, query), rel=1e-4)


class TestLexical:
    def test_replaced_and_removed_texts_are_not_found(self) -> None:
        index = LexicalIndex()
        index.apply(1, [("a", "old words"), ("b", "kept words")], [])
        index.apply(2, [("a", "new")], ["b"])
        assert index.search("words", 5) == []
        assert [entry for entry, _ in index.search("new", 5)] == ["a"]

    def test_parts_of_identifiers_are_found(self) -> None:
        index = LexicalIndex()
        index.apply(1, [("a", "def parse_date(): ..."), ("b", "class HttpServer: ...")], [])
        assert [entry for entry, _ in index.search("date", 5)] == ["a"]
        assert [entry for entry, _ in index.search("server", 5)] == ["b"]
        assert [entry for entry, _ in index.search("parse_date", 5)] == ["a"]

    def test_a_question_of_stop_words_alone_still_finds(self) -> None:
        index = LexicalIndex()
        index.apply(1, [("a", "to be or not to be"), ("b", "something else")], [])
        assert [entry for entry, _ in index.search("to be or not to be", 5)] == ["a"]

    def test_accents_and_case_do_not_matter(self) -> None:
        index = LexicalIndex()
        index.apply(1, [("a", "Das Café")], [])
        assert [entry for entry, _ in index.search("CAFE", 5)] == ["a"]

    def test_ties_go_by_id_even_at_the_cut(self) -> None:
        index = LexicalIndex()
        index.apply(1, [(name, "same text") for name in "dbca"], [])
        assert [entry for entry, _ in index.search("same", 2)] == ["a", "b"]

    def test_containing_is_a_superset_of_exact_containment(self) -> None:
        index = LexicalIndex()
        index.apply(1, [("a", "the Council of Trent met"), ("b", "Trent and its council"), ("c", "Trent")], [])
        assert set(index.containing("Council of Trent")) == {"a"}
        assert set(index.containing("Trent")) == {"a", "b", "c"}

    def test_it_is_on_disk_with_its_revision(self, tmp_path: Path) -> None:
        LexicalIndex(tmp_path).apply(7, [("a", "text")], [])
        again = LexicalIndex(tmp_path)
        assert (again.revision, again.count) == (7, 1)

    def test_another_reader_sees_each_revision_at_once(self, tmp_path: Path) -> None:
        writer = LexicalIndex(tmp_path)
        writer.apply(1, [("a", "text")], [])
        reader = LexicalIndex(tmp_path)
        for revision in (2, 3, 4):
            assert reader.revision == revision - 1
            writer.keep(revision)
            assert reader.revision == revision
        (tmp_path / "graphport.json").unlink()
        assert reader.revision == 0

    def test_another_reader_sees_a_commit_after_refresh(self, tmp_path: Path) -> None:
        reader = LexicalIndex(tmp_path)
        LexicalIndex(tmp_path).apply(1, [("a", "text")], [])
        reader.refresh()
        assert [entry for entry, _ in reader.search("text", 1)] == ["a"]

    def test_a_damaged_index_is_a_typed_error(self, tmp_path: Path) -> None:
        LexicalIndex(tmp_path).apply(1, [("a", "text")], [])
        (tmp_path / "meta.json").write_text("{")
        with pytest.raises(StorageCorruptError, match="cannot be opened"):
            LexicalIndex(tmp_path)


class TestDense:
    @given(
        hnp.arrays(np.float32, (20, 4), elements=st.floats(-1, 1, width=16)),
        hnp.arrays(np.float32, 4, elements=st.floats(-1, 1, width=16)),
        st.sets(st.integers(0, 19)),
    )
    @settings(max_examples=50, deadline=None)
    def test_search_is_brute_force_cosine_after_any_removal(
        self, vectors: np.ndarray, query: np.ndarray, removed: set[int]
    ) -> None:
        index = DenseIndex(4)
        index.put([f"e{row:02}" for row in range(20)], vectors)
        index.remove([f"e{row:02}" for row in removed])
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
        cosine = np.divide(vectors @ query, lengths, out=np.zeros(20, np.float32), where=lengths > 0)
        found = index.search(query, 5)
        left = sorted((-round(float(cosine[row]), 5), f"e{row:02}") for row in range(20) if row not in removed)[:5]
        assert [round(score, 4) for _, score in found] == pytest.approx([-score for score, _ in left], abs=2e-4)

    def test_replacing_a_vector_replaces_it(self) -> None:
        index = DenseIndex(2)
        index.put(["a", "b"], np.array([[1, 0], [0, 1]], dtype=np.float32))
        index.put(["a"], np.array([[0, 2]], dtype=np.float32))
        assert index.search(np.array([0, 1], dtype=np.float32), 2) == [("a", 1.0), ("b", 1.0)]
        assert len(index) == 2
