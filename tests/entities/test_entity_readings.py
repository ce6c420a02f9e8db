"""What a shared name is taken for in a knowledge base; the shares are worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphport import Entry, KnowledgeBase, open_knowledge_base
from graphport.knowledge import readings
from graphport.knowledge.disambiguation import Reading, resolve_mentions
from graphport.knowledge.entities import entity
from graphport.knowledge.entity_queries import FoundEntity
from graphport.knowledge.gazetteer import Gazetteer
from graphport.knowledge.precedence import CuratedFirst
from graphport.matching import Matcher

COUNCIL, TOWN = "entity:council:Council of Trent", "entity:location:Trent"


@pytest.fixture
def kb() -> Any:
    with open_knowledge_base(":memory:", embedder=None) as opened:
        opened.add(
            [
                Entry("a", "The Council of Trent sat. Then Trent spoke."),
                Entry("b", "We came to Trent."),
                Entry("c", "x"),
            ]
        )
        opened.add_entity("location", "Trent")
        opened.add_entity("council", ["Council of Trent", "Trent"])
        yield opened


def found(kb: KnowledgeBase, name: str, entity_type: str | None = None) -> FoundEntity:
    answer = kb.find_entity(name, entity_type)
    assert answer is not None
    return answer


def counts(answer: FoundEntity) -> dict[str, float]:
    return {mention.entry: mention.count for mention in answer.mentions}


def test_the_losing_reading_keeps_its_share_and_the_answer_says_what_decided(kb: KnowledgeBase) -> None:
    # In a, the council has 1/4 (part of its name) x 8 (its full name is near) = 2 against 1; in b 1/4 against 1.
    council, town = found(kb, "trent", "council"), found(kb, "trent", "location")
    assert counts(council) == pytest.approx({"a": 1 + 2 / 3, "b": 1 / 5})
    assert counts(town) == pytest.approx({"b": 4 / 5, "a": 1 / 3})
    (in_a,) = council.mentions[0].decisions
    assert (in_a.written, in_a.times, in_a.decided_by) == ("Trent", 1, ("other names nearby",))
    assert in_a.shares == pytest.approx({COUNCIL: 2 / 3, TOWN: 1 / 3})
    assert list(in_a.shares) == [COUNCIL, TOWN]
    (in_b,) = council.mentions[1].decisions
    assert in_b.decided_by == ("canonical name",)


def test_all_readings_are_told_the_most_mentioned_first(kb: KnowledgeBase) -> None:
    answer = found(kb, "Trent")
    assert (answer.id, [item.id for item in answer.others]) == (COUNCIL, [TOWN])
    assert answer.count == pytest.approx(1 + 2 / 3 + 1 / 5)
    assert answer.others[0].mentions == pytest.approx(1 / 3 + 4 / 5)
    assert [item.id for item in kb.list_entities()] == [COUNCIL, TOWN]
    assert sum(item.mentions for item in kb.list_entities()) == pytest.approx(3)  # of three names in the texts


def test_the_facts_keep_every_reading_in_full(kb: KnowledgeBase) -> None:
    found(kb, "Trent")
    weights = {(edge.source, edge.target): edge.weight for edge in kb.storage.iter_edges(kinds=["mentions"])}
    assert weights["entry:a", COUNCIL] == 2
    assert weights["entry:a", TOWN] == weights["entry:b", TOWN] == weights["entry:b", COUNCIL] == 1


def test_an_entity_without_a_shared_name_counts_as_the_facts_do(kb: KnowledgeBase) -> None:
    kb.add([Entry("d", "Trent lies on the Adige. So it is; so the Adige flows.")])
    kb.add_entity("river", ["Adige", "So"])
    assert counts(found(kb, "Adige")) == {"d": 4}  # "so", too: nobody contests it


def test_an_ordinary_word_is_no_mention_of_a_name_it_looks_like(kb: KnowledgeBase) -> None:
    kb.add([Entry("d", "He sent to So, king of Egypt."), Entry("e", "And so it was, so on and so forth.")])
    kb.add_entity("person", "So")
    assert counts(found(kb, "So")) == {"d": 1, "e": 3}
    kb.add_entity("location", "So")  # now it must be decided what is meant
    assert counts(found(kb, "So", "person")) == {"d": 0.5}
    assert found(kb, "So", "person").texts == 1


def test_a_title_is_read_by_its_text(kb: KnowledgeBase) -> None:
    kb.add([Entry("d", "The Council of Trent sat here.", title="Trent")])
    assert counts(found(kb, "Trent", "council"))["d"] > counts(found(kb, "Trent", "location"))["d"] > 0
    (mention,) = [item for item in found(kb, "Trent", "council").mentions if item.entry == "d"]
    assert mention.titled
    assert [decision.written for decision in mention.decisions] == ["Trent"]


def test_the_other_names_of_a_chapter_decide_in_all_its_passages(tmp_path: Path) -> None:
    filler = "Many words follow on this. " * 50
    one = f"The Council of Trent sat. {filler}\n\nThen Trent spoke. {filler}"
    text = f"# H\n\n## One\n\n{one}\n\n## Two\n\nWe saw Trent.\n"
    (tmp_path / "h.book.md").write_text(text)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        kb.add_entity("location", "Trent")
        kb.add_entity("council", ["Council of Trent", "Trent"])
        council = found(kb, "Trent", "council")
        assert counts(council) == pytest.approx({"h.book.md#1.1": 1, "h.book.md#1.2": 2 / 3, "h.book.md#2.1": 1 / 5})
        assert [chapter.count for chapter in council.chapters] == pytest.approx([1 + 2 / 3, 1 / 5])
        (decision,) = council.chapters[0].decisions
        assert decision.shares == pytest.approx({COUNCIL: 2 / 3, TOWN: 1 / 3})


def test_a_heading_is_read_by_its_chapter(tmp_path: Path) -> None:
    text = "# H\n\n## Of Trent\n\nThe Council of Trent sat.\n\n## Two\n\nNothing.\n"
    (tmp_path / "h.book.md").write_text(text)
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.index([tmp_path])
        kb.add_entity("location", "Trent")
        kb.add_entity("council", ["Council of Trent", "Trent"])
        (chapter,) = found(kb, "Trent", "location").chapters
        # 1/4 x 8 (its full name is near) x 8 (and usually is) = 16 against 1
        assert chapter.count == pytest.approx(1 / 17)
        assert found(kb, "Trent", "council").chapters[0].count == pytest.approx(1 + 16 / 17)


def test_an_entity_that_no_mention_means_is_not_listed(kb: KnowledgeBase) -> None:
    kb.add([Entry("d", "And so it was. He sent to Rome and Ulm.")])
    for name in ("So", "Rome"):
        kb.add_entity("person", name)
        kb.add_entity("location", name)
    assert [item.name for item in kb.list_entities("person")] == ["Rome"]


def test_the_readings_told_are_bounded_as_everything_is(kb: KnowledgeBase) -> None:
    kb.add_entity("person", ["Jane Trent", "Trent"])
    assert len(found(kb, "Trent").others) == 2
    answer = kb.find_entity("Trent", limit=1)
    assert answer is not None
    assert len(answer.others) == 1


def test_the_shares_of_several_mentions_are_their_mean_best_first() -> None:
    made = readings.Readings()
    for shares in ({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0.5, "c": 0.4, "b": 0.1}):
        made.add(["n"], "Trent", Reading(0, 5, shares, ("canonical name",)), ["a", "b", "c"], title=False)
    (decision,) = made.decisions("n", "b")
    assert (decision.times, list(decision.shares.items())) == (2, [("a", 0.5), ("c", 0.3), ("b", 0.2)])


def test_a_longer_title_takes_the_span_here_as_in_the_facts(kb: KnowledgeBase) -> None:
    kb.add([Entry("d", "He sang.", title="Trent Reznor"), Entry("e", "Trent Reznor came to Trent.")])
    assert counts(found(kb, "Trent", "location"))["e"] == pytest.approx(4 / 5)


def test_only_entities_of_the_gazetteer_are_read() -> None:
    gazetteer = Gazetteer((entity("location", "Trent"),))
    matcher = Matcher({"Trent": ["entity:location:Trent"], "Rome": ["phrase:rome"]})
    (reading,) = resolve_mentions({"a": "From Rome to Trent"}, gazetteer, matcher=matcher)["a"]
    assert reading.id == "entity:location:Trent"


def test_nothing_is_read_while_no_name_is_shared(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a text was read")

    kb.remove_entity("council", "Council of Trent")
    monkeypatch.setattr(readings, "resolve_mentions", refuse)
    monkeypatch.setattr(readings, "searched", refuse)
    assert counts(found(kb, "Trent")) == {"a": 2, "b": 1}
    kb.add_entity("person", ["Calvin", "JC"])
    kb.add_entity("person", ["Jesus Christ", "JC"])  # shared, and in no text
    assert [item.id for item in kb.list_entities()] == [TOWN]
    assert found(kb, "JC").texts == 0


def test_what_was_read_is_kept_while_nothing_changes(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = 0
    real = resolve_mentions

    def counted(chapters: dict[str, str], gazetteer: Gazetteer, **options: Any) -> Any:
        nonlocal runs
        runs += 1
        return real(chapters, gazetteer, **options)

    monkeypatch.setattr(readings, "resolve_mentions", counted)
    for _ in range(3):
        found(kb, "Trent")
        kb.list_entities()
    assert runs == 1
    kb.add([Entry("d", "Trent")])
    assert "d" in counts(found(kb, "Trent"))
    assert runs == 2


def test_hidden_texts_decide_nothing(kb: KnowledgeBase) -> None:
    kb.flag("a")
    assert counts(found(kb, "Trent", "location")) == pytest.approx({"b": 4 / 5})


@pytest.mark.parametrize(
    "text,written",
    [
        ("the Council of Trent sat", ["Council of Trent"]),  # not "the Council", then "Trent"
        ("the Council sat", ["the Council"]),
        ("Trent Reznor played in Trent", ["Trent Reznor", "Trent"]),  # the longer name holds the curated one
        ("the Council of Trent Reznor", ["Council of Trent"]),
    ],
)
def test_a_title_takes_nothing_from_a_curated_name(text: str, written: list[str]) -> None:
    forms = {"The Council": ["phrase:1"], "Trent Reznor": ["phrase:2"], "Council of Trent": ["c"], "Trent": ["t"]}
    matcher = CuratedFirst(forms, {"c", "t"}.__contains__)
    assert [text[match.start : match.end] for match in matcher.find(text)] == written
