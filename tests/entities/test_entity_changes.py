"""A change of names writes what differs and nothing else, whoever else writes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator
from pathlib import Path

import pytest

from graphport import EdgeKey, Entry, open_knowledge_base
from graphport.builders import Fact, Links, NodeFact
from graphport.knowledge.facts import edges_now, nodes_now
from graphport.knowledge.ingest import Ingest
from graphport.knowledge.truth import Truth


def add_names(folder: Path, first: int) -> None:
    with open_knowledge_base(folder, embedder=None) as kb:
        for number in range(first, first + 6):
            kb.add_entity("thing", f"Thing {number}")


def test_two_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        kb.add([Entry(str(number), f"We saw Thing {number} there.") for number in range(12)])
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=add_names, args=(tmp_path / "kb", first)) for first in (0, 6)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        assert sorted(row.names[0] for row in kb.gazetteer_listing()) == sorted(f"Thing {n}" for n in range(12))
        assert {item.texts for item in kb.list_entities()} == {1}
        assert len(kb.list_entities()) == 12


@pytest.fixture
def truth() -> Generator[Truth]:
    made = Truth(None)
    with made.write() as db:
        db.execute(
            "INSERT INTO documents (path, digest, builder, builder_version, data, warnings) "
            "VALUES ('entry:a', '', 'entry', 1, '{}', '[]')"
        )
        db.execute("INSERT INTO entries VALUES ('a', 1, 0, '', '', 'passage', 0, 0, '[]', '{}', 0, NULL)")
        db.execute("INSERT INTO derived VALUES ('graph', '{}')")  # so that changes are marked
    yield made
    made.close()


def marked(truth: Truth, revision: int) -> list[str]:
    with truth.read() as db:
        return [row[0] for row in db.execute("SELECT key FROM changes WHERE revision = ? ORDER BY key", (revision,))]


def test_only_what_differs_is_taken_into_the_graph(truth: Truth) -> None:
    nodes = [NodeFact(name, "thing", name, "a") for name in ("x", "y", "z")]
    with truth.write() as db:
        Ingest(db, 1, with_graph=True).replace_facts(["a"], "mentions", Links(nodes, [Fact("x", "next", "y", "a")]))
        again = Links(nodes[:2], [Fact("x", "next", "y", "a", weight=2.0)])
        Ingest(db, 2, with_graph=True).replace_facts(["a"], "mentions", again)
        Ingest(db, 3, with_graph=True).replace_facts(["a"], "mentions", again)
    assert marked(truth, 2) == ['["x", "y", "next"]', "z"]
    assert marked(truth, 3) == []


@pytest.mark.parametrize("owners", [("document", "mentions"), ("mentions", "document")])
def test_who_wrote_last_does_not_decide_what_a_node_or_edge_is(truth: Truth, owners: tuple[str, str]) -> None:
    with truth.write() as db:
        for owner in owners:
            node = NodeFact("x", "thing", f"as the {owner} has it", "a")
            edge = Fact("x", "next", "x", "a", props={"by": owner})
            Ingest(db, 1, with_graph=True).replace_facts(["a"], owner, Links([node], [edge]))
        key = EdgeKey("x", "x", "next")
        assert edges_now(db, [key], 0.0, {})[key].props == {"by": "document"}
        assert nodes_now(db, ["x"], 0.0)["x"].name == "as the document has it"
