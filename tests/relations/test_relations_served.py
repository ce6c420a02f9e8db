"""Relations show in the server's graph answers, with the passages they are known from."""

from __future__ import annotations

from graphport import Entry, load_config
from graphport.knowledge.opening import open_knowledge_base
from graphport_serve.questions.graphs import Around


def test_edges_around_an_entity_say_where_they_are_from() -> None:
    entities = [{"type": "person", "names": ["Calvin"]}, {"type": "book", "names": ["Institutes"]}]
    base = {"name": "memory", "entities": entities, "relations": {"co_occurs": 5, "patterns": "default"}}
    with open_knowledge_base(":memory:", config=load_config({"vector_dbs": [base]}), embedder=None) as kb:
        kb.add([Entry("a", "Calvin wrote the Institutes."), Entry("b", "nothing")])
        found = Around("entity:person:Calvin", kinds=frozenset({"co_occurs", "wrote"}))(kb)
    assert {(edge.kind, edge.weight, str(edge.props)) for edge in found.edges} == {
        ("co_occurs", 1.0, "{'count': 1, 'entries': ['a']}"),
        ("wrote", 1.0, "{'text': 'Calvin wrote the Institutes'}"),
    }
