"""Question sets: passages, questions, and which passages answer each."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from graphport.builders import Entry
from graphport.errors import InvalidInputError, SourceError


@dataclass(frozen=True, slots=True)
class Question:
    """``gold`` are the ids of the entries that answer it, at least one; ``type`` is "" where none is given."""

    id: str
    text: str
    gold: frozenset[str]
    type: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Entries with unique ids, and questions whose gold entries are among them."""

    corpus: Sequence[Entry]
    questions: Sequence[Question]


def load_questions(corpus: Path, queries: Path, qrels: Path | None = None) -> QuestionSet:
    """A question set in one of two layouts, told by the name of ``queries``.

    BEIR: ``corpus.jsonl`` (``_id``, ``title``, ``text``), ``queries.jsonl`` (``_id``, ``text``, and the type in
    ``metadata.type``), ``qrels`` as tab-separated values (``query-id``, ``corpus-id``, ``score``; a score
    above 0 is gold). HippoRAG: ``corpus.json`` and ``queries.json``, lists of objects; gold are a question's
    ``supporting_facts`` (titles, with the texts in ``context``) or the supporting ones of its ``paragraphs``.

    A question without gold is left out. Raises `SourceError` for a file that cannot be read and
    `InvalidInputError` for one of another form or a gold entry that is not in the corpus.
    """
    if queries.suffix == ".json":
        return _hipporag(_rows(corpus), _rows(queries))
    if qrels is None:
        raise InvalidInputError("BEIR's layout needs --qrels; HippoRAG's has the answers in queries.json")
    gold: dict[str, set[str]] = {}
    for question, entry, score in _qrels(qrels):
        if score > 0:
            gold.setdefault(question, set()).add(entry)
    entries = [
        Entry(str(row["_id"]), str(row["text"]), str(row.get("title") or ""))
        for row in _with(_rows(corpus), corpus, "_id", "text")
    ]
    questions = [
        Question(str(row["_id"]), str(row["text"]), frozenset(gold[str(row["_id"])]), _type(row))
        for row in _with(_rows(queries), queries, "_id", "text")
        if str(row["_id"]) in gold
    ]
    return _checked(entries, questions)


def _hipporag(corpus: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> QuestionSet:
    entries = [Entry(f"p{place}", str(row["text"]), str(row["title"])) for place, row in enumerate(corpus)]
    by_text = {(entry.title, _squeezed(entry.text)): entry.id for entry in entries}
    by_title: dict[str, list[str]] = {}
    for entry in entries:
        by_title.setdefault(entry.title, []).append(entry.id)
    questions: list[Question] = []
    for place, row in enumerate(rows):
        found = {by_text.get((title, _squeezed(text)), "") for title, text in _supporting(row)}
        # Where a passage was cut otherwise, a title that only one entry has is as good.
        found |= {by_title[title][0] for title, _ in _supporting(row) if len(by_title.get(title, ())) == 1}
        gold = frozenset(found - {""})
        if gold:
            questions.append(
                Question(str(row.get("_id", row.get("id", place))), str(row["question"]), gold, _type(row))
            )
    return _checked(entries, questions)


def _supporting(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Title and text of the passages that answer a question."""
    if "paragraphs" in row:
        return [
            (str(part["title"]), str(part.get("paragraph_text") or part.get("text") or ""))
            for part in row["paragraphs"]
            if part.get("is_supporting", True)
        ]
    titles = {str(fact[0]) for fact in row.get("supporting_facts", ())}
    return [(str(title), "".join(parts)) for title, parts in row.get("context", ()) if str(title) in titles]


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _type(row: Mapping[str, Any]) -> str:
    metadata: Mapping[str, Any] = row.get("metadata") or {}
    return str(metadata.get("type") or row.get("type") or "")


def _rows(file: Path) -> list[Mapping[str, Any]]:
    text = _read(file)
    try:  # split at "\n" alone: a text may hold U+2028, at which splitlines would cut too
        whole = file.suffix == ".json"
        found = json.loads(text) if whole else [json.loads(line) for line in text.split("\n") if line.strip()]
    except ValueError as error:
        what = "JSON" if file.suffix == ".json" else "JSON lines"
        raise InvalidInputError(f"{file} is not {what}: {error}") from error
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in cast("list[Any]", found)):
        raise InvalidInputError(f"{file} must hold objects, one a line (.jsonl) or in a list (.json)")
    return cast("list[Mapping[str, Any]]", found)


def _with(rows: Sequence[Mapping[str, Any]], file: Path, *keys: str) -> Iterator[Mapping[str, Any]]:
    for number, row in enumerate(rows, 1):
        missing = [key for key in keys if key not in row]
        if missing:
            raise InvalidInputError(f"row {number} of {file} has no {missing[0]!r}; BEIR rows have {', '.join(keys)}")
        yield row


def _qrels(file: Path) -> Iterator[tuple[str, str, float]]:
    for number, row in enumerate(csv.reader(_read(file).split("\n"), delimiter="\t"), 1):
        if row and row[0] != "query-id":
            try:
                yield row[0], row[-2], float(row[-1])
            except (IndexError, ValueError) as error:
                raise InvalidInputError(
                    f"line {number} of {file} is {row!r:.80}; expected query id, entry id and score, with tabs"
                ) from error


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file} cannot be read: {error}") from error


def _checked(entries: Sequence[Entry], questions: Sequence[Question]) -> QuestionSet:
    ids = {entry.id for entry in entries}
    if len(ids) < len(entries):
        raise InvalidInputError("two entries of the corpus have one id; ids must be unique")
    lost = sorted(entry for question in questions for entry in question.gold - ids)
    if lost:
        raise InvalidInputError(f"{len(lost)} gold entries are not in the corpus, {lost[0]!r} for one")
    if not questions:
        raise InvalidInputError("no question has an answer in the corpus; check that the files belong together")
    return QuestionSet(entries, questions)
