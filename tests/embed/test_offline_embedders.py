"""The offline embedders: right vectors, each a function of its text alone, and no network."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphport.embedding import Embedder, embed
from graphport.registry import plugins
from graphport_embed import plugin

REFERENCE: list[dict[str, Any]] = json.loads(Path(__file__).with_name("minilm_float32.json").read_text("utf-8"))
"""Vectors of the float32 weights, by a forward pass and a WordPiece in numpy: no onnxruntime, no tokenizers."""

TEXTS = [
    "The cat sat on the mat.",
    "A kitten was sitting on the rug.",
    "Interest rates rose by a quarter point in June.",
    "",
    "naïve café, 東京, 👩‍💻",
    "word " * 2000,
]


@pytest.fixture(scope="module", params=["minilm", "wordllama"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return plugins().embedders()[request.param].load()


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return plugins().embedders()["minilm"].load()


def test_a_paraphrase_is_nearer_than_another_subject(embedder: Embedder) -> None:
    cat, kitten, rates = embed(embedder, TEXTS[:3])
    assert cat @ kitten > max(cat @ rates, kitten @ rates) + 0.2


def test_a_vector_does_not_depend_on_the_other_texts(embedder: Embedder) -> None:
    together = embed(embedder, TEXTS)
    backwards = embed(embedder, TEXTS[::-1])[::-1]
    alone = np.concatenate([embed(embedder, [text]) for text in TEXTS])
    assert np.array_equal(together, backwards)
    assert np.array_equal(together, alone)


def test_every_row_is_finite_and_of_norm_one_but_for_a_text_without_tokens(embedder: Embedder) -> None:
    norms = np.linalg.norm(embed(embedder, TEXTS), axis=1)
    filled = np.array([bool(text) for text in TEXTS])
    assert norms[filled] == pytest.approx(1.0, abs=1e-6)
    assert norms[~filled] == pytest.approx(1.0, abs=1e-6) or norms[~filled] == 0.0


def test_no_texts_give_no_rows_of_the_same_width(embedder: Embedder) -> None:
    assert embedder([]).shape == (0, embed(embedder, ["x"]).shape[1])


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: row["text"][:20])
def test_minilm_is_the_published_model(minilm: Embedder, row: dict[str, Any]) -> None:
    vector = minilm([row["text"]])[0]
    assert vector.shape == (384,)
    assert vector @ np.array(row["vector"]) > 0.996


def test_minilm_reads_no_further_than_its_longest_input(minilm: Embedder) -> None:
    long = "word " * 400
    assert np.array_equal(minilm([long]), minilm([long + "and something else entirely"]))


def test_loading_and_embedding_open_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("an offline embedder opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    for spec in plugin.graphport_embedders():
        assert len(spec.load()(["x"])) == 1


def test_the_better_model_is_the_default() -> None:
    usable = [spec for spec in plugins().embedders().values() if spec.missing() is None]
    assert max(usable, key=lambda spec: spec.priority).name == "minilm"


def test_an_embedder_without_its_packages_says_so_before_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "find_spec", lambda name: None if name == "onnxruntime" else object())
    minilm, wordllama = plugin.graphport_embedders()
    assert minilm.missing() == "no package onnxruntime"
    assert minilm.install_hint == "pip install 'graphport[embed]'"
    assert wordllama.missing() is None
