"""Measures worked out by hand, and the bootstrap against what is known of it."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from graphport.errors import BackendUnavailableError
from graphport.evaluation.measures import by_type, compare, measure
from graphport.evaluation.questions import Question
from graphport.evaluation.run import ModeResult

QUESTIONS = [
    Question("one", "?", frozenset({"a", "b"}), "bridge"),
    Question("two", "?", frozenset({"c"}), "comparison"),
    Question("three", "?", frozenset({"d"}), "bridge"),
]
RANKED = [["x", "a", "y", "z", "b", "u"], ["c", "a"], []]


def test_the_measures_are_those_worked_out_by_hand() -> None:
    values = measure(QUESTIONS, RANKED)
    assert values["recall@2"].tolist() == [0.5, 1.0, 0.0]
    assert values["recall@5"].tolist() == [1.0, 1.0, 0.0]
    assert values["recall@10"].tolist() == [1.0, 1.0, 0.0]
    assert values["mrr"].tolist() == [0.5, 1.0, 0.0]
    gained, ideal = 1 / math.log2(3) + 1 / math.log2(6), 1 + 1 / math.log2(3)
    assert values["ndcg@10"].tolist() == pytest.approx([gained / ideal, 1.0, 0.0])


def test_what_stands_first_is_first_whatever_its_id() -> None:
    question = [Question("q", "?", frozenset({"b"}))]
    assert measure(question, [["b", "a", "c"]])["mrr"] == measure(question, [["b", "z", "y"]])["mrr"] == 1.0


def test_recall_is_the_mean_over_questions_not_over_gold() -> None:
    questions = [Question("q", "?", frozenset("abcd")), Question("r", "?", frozenset("e"))]
    assert measure(questions, [["a"], ["e"]])["recall@5"].mean() == pytest.approx((0.25 + 1.0) / 2)


def test_wins_and_losses_are_counted_and_a_clear_difference_excludes_zero() -> None:
    ours = np.array([1.0] * 30 + [0.5] * 65 + [0.0] * 5)
    theirs = np.array([0.5] * 100)
    found = compare(ours, theirs)
    assert (found.wins, found.losses) == (30, 5)
    assert found.delta == pytest.approx(0.125)
    assert 0 < found.low < found.delta < found.high
    # the normal approximation: 1.96 standard errors on each side
    error = 1.96 * float((ours - theirs).std()) / math.sqrt(100)
    assert found.high - found.low == pytest.approx(2 * error, rel=0.1)


def test_rankings_that_are_equal_differ_by_nothing() -> None:
    same = np.array([0.0, 0.5, 1.0])
    found = compare(same, same)
    assert (found.wins, found.losses, found.delta, found.low, found.high) == (0, 0, 0.0, 0.0, 0.0)


def test_the_interval_is_the_same_every_time() -> None:
    ours, theirs = np.linspace(0, 1, 20), np.linspace(1, 0, 20)
    assert compare(ours, theirs) == compare(ours, theirs)


def test_questions_are_told_apart_by_type() -> None:
    places = {kind: found.tolist() for kind, found in by_type(QUESTIONS).items()}
    assert places == {"bridge": [0, 2], "comparison": [1]}
    assert by_type([Question("q", "?", frozenset("a"))]) == {}


def test_each_type_is_compared_by_its_own_questions() -> None:
    def result(values: list[float]) -> ModeResult:
        return ModeResult(QUESTIONS, [[]] * 3, {"recall@5": np.array(values)}, np.zeros(3))

    told = result([1.0, 0.0, 1.0]).summary(result([0.0, 1.0, 1.0]))["by_type"]
    assert told["bridge"]["against_hybrid"] == {"wins": 1, "losses": 0, "delta": 0.5, "interval": [0.0, 1.0]}
    assert told["comparison"]["against_hybrid"] == {"wins": 0, "losses": 1, "delta": -1.0, "interval": [-1.0, -1.0]}


def test_without_the_library_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(BackendUnavailableError, match=r"pip install 'graphport\[eval\]'"):
        measure(QUESTIONS, RANKED)
