"""Which entity a name means; every text is small enough to judge by eye."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.knowledge.casing import opens_sentence
from graphport.knowledge.cues import TypeCues, cues_at, probabilities
from graphport.knowledge.disambiguation import Reading, resolve_mentions, resolved_mentions
from graphport.knowledge.entities import entity
from graphport.knowledge.gazetteer import Gazetteer, extract_entities

COUNCIL, TOWN = "entity:council:Council of Trent", "entity:location:Trent"
TRENT = Gazetteer(
    (
        entity("location", ["Trent"]),
        entity("council", ["Council of Trent", "Trent"]),
        entity("person", ["Paul III"]),
        entity("location", ["Adige"]),
    )
)


def readings(chapters: dict[str, str], gazetteer: Gazetteer, chapter: str, name: str) -> list[Reading]:
    text = chapters[chapter]
    found = resolve_mentions(chapters, gazetteer)[chapter]
    return [reading for reading in found if text[reading.start : reading.end] == name]


def test_a_name_that_one_entity_has_is_that_entity() -> None:
    (reading,) = resolve_mentions({"a": "It lies on the Adige."}, TRENT)["a"]
    assert (reading.id, reading.shares, reading.decided_by) == (
        "entity:location:Adige",
        {"entity:location:Adige": 1.0},
        ("only reading",),
    )


def test_another_name_in_the_chapter_decides_and_the_losing_reading_keeps_its_share() -> None:
    chapters = {"a": "The Council of Trent sat. Then Trent spoke.", "b": "We came to Trent."}
    (reading,) = readings(chapters, TRENT, "a", "Trent")
    # council: 1/4 (part of its name) x 8 (its full name is near) = 2; town: 1. Two of three is not
    # "more than half of the mentions" of Trent: there is one in each chapter.
    assert reading.id == COUNCIL
    assert reading.shares == pytest.approx({COUNCIL: 2 / 3, TOWN: 1 / 3})
    assert reading.decided_by == ("other names nearby",)


def test_without_other_evidence_the_canonical_name_decides() -> None:
    chapters = {"a": "The Council of Trent sat. Then Trent spoke.", "b": "We came to Trent.", "c": "Trent is old."}
    (reading,) = readings(chapters, TRENT, "b", "Trent")
    assert reading.shares == pytest.approx({TOWN: 0.8, COUNCIL: 0.2})
    assert reading.decided_by == ("canonical name",)


def test_usual_company_counts_in_chapters_where_it_is_absent() -> None:
    sat = "The Council of Trent sat. Then Trent spoke, and Trent went home."
    chapters = {"a": sat, "b": sat, "c": "In the year 1563 Trent ended."}
    (reading,) = readings(chapters, TRENT, "c", "Trent")
    # council: 1/4 x 8 = 2 against 1.
    assert reading.shares == pytest.approx({COUNCIL: 2 / 3, TOWN: 1 / 3})
    assert reading.decided_by == ("usual company",)


def test_the_other_entities_of_the_chapter_decide_where_no_other_name_is_near() -> None:
    gazetteer = Gazetteer(
        (
            entity("institution", ["Apple Inc.", "Apple"]),
            entity("book", ["The Apple Book", "Apple"]),
            entity("person", "Jobs"),
            entity("person", "Pomona"),
        )
    )
    chapters = {
        "a": "As Jobs built Apple Inc. there was more.",
        "b": "As Pomona wrote The Apple Book there was more.",
        "c": "We know that Jobs sold Apple then.",
        "d": "We know that Pomona sold Apple then.",
    }
    (by_jobs,) = readings(chapters, gazetteer, "c", "Apple")
    (by_pomona,) = readings(chapters, gazetteer, "d", "Apple")
    assert (by_jobs.id, by_jobs.decided_by) == ("entity:institution:Apple Inc.", ("company",))
    assert (by_pomona.id, by_pomona.decided_by) == ("entity:book:The Apple Book", ("company",))
    # The walk reaches only one of them, so the shares are 1.3 to 0.3.
    assert list(by_jobs.shares.values()) == pytest.approx([1.3 / 1.6, 0.3 / 1.6])


def test_the_words_around_tell_a_place_from_a_person_in_any_language() -> None:
    places, people = ["Ulm", "Köln", "Bonn"], ["Anna", "Otto", "Karl"]
    gazetteer = Gazetteer(
        (
            *(entity("location", name) for name in [*places, "Essen"]),
            *(entity("person", name) for name in [*people, "Essen"]),
        )
    )
    chapters = {
        "a": " ".join(f"Wir wohnen in {name} am Fluss." for name in places * 4),
        "b": " ".join(f"Dann sagte {name} zu uns etwas." for name in people * 4),
        "c": "Wir wohnen in Essen am Fluss. Dann sagte Essen zu uns etwas.",
    }
    found = readings(chapters, gazetteer, "c", "Essen")
    assert [reading.id for reading in found] == ["entity:location:Essen", "entity:person:Essen"]
    assert [reading.decided_by for reading in found] == [("words around",), ("words around",)]


def test_if_nothing_decides_it_is_the_one_with_more_names_then_the_one_declared_first() -> None:
    first, second = entity("person", ["x1", "Joseph"]), entity("person", ["x2", "Joseph"])
    third = entity("person", ["x3", "Joseph", "Zaphnath"])
    chapters = {"a": "And Joseph went."}
    (reading,) = resolve_mentions(chapters, Gazetteer((second, first)))["a"]
    assert (reading.id, reading.decided_by) == ("entity:person:x2", ("declared first",))
    assert list(reading.shares.values()) == [0.5, 0.5]
    (reading,) = resolve_mentions(chapters, Gazetteer((second, first, third)))["a"]
    assert (reading.id, reading.decided_by) == ("entity:person:x3", ("more names",))


def test_a_qualifier_in_brackets_is_no_part_of_the_name_and_its_names_are_evidence() -> None:
    gazetteer = Gazetteer(
        (
            entity("person", ["Pharaoh (of Moses)", "Pharaoh"]),
            entity("person", ["Pharaoh (of Joseph)", "Pharaoh"]),
            entity("person", "Joseph"),
            entity("person", "Moses"),
        )
    )
    chapters = {"a": "So Joseph stood before Pharaoh.", "b": "And Moses stood before Pharaoh."}
    (reading,) = readings(chapters, gazetteer, "a", "Pharaoh")
    assert (reading.id, reading.decided_by) == ("entity:person:Pharaoh (of Joseph)", ("other names nearby",))
    (reading,) = readings(chapters, gazetteer, "b", "Pharaoh")
    assert reading.id == "entity:person:Pharaoh (of Moses)"


def test_a_name_with_a_qualifier_is_canonical_without_it() -> None:
    gazetteer = Gazetteer(
        (entity("person", ["Ramses", "Pharaoh", "Usermaatre"]), entity("person", ["Pharaoh (II)", "Pharaoh"]))
    )
    # Ramses occurs nowhere, so the first of his names that does counts 1/4.
    (reading,) = resolve_mentions({"a": "And Pharaoh rose."}, gazetteer)["a"]
    assert reading.shares == pytest.approx({"entity:person:Pharaoh (II)": 0.8, "entity:person:Ramses": 0.2})


def test_an_ordinary_word_is_no_mention_of_the_king_whose_name_it_looks_like() -> None:
    gazetteer = Gazetteer((entity("person", ["So"]),))
    chapters = {"a": "He sent to So, king of Egypt. So it was, and so it is, so on and so forth. They met So there."}
    found = resolve_mentions(chapters, gazetteer)["a"]
    assert [reading.id for reading in found] == ["entity:person:So", *[None] * 4, "entity:person:So"]
    assert found[1].decided_by == ("ordinary word",)


def test_a_name_that_only_opens_sentences_is_a_name_unless_the_word_is_written_small_too() -> None:
    gazetteer = Gazetteer((entity("person", "Grace"), entity("person", "Otto"), entity("person", "Anna")))
    chapters = {"a": "Otto came with Anna. Grace is a gift, and grace is free."}
    assert [reading.id for reading in resolve_mentions(chapters, gazetteer)["a"]] == [
        "entity:person:Otto",
        "entity:person:Anna",
        None,
        None,
    ]


def test_common_nouns_may_be_written_small() -> None:
    gazetteer = Gazetteer((entity("doctrine", "Sola Fide"), entity("person", "Anna")))
    found = resolve_mentions({"a": "Then Anna taught sola fide."}, gazetteer)["a"]
    assert [reading.id for reading in found] == ["entity:person:Anna", "entity:doctrine:Sola Fide"]


def test_texts_without_capitals_are_not_judged_by_case() -> None:
    gazetteer = Gazetteer((entity("person", "Calvin"),))
    assert [reading.id for reading in resolve_mentions({"a": "calvin, and calvin"}, gazetteer)["a"]] == [
        "entity:person:Calvin",
        "entity:person:Calvin",
    ]


def test_an_alias_written_small_needs_another_name_in_the_chapter() -> None:
    gazetteer = Gazetteer((entity("institution", ["Parliament of England", "the house"]), entity("person", "Pym")))
    chapters = {"a": "There Pym saw the Parliament of England and the house rose.", "b": "There Pym bought the house."}
    assert [reading.id for reading in readings(chapters, gazetteer, "a", "the house")] == [
        "entity:institution:Parliament of England"
    ]
    assert [reading.id for reading in readings(chapters, gazetteer, "b", "the house")] == [None]


def test_weights_are_mentions_divided_by_their_shares() -> None:
    chapters = {"a": "The Council of Trent sat. Then Trent spoke.", "b": "We came to Trent."}
    weights = resolved_mentions(resolve_mentions(chapters, TRENT)["a"])
    assert weights == pytest.approx({COUNCIL: 1 + 2 / 3, TOWN: 1 / 3})


def test_nothing_gives_nothing() -> None:
    assert resolve_mentions({}, TRENT) == {}
    assert resolve_mentions({"a": ""}, TRENT) == {"a": []}
    assert resolve_mentions({"a": "Trent"}, Gazetteer()) == {"a": []}
    assert resolved_mentions([]) == {}


WORDS = ["Trent", "trent", "Council of Trent", "Paul III", "Adige", "the", "in", ".", "\n\n"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@given(st.dictionaries(st.sampled_from("abc"), texts, max_size=3))
@settings(max_examples=60, deadline=None)
def test_every_mention_is_read_once_and_its_shares_sum_to_one(chapters: dict[str, str]) -> None:
    found = resolve_mentions(chapters, TRENT)
    assert found == resolve_mentions(dict(reversed(chapters.items())), TRENT)
    for chapter, text in chapters.items():
        assert [(reading.start, reading.end) for reading in found[chapter]] == [
            (match.start, match.end) for match in TRENT.matcher.find(text)
        ]
        assert {reading.id for reading in found[chapter]} - {None} <= extract_entities(text, TRENT).keys()
        for reading in found[chapter]:
            assert reading.id is None or sum(reading.shares.values()) == pytest.approx(1)
            assert list(reading.shares.values()) == sorted(reading.shares.values(), reverse=True)


@pytest.mark.parametrize(
    "before,expected",
    [
        ("", True),
        ("He said. ", True),
        ("He said: ", True),
        ("He said! \u201c", True),
        ("He said\n\n", True),
        ("# ", True),
        ("text\n- ", True),
        ("text\n## ", True),
        ("He said, ", False),
        ("He said ", False),
        ("He said\n", False),
        ("(he) \u201c", False),
        ("one \u2014 ", False),
    ],
)
def test_where_a_sentence_opens(before: str, expected: bool) -> None:
    assert opens_sentence(before + "So", len(before)) is expected


def test_cues_are_the_two_words_on_either_side() -> None:
    text = "He went to Trent, in May"
    assert cues_at(text, 11, 16) == ("went", "to", ",", "in")
    assert cues_at("Trent", 0, 5) == ("", "", "", "")


def test_naive_bayes_agrees_with_hand_computed_probabilities() -> None:
    place, person = ("", "in", "", ""), ("", "said", "", "")
    cues = TypeCues([("location", place)] * 10 + [("person", person)] * 12 + [("event", place)] * 9)
    assert cues.types == {"location", "person"}  # nine events teach nothing
    # location: (10.5/11)^4; person: (12.5/13)^3 x (0.5/13)
    found = probabilities(cues.evidence(place), ["location", "person"])
    odds = (10.5 / 11) ** 4 / ((12.5 / 13) ** 3 * (0.5 / 13))
    assert odds > 19  # so doubt bounds it
    assert found == {"location": 0.95, "person": 0.05}
    even = probabilities({"a": 0.0, "b": 0.0, "c": 9.0}, ["a", "b"])
    assert even == {"a": 0.5, "b": 0.5}
    assert probabilities(cues.evidence(place), ["location", "event"]) is None
