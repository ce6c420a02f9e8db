"""Entities that the gazetteer lacks are proposed with counts and passages, and never added on their own."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner, Result

from graphport import Entry, hookimpl, load_config
from graphport.cli.main import main
from graphport.errors import InvalidInputError, InvalidQueryError
from graphport.hookspecs import PROJECT
from graphport.knowledge.base import KnowledgeBase
from graphport.knowledge.capitals import Capitals
from graphport.knowledge.opening import open_knowledge_base
from graphport.proposals import EntityProposer, Example, Known, Passage, Proposal, Sighting
from graphport.registry import Plugins


def capitals(*texts: str, known: tuple[Known, ...] = ()) -> list[str]:
    passages = [Passage(f"p{number}", text, known) for number, text in enumerate(texts)]
    return [sighting.name for sighting in Capitals().propose(passages)]


class Scripted:
    """Sees what it is told to, as a language model would see what it likes."""

    name = "scripted"

    def __init__(self, *sightings: Sighting) -> None:
        self.sightings = sightings
        self.read: list[Passage] = []

    def propose(self, passages: Iterable[Passage]) -> Iterable[Sighting]:
        self.read = list(passages)
        return self.sightings


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    config = load_config({"vector_dbs": [{"name": "memory", "entities": [{"type": "person", "names": ["Calvin"]}]}]})
    with open_knowledge_base(":memory:", config=config, embedder=None) as opened:
        yield opened


class TestCapitals:
    def test_runs_of_capitalised_words_are_seen_where_they_stand(self) -> None:
        (sighting,) = Capitals().propose([Passage("p", "He read the Book of Common Prayer's text.")])
        assert sighting == Sighting("p", 12, "Book of Common Prayer")

    def test_a_word_mostly_written_small_is_no_name(self) -> None:
        assert capitals("He said, Behold him. Then, Behold Farel.", "and behold, behold, behold them") == ["Farel"]

    def test_a_single_letter_is_part_of_a_name_only_as_an_initial(self) -> None:
        assert capitals("They cried: O Lord, hear. We met J. M. Barrie.") == ["Lord", "J. M. Barrie"]

    def test_what_a_known_name_covers_is_not_seen(self) -> None:
        text = "We met Farel and the Reverend Beza."
        assert capitals(text, known=(Known(7, 12, ("person",)),)) == ["Reverend Beza"]
        assert capitals(text, known=(Known(17, 34, ("person",)),)) == ["Farel"]

    def test_a_name_within_a_longer_known_one_is_covered_by_it(self) -> None:
        assert capitals("the doctrine of Grace", known=(Known(4, 21, ("doctrine",)),)) == []

    def test_a_word_that_only_opens_sentences_or_heads_sections_is_no_name(self) -> None:
        assert capitals("# Note\n\nWe saw Basel.", "* Note\n* Basel") == ["Basel", "Basel"]

    def test_texts_without_capitals_propose_nothing(self) -> None:
        assert capitals("加尔文在日内瓦", "nothing here", "") == []


class TestCounting:
    def test_names_come_with_counts_and_examples_most_passages_first(self, kb: KnowledgeBase) -> None:
        kb.add(
            [
                Entry("a", "In Geneva we met Farel. Calvin left Geneva for Basel."),
                Entry("b", "On leaving Basel we went to Geneva."),
                Entry("c", "With Basel and Bern in mind."),
            ]
        )
        assert kb.propose_entities() == [
            Proposal(
                "Basel", "", 3, 3,
                (
                    Example("a", "In Geneva we met Farel. Calvin left Geneva for Basel."),
                    Example("b", "On leaving Basel we went to Geneva."),
                    Example("c", "With Basel and Bern in mind."),
                ),
            ),
            Proposal(
                "Geneva", "", 3, 2,
                (
                    Example("a", "In Geneva we met Farel. Calvin left Geneva for Basel."),
                    Example("b", "On leaving Basel we went to Geneva."),
                ),
            ),
        ]  # fmt: skip
        assert [item.name for item in kb.propose_entities(at_least=1)] == ["Basel", "Geneva", "Bern", "Farel"]
        assert [item.name for item in kb.propose_entities(at_least=1, limit=1)] == ["Basel"]

    def test_spellings_of_one_name_are_one_proposal(self, kb: KnowledgeBase) -> None:
        kb.add([Entry("a", "We saw GENEVA and Geneva."), Entry("b", "We saw Geneva.")])
        assert [(item.name, item.count) for item in kb.propose_entities()] == [("Geneva", 3)]

    def test_nothing_is_added_until_a_person_accepts(self, kb: KnowledgeBase) -> None:
        kb.add([Entry("a", "We saw Geneva."), Entry("b", "They saw Geneva.")])
        assert [item.name for item in kb.propose_entities()] == ["Geneva"]
        assert [row.id for row in kb.gazetteer_listing()] == ["entity:person:Calvin"]
        kb.add_entity("location", ["Geneva"])
        assert kb.propose_entities() == []

    def test_hidden_entries_and_code_are_not_read(self, kb: KnowledgeBase) -> None:
        kb.add(
            [
                Entry("a", "We saw Geneva."),
                Entry("b", "They saw Geneva.", flagged=True),
                Entry("c", "They saw Geneva.", valid_to=1.0),
                Entry("d", "They saw Geneva.", kind="symbol"),
            ]
        )
        assert [item.passages for item in kb.propose_entities(at_least=1)] == [1]

    def test_more_entries_than_a_page_are_all_read(self, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("graphport.knowledge.discovery._PAGE", 2)
        kb.add([Entry(f"p{number}", "We saw Geneva.") for number in range(6)])
        assert [item.passages for item in kb.propose_entities()] == [6]

    def test_a_number_out_of_range_is_refused(self, kb: KnowledgeBase) -> None:
        with pytest.raises(InvalidQueryError, match="limit is 0"):
            kb.propose_entities(limit=0)
        with pytest.raises(InvalidQueryError, match="at_least is 0"):
            kb.propose_entities(at_least=0)


class TestPlugIn:
    def test_it_reads_the_passages_with_the_names_that_are_known(self, kb: KnowledgeBase) -> None:
        kb.add([Entry("a", "Calvin met Farel.")])
        proposer = Scripted(Sighting("a", 11, "Farel", "person"))
        assert kb.propose_entities(proposer, at_least=1) == [
            Proposal("Farel", "person", 1, 1, (Example("a", "Calvin met Farel."),))
        ]
        assert proposer.read == [Passage("a", "Calvin met Farel.", (Known(0, 6, ("person",)),))]

    def test_the_type_is_what_most_sightings_say(self, kb: KnowledgeBase) -> None:
        kb.add([Entry("a", "Trent, Trent, Trent and Trent")])
        seen = [(0, "location"), (7, "council"), (14, "council"), (24, "")]
        proposer = Scripted(*(Sighting("a", start, "Trent", kind) for start, kind in seen))
        assert [(item.type, item.count) for item in kb.propose_entities(proposer, at_least=1)] == [("council", 4)]

    def test_names_no_gazetteer_could_hold_and_known_ones_are_left_out(self, kb: KnowledgeBase) -> None:
        kb.add([Entry("a", "CALVIN ... !")])
        proposer = Scripted(*(Sighting("a", 0, name) for name in ("CALVIN", "...", "", "a\0b", "\ud800")))
        assert kb.propose_entities(proposer, at_least=1) == []

    @pytest.mark.parametrize(
        "sighting", [Sighting("a", 1, "Farel"), Sighting("b", 0, "Farel"), Sighting("a", -5, "Farel")]
    )
    def test_what_does_not_stand_there_is_an_error_that_names_the_proposer(
        self, kb: KnowledgeBase, sighting: Sighting
    ) -> None:
        kb.add([Entry("a", "Farel")])
        with pytest.raises(InvalidInputError, match=r"proposer 'scripted' saw 'Farel' at .* quotes the text"):
            kb.propose_entities(Scripted(sighting), at_least=1)

    def test_a_plugin_offers_one_by_the_hook(self, monkeypatch: pytest.MonkeyPatch) -> None:
        module = ModuleType("third_party_proposer")

        @hookimpl
        def graphport_proposers() -> Sequence[EntityProposer]:
            return [Scripted()]

        module.graphport_proposers = graphport_proposers  # type: ignore[attr-defined]  # a module made here
        monkeypatch.setitem(sys.modules, "third_party_proposer", module)
        text = EntryPoint("text", "graphport.knowledge.text_builder", PROJECT)
        found = Plugins([EntryPoint("x", "third_party_proposer", PROJECT), text]).proposers()
        assert {"capitals", "scripted"} <= found.keys()
        assert all(isinstance(item, EntityProposer) for item in found.values())

    def test_an_unknown_one_says_what_there_is(self, kb: KnowledgeBase) -> None:
        with pytest.raises(InvalidQueryError, match=r"no proposer 'llm'; installed: .*capitals"):
            kb.propose_entities("llm")


class TestCommands:
    @pytest.fixture
    def run(self, tmp_path: Path) -> Callable[..., Result]:
        notes = tmp_path / "notes"
        notes.mkdir()
        for number in range(2):
            (notes / f"{number}.md").write_text("# Note\n\nWe saw Geneva and Basel [sic].\n")

        def graphport(*arguments: str, status: int = 0) -> Result:
            runner = CliRunner(env={"COLUMNS": "200"})
            shown = runner.invoke(main, ["--home", str(tmp_path / "home"), *arguments])
            assert shown.exit_code == status, shown.output
            return shown

        graphport("index", str(notes), "--db", "trip", "--embedder", "none")
        return graphport

    def test_propose_lists_and_accept_adds_each_name(self, run: Callable[..., Result]) -> None:
        lines = run("gazetteer", "propose", "trip").stdout.splitlines()
        assert lines[1].split()[:3] == ["Basel", "2", "2"]
        assert "Basel [sic]" in lines[1]
        assert "graphport gazetteer accept trip" in lines[-1]
        assert run("gazetteer", "accept", "trip", "location", "Geneva", "Basel").stdout.splitlines() == [
            "entity:location:Geneva added",
            "entity:location:Basel added",
        ]
        assert "lacks" in run("gazetteer", "propose", "trip").stdout
        rows = json.loads(run("gazetteer", "list", "trip", "--json").stdout)
        assert [row["names"] for row in rows] == [["Geneva"], ["Basel"]]

    def test_propose_as_json_has_all_examples(self, run: Callable[..., Result]) -> None:
        rows = json.loads(run("gazetteer", "propose", "trip", "--json").stdout)
        assert [(row["name"], len(row["examples"])) for row in rows] == [("Basel", 2), ("Geneva", 2)]

    def test_one_bad_name_refuses_them_all(self, run: Callable[..., Result]) -> None:
        shown = run("gazetteer", "accept", "trip", "location", "Geneva", "...", status=1)
        assert "neither letter nor digit" in shown.output
        assert json.loads(run("gazetteer", "list", "trip", "--json").stdout) == []
