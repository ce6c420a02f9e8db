"""The embedding linker: names that a query calls otherwise, by a model of three words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from graphport.retrieval.linking import LinkedEntity
from graphport.retrieval.similar_names import CUTOFF, EmbeddingLinker, SimilarNames

MEANINGS = {"usa": (1.0, 0.0), "united states": (0.9, 0.1), "france": (0.0, 1.0), "britain": (0.6, 0.6)}


class Model:
    """Vectors of a few words; counts the texts it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([MEANINGS.get(text.lower(), (-1.0, -1.0)) for text in texts], dtype=np.float32)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def names(model: Model) -> SimilarNames:
    known = SimilarNames(model, model)
    known.replace([("phrase:united states", "United States"), ("phrase:france", "France")])
    return known


def test_a_name_is_found_by_another_that_means_it(names: SimilarNames) -> None:
    (found,) = EmbeddingLinker(names)("Who rules the USA?", ())
    assert (found.node, found.start, found.end, found.linker) == ("phrase:united states", 14, 17, "embedding")
    assert found.score == pytest.approx(0.9 / np.hypot(0.9, 0.1))


def test_what_is_not_near_enough_is_not_linked(names: SimilarNames) -> None:
    assert np.hypot(0.5, 0.5) < CUTOFF
    assert EmbeddingLinker(names)("Who rules Britain?", ()) == []


def test_what_an_earlier_linker_linked_is_not_even_embedded(names: SimilarNames, model: Model) -> None:
    model.asked.clear()
    assert EmbeddingLinker(names)("Who rules the USA?", (LinkedEntity("x", 14, 17),)) == []
    assert model.asked == []


def test_only_names_that_are_new_are_embedded_and_those_gone_are_not_found(names: SimilarNames, model: Model) -> None:
    model.asked.clear()
    names.replace([("phrase:france", "France"), ("phrase:britain", "Britain")])
    assert model.asked == ["Britain"]
    assert EmbeddingLinker(names)("Who rules the USA?", ()) == []


def test_without_names_nothing_is_linked(model: Model) -> None:
    assert EmbeddingLinker(SimilarNames(model, model))("Who rules the USA?", ()) == []
