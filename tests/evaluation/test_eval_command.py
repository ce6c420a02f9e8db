"""``graphport eval`` from files to figures, through a real knowledge base."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from graphport import Entry, open_knowledge_base
from graphport.cli.context import Cli
from graphport.errors import InvalidQueryError
from graphport.evaluation.command import evaluate_command
from graphport.evaluation.questions import Question
from graphport.evaluation.run import evaluate, summaries
from graphport.evaluation.vectors import KeptVectors
from graphport.knowledge.embeddings import ChosenEmbedder

CORPUS = [
    Entry("film", "It was directed by Jane Roe in one summer.", "Harbour Lights"),
    Entry("director", "She was born in Bergen and died in 1931.", "Jane Roe"),
    Entry("noise1", "Where directors of films were born is often unknown.", "Birthplaces"),
    Entry("noise2", "A director was born here, and another director there.", "Directors"),
    Entry("noise3", "The director of the harbour was born at sea.", "Harbours"),
]
QUESTION = Question("q", "Where was the director of Harbour Lights born?", frozenset({"film", "director"}), "2hop")


def letters(texts: Sequence[str], /) -> NDArray[np.float32]:
    return np.array([[text.lower().count(char) + 0.1 for char in "abcdefghi"] for text in texts], dtype=np.float32)


def test_each_mode_is_asked_as_it_is_named_and_the_walk_finds_the_second_hop() -> None:
    with open_knowledge_base(":memory:", embedder=letters) as kb:
        kb.add(CORPUS)
        results = evaluate(kb, [QUESTION], ["lexical", "hybrid", "walk"])
        asked: dict[str, dict[str, Any]] = {"lexical": {"mode": "lexical"}, "hybrid": {}, "walk": {"graph": True}}
        for mode, options in asked.items():
            assert results[mode].ranked == [[hit.entry for hit in kb.search(QUESTION.text, top_k=10, **options)]]
    assert set(results["walk"].ranked[0][:2]) == {"film", "director"}
    assert results["walk"].values["recall@2"].tolist() == [1.0]
    told = summaries(results)
    assert told["walk"]["recall@5"] == 1.0
    assert told["hybrid"]["by_type"] == {"2hop": {"questions": 1, "recall@5": 1.0}}
    assert told["walk"]["by_type"]["2hop"]["against_hybrid"] == told["walk"]["against_hybrid"]
    assert told["walk"]["against_hybrid"]["losses"] == 0
    assert "against_hybrid" not in told["hybrid"]
    assert told["lexical"]["ms_per_query"] > 0


def test_a_mode_that_does_not_exist_is_refused_before_anything_is_done() -> None:
    with open_knowledge_base(":memory:", embedder=None) as kb, pytest.raises(InvalidQueryError, match=r"'wlak'.*walk"):
        evaluate(kb, [QUESTION], ["wlak"])


class Counting:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        self.texts += texts
        return letters(texts)


def test_vectors_are_kept_by_text_and_embedder(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    kept = KeptVectors(ChosenEmbedder("letters/1", lambda: first), tmp_path / "new")
    expected = kept(["a", "b", "a"])
    kept.save()
    again = KeptVectors(ChosenEmbedder("letters/1", lambda: second), tmp_path / "new")
    assert np.array_equal(again(["a", "b", "a"]), expected)
    assert (first.texts, second.texts) == (["a", "b"], [])
    KeptVectors(ChosenEmbedder("letters/2", lambda: second), tmp_path / "new")(["a"])
    assert second.texts == ["a"]


def test_a_broken_cache_is_no_cache(tmp_path: Path) -> None:
    counting = Counting()
    for content in (b"", b"PK\x03\x04broken", b"no archive at all"):
        (tmp_path / "letters-1.npz").write_bytes(content)
        assert KeptVectors(ChosenEmbedder("letters/1", lambda: counting), tmp_path)(["a"]).shape == (1, 9)
    assert counting.texts == ["a", "a", "a"]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    corpus, queries, qrels = tmp_path / "corpus.jsonl", tmp_path / "queries.jsonl", tmp_path / "test.tsv"
    corpus.write_text(
        "".join(json.dumps({"_id": entry.id, "title": entry.title, "text": entry.text}) + "\n" for entry in CORPUS)
    )
    queries.write_text(json.dumps({"_id": "q", "text": QUESTION.text, "metadata": {"type": "2hop"}}) + "\n")
    qrels.write_text("query-id\tcorpus-id\tscore\nq\tfilm\t1\nq\tdirector\t1\n")
    return ["--corpus", str(corpus), "--queries", str(queries), "--qrels", str(qrels), "--cache", str(tmp_path / "c")]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(evaluate_command, arguments, obj=Cli(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_has_every_mode_with_its_measures(files: list[str]) -> None:
    told = json.loads(run(*files, "--modes", "hybrid,walk", "--embedder", "wordllama", "--json"))
    assert list(told) == ["hybrid", "walk"]
    assert told["walk"]["recall@5"] == 1.0
    assert {"recall@2", "recall@5", "recall@10", "ndcg@10", "mrr", "ms_per_query"} <= told["walk"].keys()


def test_the_table_shows_all_modes_and_types(files: list[str]) -> None:
    shown = run(*files, "--embedder", "wordllama")
    assert all(mode in shown for mode in ("lexical", "dense", "hybrid", "rerank", "leg", "walk"))
    assert "2hop (1)" in shown
    assert "1 questions, 5 entries" in shown


def test_without_an_embedder_the_dense_mode_is_left_out_of_all_modes(files: list[str]) -> None:
    told = json.loads(run(*files, "--embedder", "none", "--json"))
    assert list(told) == ["lexical", "hybrid", "rerank", "leg", "walk"]
