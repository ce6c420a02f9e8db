"""The report: every sentence with its source, whatever is in it."""

from __future__ import annotations

import re

import pytest

from graphport import Hit
from graphport.retrieval.report import compose_report, sentences


@pytest.mark.parametrize(
    "text,expected",
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("J. M. Barrie wrote it. He died.", ["J. M. Barrie wrote it.", "He died."]),
        ("See Dr. Who, e.g. on TV. It ran.", ["See Dr. Who, e.g. on TV.", "It ran."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("broken\nover   lines. Next", ["broken over lines.", "Next"]),
        ("version 1.5 is out", ["version 1.5 is out"]),
        ("Wo? Ältere. Émile.", ["Wo?", "Ältere.", "Émile."]),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_every_sentence_has_its_number_and_every_number_its_source() -> None:
    hits = [
        Hit("a", 1.0, title="Geneva", text="It lies on a lake. Calvin lived there.", kind="passage"),
        Hit("b", 0.5, title="Servetus", text="He was burned.", kind="section", document="lives.md", start_line=7),
    ]
    report = compose_report("Who was burned\nin Geneva?", hits)
    assert report.markdown == (
        "# Who was burned in Geneva?\n\n"
        "## Evidence\n\n"
        "> It lies on a lake. [1]\n> Calvin lived there. [1]\n\n"
        "> He was burned. [2]\n\n"
        "## Sources\n\n"
        "1. Geneva (a)\n2. Servetus (lives.md:7)\n"
    )
    assert report.cites == ("a", "b")
    assert report.query == "Who was burned\nin Geneva?"


def test_code_is_quoted_as_it_stands_in_a_fence_it_does_not_close() -> None:
    text = "def f():\n    '''```'''\n    return 1"
    report = compose_report("f", [Hit("s", 1.0, title="f", text=text, kind="symbol", document="f.py", start_line=1)])
    assert f"````\n{text}\n````" in report.markdown


def test_an_entry_without_text_is_cited_by_its_title() -> None:
    assert "> Geneva [1]" in compose_report("q", [Hit("a", 1.0, title="Geneva")]).markdown


def test_no_evidence_says_so_and_cites_nothing() -> None:
    report = compose_report("q", [])
    assert "Nothing was found." in report.markdown
    assert report.cites == ()
    assert not re.search(r"\[\d+\]", report.markdown)
