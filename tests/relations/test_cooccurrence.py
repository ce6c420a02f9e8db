"""``co_occurs``: weights are those of the formula, the best of each entity stay, shared names are no company."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

from graphport import Edge, Entry
from graphport.config import Config, load_config
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.cooccurrence import npmi
from graphport.knowledge.opening import open_knowledge_base


def config(co_occurs: int, *names: str | tuple[str, ...], **more: object) -> Config:
    """Of a knowledge base in memory whose gazetteer has people of these names."""
    entities = [{"type": "person", "names": [name] if isinstance(name, str) else list(name)} for name in names]
    base = {"name": "memory", "entities": entities, "relations": {"co_occurs": co_occurs}, **more}
    return load_config({"vector_dbs": [base]})


def filled(settings: Config, *texts: str) -> KnowledgeBase:
    kb = open_knowledge_base(":memory:", config=settings, embedder=None)
    kb.add([Entry(f"p{number}", text) for number, text in enumerate(texts)])
    return kb


def edges(kb: KnowledgeBase) -> list[Edge]:
    return list(kb.storage.iter_edges(kinds=["co_occurs"]))


def weights(kb: KnowledgeBase) -> dict[tuple[str, str], float]:
    return {(_name(edge.source), _name(edge.target)): edge.weight for edge in edges(kb)}


def _name(entity: str) -> str:
    return entity.rpartition(":")[2]


class TestFormula:
    @pytest.mark.parametrize(
        "together, left, right, total, expected",
        [
            (1, 2, 2, 8, 0.333),  # ln 2 / ln 8
            (2, 4, 2, 8, 0.5),  # ln 2 / ln 4
            (3, 3, 3, 8, 1.0),  # only ever together
            (1, 2, 2, 4, 0.0),  # independent
            (1, 4, 4, 8, -0.333),  # rarer together than by chance
            (5, 5, 5, 5, 1.0),  # together everywhere: the limit
        ],
    )
    def test_it_is_boumas(self, together: int, left: int, right: int, total: int, expected: float) -> None:
        found = npmi(np.array([float(together)]), np.array([float(left)]), np.array([float(right)]), total)
        assert found.tolist() == [expected]


class TestEdges:
    def test_weight_count_and_passages_of_a_pair(self) -> None:
        texts = ["Calvin met Farel.", "Calvin wrote.", "Farel spoke.", *["nothing"] * 5]
        with filled(config(5, "Calvin", "Farel"), *texts) as kb:
            (edge,) = edges(kb)
            assert edge.key == ("entity:person:Calvin", "entity:person:Farel", "co_occurs")
            assert edge.weight == 0.333
            assert edge.props == {"count": 1, "entries": ["p0"]}
            assert kb.evidence(edge.key) == ["p0"]

    def test_a_pair_that_chance_explains_has_no_edge(self) -> None:
        with filled(config(5, "Calvin", "Farel"), "Calvin met Farel.", "Calvin", "Farel", "nothing") as kb:
            assert edges(kb) == []

    def test_props_name_the_first_five_passages_and_evidence_all(self) -> None:
        with filled(config(5, "Calvin", "Farel"), *["Calvin and Farel"] * 7, "nothing") as kb:
            (edge,) = edges(kb)
            assert edge.props == {"count": 7, "entries": ["p0", "p1", "p2", "p3", "p4"]}
            assert kb.evidence(edge.key) == [f"p{number}" for number in range(7)]

    def test_the_title_of_a_passage_counts_with_its_text(self) -> None:
        with filled(config(5, "Calvin", "Farel"), "nothing") as kb:
            kb.add([Entry("t", "Farel speaks of him.", title="Calvin")])
            assert weights(kb) == {("Calvin", "Farel"): 1.0}

    def test_the_kinds_factor_applies(self) -> None:
        settings = config(5, "Calvin", "Farel", relation_weights={"co_occurs": 0.25})
        with filled(settings, "Calvin and Farel", "nothing") as kb:
            assert weights(kb) == {("Calvin", "Farel"): 0.25}
            kb.add([Entry("more", "Farel")])
            assert weights(kb) == {("Calvin", "Farel"): pytest.approx(0.25 * 0.369)}  # ln(3/2) / ln 3

    def test_two_entities_of_one_name_are_no_company(self) -> None:
        settings = config(5, ("Trent (council)", "Trent"), ("Trent (town)", "TRENT"), "Calvin")
        with filled(settings, "Calvin on Trent", "nothing") as kb:
            assert weights(kb) == {("Calvin", "Trent (council)"): 1.0, ("Calvin", "Trent (town)"): 1.0}

    def test_hidden_passages_count_neither_for_a_pair_nor_in_all(self) -> None:
        with filled(config(5, "Calvin", "Farel"), "Calvin and Farel", "Calvin", "nothing", "nothing") as kb:
            assert weights(kb) == {("Calvin", "Farel"): 0.5}  # ln 2 / ln 4
            kb.flag("p3")
            assert weights(kb) == {("Calvin", "Farel"): 0.369}  # ln(3/2) / ln 3
            kb.flag("p0")
            assert weights(kb) == {}
            kb.flag("p0", flagged=False)
            kb.flag("p1")
            assert weights(kb) == {("Calvin", "Farel"): 1.0}

    def test_an_edge_goes_while_its_ends_stay(self) -> None:
        with filled(config(5, "Calvin", "Farel"), "Calvin and Farel", "nothing") as kb:
            assert weights(kb) == {("Calvin", "Farel"): 1.0}
            kb.add([Entry("more", "Calvin"), Entry("yet more", "Farel")])  # ln 1: independent
            assert weights(kb) == {}
            assert {node.name for node in kb.storage.iter_nodes(kind="entity")} == {"Calvin", "Farel"}

    def test_two_handles_on_one_knowledge_base_see_the_same(self, tmp_path: Path) -> None:
        settings = config(5, "Calvin", "Farel", "Beza", name="base")
        with (
            open_knowledge_base(tmp_path / "base", config=settings, embedder=None) as one,
            open_knowledge_base(tmp_path / "base", config=settings, embedder=None) as other,
        ):
            one.add([Entry("a", "Calvin and Farel"), Entry("b", "nothing")])
            other.add([Entry("c", "Calvin and Beza"), Entry("d", "nothing")])
            one.add([Entry("e", "Farel")])
            other.remove(["a"])
            one.add([Entry("f", "Beza")])
            found = edges(one)
            other.flag("f")
            assert edges(one) != found
            one.flag("f", flagged=False)
            assert edges(one) == edges(other) == found
        texts = ["nothing", "Calvin and Beza", "nothing", "Farel", "Beza"]
        with filled(config(5, "Calvin", "Farel", "Beza"), *texts) as fresh:
            assert [(edge.key, edge.weight) for edge in edges(fresh)] == [(edge.key, edge.weight) for edge in found]

    def test_what_was_visible_then_counts_then(self) -> None:
        with filled(config(5, "Calvin", "Farel"), "Calvin and Farel", "Calvin", "nothing", "nothing") as kb:
            kb.expire("p1", kb.clock() + 3600)
            later = kb.snapshot(as_of=kb.clock() + 7200)
            row = later.edge_kinds.index("co_occurs")
            assert later.weight[later.edge_kind == row].tolist() == [1.0]
            assert weights(kb) == {("Calvin", "Farel"): 0.5}

    def test_a_new_alias_counts_at_once(self) -> None:
        with filled(config(5, "Farel"), "Calvin and Farel", "Jean and Farel", "Jean", "nothing") as kb:
            kb.add_entity("person", ["Calvin"])
            assert weights(kb) == {("Calvin", "Farel"): 0.5}  # ln 2 / ln 4
            kb.add_entity("person", ["Calvin", "Jean"])
            assert edges(kb)[0].props["count"] == 2
            kb.remove_entity("person", "Calvin")
            assert edges(kb) == []


class TestCap:
    def test_no_entity_has_more_edges_and_each_end_chose_the_other(self) -> None:
        names = [f"Name{chr(97 + number)}" for number in range(12)]
        rng = random.Random(3)
        texts = [" and ".join(rng.sample(names, rng.randrange(1, 5))) for _ in range(40)]
        for cap in (1, 2, 3, 100):
            with filled(config(cap, *names), *texts) as kb:
                assert weights(kb) == by_hand(names, texts, cap)

    def test_of_equals_the_smaller_ids_stay(self) -> None:
        with filled(config(2, "Hub", "Ann", "Bob", "Cid"), "Hub and Ann", "Hub and Bob", "Hub and Cid", "none") as kb:
            assert set(weights(kb)) == {("Ann", "Hub"), ("Bob", "Hub")}

    def test_blocks_give_what_one_block_gives(self, monkeypatch: pytest.MonkeyPatch) -> None:
        names = [f"Name{chr(97 + number)}" for number in range(12)]
        rng = random.Random(4)
        texts = [" and ".join(rng.sample(names, 3)) for _ in range(30)]
        with filled(config(3, *names), *texts) as kb:
            whole = edges(kb)
        monkeypatch.setattr("graphport.knowledge.cooccurrence._BLOCK", 5)
        with filled(config(3, *names), *texts) as kb:
            assert edges(kb) == whole


def by_hand(names: list[str], texts: list[str], cap: int) -> dict[tuple[str, str], float]:
    """The definition, pair by pair."""
    said = [set(text.split(" and ")) for text in texts]
    count = {name: sum(name in words for words in said) for name in names}
    scores: dict[tuple[str, str], float] = {}
    for left, right in itertools.permutations(names, 2):
        both = sum({left, right} <= words for words in said)
        if both:
            scores[left, right] = round(
                math.log(both * len(texts) / (count[left] * count[right])) / math.log(len(texts) / both), 3
            )
    best = {
        left: sorted((-scores[pair], pair[1]) for pair in scores if pair[0] == left and scores[pair] > 0)[:cap]
        for left in names
    }
    chosen = {(left, right) for left in names for _, right in best[left]}
    return {pair: scores[pair] for pair in chosen if pair[0] < pair[1] and pair[::-1] in chosen}


class TestOff:
    def test_without_being_asked_for_nothing_is_counted_or_stated(self) -> None:
        plain = load_config({"vector_dbs": [{"name": "memory", "entities": _people("Calvin", "Farel")}]})
        with filled(plain, "Calvin wrote Farel", "Calvin and Farel") as kb:
            assert {edge.kind for edge in kb.storage.iter_edges()} == {"mentions"}
            owners = kb._truth.db.execute("SELECT DISTINCT owner FROM facts").fetchall()
            assert owners == [("mentions",)]
            assert kb._truth.meta("patterns") is None

    def test_not_one_query_more_than_before(self) -> None:
        plain = load_config({"vector_dbs": [{"name": "memory", "entities": _people("Calvin", "Farel")}]})
        with filled(plain, "Calvin and Farel") as kb:
            asked: list[str] = []
            kb._truth.db.set_trace_callback(asked.append)
            kb.add([Entry("more", "Calvin wrote Farel")])
            assert not [query for query in asked if "relations" in query or "entity:' AND" in query]

    def test_turned_on_and_off_again_the_graph_is_the_one_of_before(self, tmp_path: Path) -> None:
        folder = f"{tmp_path}/base"
        base = {"name": "base", "entities": _people("Calvin", "Farel")}
        plain = load_config({"vector_dbs": [base]})
        asked = load_config({"vector_dbs": [{**base, "relations": {"co_occurs": 3, "patterns": "default"}}]})

        def graph(settings: Config) -> list[Edge]:
            with open_knowledge_base(folder, config=settings, embedder=None) as kb:
                if not kb.status().entries:
                    kb.add([Entry("a", "Calvin wrote Farel."), Entry("b", "nothing")])
                return list(kb.storage.iter_edges())

        before = graph(plain)
        assert {edge.kind for edge in graph(asked)} == {"mentions", "co_occurs", "wrote"}
        assert graph(plain) == before
        assert {edge.kind for edge in graph(asked)} == {"mentions", "co_occurs", "wrote"}


def _people(*names: str) -> list[dict[str, object]]:
    return [{"type": "person", "names": [name]} for name in names]
