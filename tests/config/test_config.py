"""A config is checked as a whole, at load, with file, key and a stable code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphport import load_config
from graphport.errors import ConfigError

GOOD = """
graph: {backend: memory}
data_dir: bases
vector_dbs:
  - name: docs
    strategy: {graph: true}
    retrieval: {mode: hybrid, top_k: 8, graph: true, graph_mode: walk, graph_weight: 0.5, damping: 0.5}
    relation_weights: {tagged_with: 0.1}
    entities:
      - {type: person, names: [John Calvin, Calvin, Jean Calvin]}
"""


def test_the_documented_config_is_read(tmp_path: Path) -> None:
    file = tmp_path / "graphport.yaml"
    file.write_text(GOOD)
    config = load_config(file)
    docs = config.knowledge_base("docs")
    assert (docs.retrieval.graph, docs.retrieval.graph_weight, docs.retrieval.top_k) == (True, 0.5, 8)
    assert docs.relation_weights == {"tagged_with": 0.1}
    assert docs.entities[0].names == ("John Calvin", "Calvin", "Jean Calvin")
    assert docs.graph is not None
    assert docs.graph.backend == "memory"
    assert config.home == tmp_path / "bases"


def test_a_knowledge_base_not_in_the_config_has_the_defaults() -> None:
    other = load_config().knowledge_base("other")
    assert (other.retrieval.mode, other.retrieval.graph, other.retrieval.graph_weight) == ("hybrid", False, 0.5)


def test_environment_variables_are_put_in_and_their_values_are_not_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "a: [b")
    monkeypatch.setenv("EMPTY", "")
    config = load_config({"data_dir": "/x/${WHERE}/${EMPTY:-fallback}/${UNSET:-there}"})
    assert str(config.data_dir) == "/x/a: [b/fallback/there"


BAD = [
    ("retrieval: {graph_weight: 1.5}", "bad-knowledge-graph-weight", "vector_dbs[0].retrieval.graph_weight"),
    ("retrieval: {graph_weight: -0.1}", "bad-knowledge-graph-weight", "vector_dbs[0].retrieval.graph_weight"),
    ("retrieval: {graph_weight: .nan}", "bad-knowledge-graph-weight", "vector_dbs[0].retrieval.graph_weight"),
    ("retrieval: {graph_weight: .inf}", "bad-knowledge-graph-weight", "vector_dbs[0].retrieval.graph_weight"),
    ("retrieval: {graph_weight: much}", "bad-knowledge-graph-weight", "vector_dbs[0].retrieval.graph_weight"),
    ("retrieval: {damping: 1}", "bad-knowledge-damping", "vector_dbs[0].retrieval.damping"),
    ("retrieval: {top_k: 0}", "bad-knowledge-top-k", "vector_dbs[0].retrieval.top_k"),
    ("retrieval: {mode: fast}", "bad-knowledge-mode", "vector_dbs[0].retrieval.mode"),
    ("retrieval: {graph_mode: jump}", "bad-knowledge-graph-mode", "vector_dbs[0].retrieval.graph_mode"),
    ("retrieval: {graf: true}", "unknown-config-key", "vector_dbs[0].retrieval.graf"),
    ("relation_weights: {tagged_with: -1}", "bad-knowledge-relation-weights", "vector_dbs[0].relation_weights"),
    ("entities: [{type: person, names: []}]", "bad-knowledge-entities", "vector_dbs[0].entities[0].names"),
    ("entities: [{type: person, names: ['']}]", "bad-knowledge-entities", "vector_dbs[0].entities[0].names"),
    ("entities: [{type: person, names: ['...']}]", "bad-knowledge-entities", "vector_dbs[0].entities[0].names"),
    ("graph: {backend: kuzo}", "unknown-backend", "vector_dbs[0].graph.backend"),
    ("graph: {backend: memory, paht: x}", "bad-backend-option", "vector_dbs[0].graph.paht"),
    ("graph: {backend: memory, path: ''}", "bad-backend-option", "vector_dbs[0].graph.path"),
    ("graph: {backend: kuzu, path: '${NOT_SET_ANYWHERE:-}'}", "bad-backend-option", "vector_dbs[0].graph.path"),
    ('graph: {backend: kuzu, path: "a\\0b"}', "bad-backend-option", "vector_dbs[0].graph.path"),
    ("graph: {backend: memory, graph: ''}", "bad-backend-option", "vector_dbs[0].graph.graph"),
    ("graph: memory", "bad-knowledge-graph", "vector_dbs[0].graph"),
]


@pytest.mark.parametrize("line, problem, key", BAD, ids=[line for line, _, _ in BAD])
def test_a_bad_value_names_file_key_and_code(tmp_path: Path, line: str, problem: str, key: str) -> None:
    file = tmp_path / "graphport.yaml"
    file.write_text(f"vector_dbs:\n  - name: docs\n    {line}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert (caught.value.problem, caught.value.key, caught.value.file) == (problem, key, str(file))
    assert str(caught.value).startswith(f"{file}: {key}: ")
    assert str(caught.value).endswith(f"[{problem}]")


@pytest.mark.parametrize(
    "config, says",
    [
        (
            {"retrieval": {}},
            "no key 'retrieval' here; it is a key of each of the vector_dbs; known are data_dir, graph,",
        ),
        ({"vector_db": []}, "no key 'vector_db' here; known are data_dir, graph, embedder, vector_dbs, server"),
        ({"server": {"prot": 1}}, "no key 'prot' here; known are host, port,"),
        (
            {"vector_dbs": [{"name": "a", "retrieval": {"graf": 1}}]},
            "no key 'graf' here; known are mode, top_k,",
        ),
        (
            {"vector_dbs": [{"name": "a", "entities": [{"type": "t", "name": "x"}]}]},
            "'name' here; known are type, names",
        ),
    ],
)
def test_an_unknown_key_is_answered_with_those_there_are(config: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        load_config(config)


def test_a_value_where_keys_belong_is_answered_with_their_form() -> None:
    with pytest.raises(ConfigError, match=re.escape("must hold keys with values, as in `graph: {key: value}`")):
        load_config({"vector_dbs": [{"name": "a", "graph": "memory"}]})


@pytest.mark.parametrize(
    "text, problem",
    [
        ("vector_dbs: [", "config-not-yaml"),
        ("- a\n- b\n", "config-not-a-mapping"),
        ("graph: {backend: memory}\ngraph: {backend: memory}\n", "config-not-yaml"),
        ("vector_dbs: [{name: a}, {name: a}]", "duplicate-knowledge-base"),
        ("vector_dbs: [{name: ../a}]", "bad-knowledge-name"),
        ("data_dir: &here [*here]", "config-not-yaml"),
        ("data_dir: " + "[" * 5_000, "config-not-yaml"),
        ("data_dir: ${NOT_SET_ANYWHERE}", "missing-environment-variable"),
    ],
)
def test_a_config_that_makes_no_sense_has_its_own_code(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "graphport.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert caught.value.problem == problem


def test_a_config_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\[unreadable-config\]"):
        load_config(tmp_path / "none.yaml")


def test_a_secret_is_not_in_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PG_DSN", "postgresql://me:hunter2@db/x")
    with pytest.raises(ConfigError) as caught:
        load_config({"graph": {"backend": "memory", "dsn": "${PG_DSN}"}})
    assert "hunter2" not in str(caught.value)
