"""The words around a name suggest its type, as the names that are declared teach."""

from __future__ import annotations

from graphport import Entry, load_config
from graphport.knowledge.opening import open_knowledge_base
from graphport.knowledge.suggested_types import SuggestedTypes
from graphport.proposals import Known, Passage

PLACE, PERSON = "They lived in Geneva for years.", "Then Farel said nothing."


def taught(*passages: Passage) -> SuggestedTypes:
    types = SuggestedTypes()
    assert list(types.reading(passages)) == list(passages)
    return types


def passages(text: str, name: str, *types: str, times: int = 10) -> list[Passage]:
    start = text.lower().index(name.lower())
    return [Passage(f"{name}{number}", text, (Known(start, start + len(name), types),)) for number in range(times)]


def place(text: str, name: str) -> tuple[str, int, int]:
    return text, text.index(name), text.index(name) + len(name)


def test_a_name_is_of_the_type_whose_names_have_such_words_around_them() -> None:
    types = taught(*passages(PLACE, "Geneva", "location"), *passages(PERSON, "Farel", "person"))
    assert types.suggest([place("They lived in Basel for years.", "Basel")]) == "location"
    assert types.suggest([place("Then Beza said nothing.", "Beza")]) == "person"


def test_words_that_say_nothing_or_both_suggest_no_type() -> None:
    types = taught(*passages(PLACE, "Geneva", "location"), *passages(PERSON, "Farel", "person"))
    assert types.suggest([place("Who saw Bucer twice today?", "Bucer")]) == ""
    both = [place("They lived in Bern for years.", "Bern"), place("Then Bern said nothing.", "Bern")]
    assert types.suggest(both) == ""
    assert types.suggest([]) == ""


def test_too_little_is_known_to_suggest_anything() -> None:
    basel = [place("They lived in Basel for years.", "Basel")]
    assert taught().suggest(basel) == ""
    assert taught(*passages(PLACE, "Geneva", "location")).suggest(basel) == ""  # the only type there is
    few = taught(*passages(PLACE, "Geneva", "location"), *passages(PERSON, "Farel", "person", times=9))
    assert few.suggest(basel) == ""


def test_names_of_several_types_and_ordinary_words_teach_nothing() -> None:
    basel = [place("They lived in Basel for years.", "Basel")]
    person = passages(PERSON, "Farel", "person")
    assert taught(*passages(PLACE, "Geneva", "council", "location"), *person).suggest(basel) == ""
    assert taught(*passages(PLACE.lower(), "geneva", "location"), *person).suggest(basel) == ""
    assert taught(*passages(PLACE.lower(), "geneva", "topic"), *person).suggest(basel) == "topic"


def test_proposals_of_a_knowledge_base_have_the_type_that_is_suggested() -> None:
    entities = [{"type": "location", "names": ["Geneva"]}, {"type": "person", "names": ["Farel"]}]
    config = load_config({"vector_dbs": [{"name": "memory", "entities": entities}]})
    with open_knowledge_base(":memory:", config=config, embedder=None) as kb:
        kb.add(Entry(f"place {number}", PLACE) for number in range(10))
        kb.add(Entry(f"person {number}", PERSON) for number in range(10))
        kb.add(
            [
                Entry("a", "They lived in Basel for years."),
                Entry("b", "They lived in Basel for years. And then Beza said nothing."),
                Entry("c", "And then Beza said nothing. Who saw Bucer twice today?"),
                Entry("d", "Who saw Bucer twice today?"),
            ]
        )
        found = {item.name: item.type for item in kb.propose_entities()}
    assert found == {"Basel": "location", "Beza": "person", "Bucer": ""}
