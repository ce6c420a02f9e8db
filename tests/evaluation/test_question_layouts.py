"""Question sets in BEIR's and HippoRAG's layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphport.errors import InvalidInputError, SourceError
from graphport.evaluation.questions import Question, load_questions

CORPUS: list[dict[str, Any]] = [
    {"_id": "a", "title": "Geneva", "text": "A city.\u2028On a lake."},
    {"_id": "b", "text": "Untitled."},
]
QUERIES: list[dict[str, Any]] = [
    {"_id": "q1", "text": "Where?", "metadata": {"type": "bridge"}},
    {"_id": "q2", "text": "Who?"},
    {"_id": "unjudged", "text": "What?"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\ta\t2\nq2\tb\t1\n"


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def beir(folder: Path, corpus: str = lines(CORPUS), queries: str = lines(QUERIES), qrels: str = QRELS) -> list[Path]:
    files = [folder / "corpus.jsonl", folder / "queries.jsonl", folder / "test.tsv"]
    for file, text in zip(files, (corpus, queries, qrels), strict=True):
        file.write_text(text, "utf-8")
    return files


def test_beir_rows_become_entries_and_questions_with_their_gold(tmp_path: Path) -> None:
    found = load_questions(*beir(tmp_path))
    assert [(entry.id, entry.title, entry.text) for entry in found.corpus] == [
        ("a", "Geneva", "A city.\u2028On a lake."),
        ("b", "", "Untitled."),
    ]
    assert list(found.questions) == [
        Question("q1", "Where?", frozenset("a"), "bridge"),
        Question("q2", "Who?", frozenset("ab")),
    ]


def hipporag(folder: Path, questions: list[dict[str, Any]]) -> list[Path]:
    corpus = [
        {"title": "Geneva", "text": "A city. On a lake."},
        {"title": "Namibia", "text": "A country."},
        {"title": "Namibia", "text": "Its capital."},
    ]
    files = [folder / "corpus.json", folder / "questions.json"]
    files[0].write_text(json.dumps(corpus), "utf-8")
    files[1].write_text(json.dumps(questions), "utf-8")
    return files


def test_supporting_facts_name_passages_by_title_and_text(tmp_path: Path) -> None:
    question = {
        "_id": "h1",
        "question": "Where?",
        "type": "bridge",
        "supporting_facts": [["Geneva", 0], ["Namibia", 0]],
        "context": [["Geneva", ["A city.", " On a lake."]], ["Namibia", ["Its capital."]], ["Oslo", ["Far."]]],
    }
    assert list(load_questions(*hipporag(tmp_path, [question])).questions) == [
        Question("h1", "Where?", frozenset({"p0", "p2"}), "bridge")
    ]


def test_supporting_paragraphs_name_passages_too(tmp_path: Path) -> None:
    question = {
        "id": "2hop__1_2",
        "question": "Which?",
        "paragraphs": [
            {"title": "Namibia", "paragraph_text": "A country.", "is_supporting": True},
            {"title": "Geneva", "paragraph_text": "A city.", "is_supporting": False},
        ],
    }
    (found,) = load_questions(*hipporag(tmp_path, [question])).questions
    assert found.gold == {"p1"}


def test_a_title_that_one_passage_has_is_enough_where_texts_differ(tmp_path: Path) -> None:
    cut = {"title": "Geneva", "paragraph_text": "Cut otherwise.", "is_supporting": True}
    lost = {"title": "Namibia", "paragraph_text": "Cut otherwise.", "is_supporting": True}
    files = hipporag(tmp_path, [{"id": "1", "question": "?", "paragraphs": [cut, lost]}])
    assert load_questions(*files).questions[0].gold == {"p0"}


def test_what_does_not_belong_together_is_refused_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"row 1 of .*corpus.jsonl has no 'text'"):
        load_questions(*beir(tmp_path, corpus='{"_id": "a"}\n'))
    with pytest.raises(InvalidInputError, match=r"queries.jsonl is not JSON lines"):
        load_questions(*beir(tmp_path, queries="{\n"))
    with pytest.raises(InvalidInputError, match="must hold objects"):
        load_questions(*beir(tmp_path, queries="[1]\n"))
    with pytest.raises(InvalidInputError, match=r"line 2 of .*test.tsv"):
        load_questions(*beir(tmp_path, qrels="query-id\tcorpus-id\tscore\nq1 a 1\n"))
    with pytest.raises(InvalidInputError, match="1 gold entries are not in the corpus, 'zz'"):
        load_questions(*beir(tmp_path, qrels="q1\tzz\t1\n"))
    with pytest.raises(InvalidInputError, match="no question has an answer"):
        load_questions(*beir(tmp_path, qrels="q1\ta\t0\n"))
    with pytest.raises(InvalidInputError, match="two entries"):
        load_questions(*beir(tmp_path, corpus=lines([*CORPUS, *CORPUS])))


def test_a_missing_file_or_a_missing_option_says_which(tmp_path: Path) -> None:
    files = beir(tmp_path)
    with pytest.raises(InvalidInputError, match="--qrels"):
        load_questions(*files[:2])
    files[0].unlink()
    with pytest.raises(SourceError, match=r"corpus.jsonl cannot be read"):
        load_questions(*files)
