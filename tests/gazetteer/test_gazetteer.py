"""The two layers, what is refused, and that nothing gets lost between a file and back."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from graphport.errors import EntityConflictError, InvalidIdError, InvalidInputError
from graphport.knowledge.entities import Entity, entity
from graphport.knowledge.gazetteer import Gazetteer, GazetteerRow, ImportReport, SharedName, extract_entities
from graphport.knowledge.gazetteer_files import from_csv, from_yaml, to_csv, to_yaml

CALVIN = entity("person", ["John Calvin", "Calvin", "Jean Calvin"])
COUNCIL = entity("council", ["Council of Trent", "Trent"])
DECLARED = Gazetteer((CALVIN, COUNCIL, entity("location", "Geneva"), entity("doctrine", "Sola Fide")))


def test_mentions_are_counted_by_entity() -> None:
    text = "Calvin came to Geneva. JOHN CALVIN's Calvinism; the Council of Trent, at Trent. Sola\nfide."
    assert extract_entities(text, DECLARED) == {
        "entity:council:Council of Trent": 2,
        "entity:doctrine:Sola Fide": 1,
        "entity:location:Geneva": 1,
        "entity:person:John Calvin": 2,
    }


def test_a_name_inside_a_longer_one_is_not_counted_twice() -> None:
    assert extract_entities("the Council of Trent", DECLARED) == {"entity:council:Council of Trent": 1}


def test_a_shared_name_counts_for_every_entity_that_has_it() -> None:
    gazetteer = DECLARED.add_entity("location", "Trent")
    assert extract_entities("Trent", gazetteer) == {"entity:council:Council of Trent": 1, "entity:location:Trent": 1}


def test_a_text_without_mentions_gives_nothing() -> None:
    assert extract_entities("Nothing here.", DECLARED) == {}
    assert extract_entities("Calvin", Gazetteer()) == {}


def test_added_entities_are_listed_as_runtime_after_the_declared_ones() -> None:
    gazetteer = Gazetteer((CALVIN,)).add_entity("person", ["Ulrich Zwingli", "Zwingli"])
    assert gazetteer.listing() == [
        GazetteerRow("entity:person:John Calvin", "person", ("John Calvin", "Calvin", "Jean Calvin"), "declared"),
        GazetteerRow("entity:person:Ulrich Zwingli", "person", ("Ulrich Zwingli", "Zwingli"), "runtime"),
    ]
    assert extract_entities("Zwingli and Calvin", gazetteer) == {
        "entity:person:John Calvin": 1,
        "entity:person:Ulrich Zwingli": 1,
    }


def test_a_change_leaves_the_old_gazetteer_as_it_was() -> None:
    before = Gazetteer((CALVIN,))
    before.add_entity("person", "Zwingli")
    assert before == Gazetteer((CALVIN,))


def test_adding_again_changes_nothing() -> None:
    once = DECLARED.add_entity("person", ["Zwingli", "Ulrich Zwingli"])
    assert once.add_entity("person", ["Zwingli"]) is once
    assert once.add_entity("person", ["zwingli", "ULRICH  ZWINGLI"]) is once


def test_aliases_are_merged_in_the_order_they_came() -> None:
    gazetteer = DECLARED.add_entity("person", "Zwingli").add_entity("person", ["Zwingli", "Huldrych", "Ulrich"])
    assert gazetteer.runtime == (Entity("person", ("Zwingli", "Huldrych", "Ulrich")),)


@pytest.mark.parametrize("name", ["John Calvin", "john calvin", "JOHN  CALVIN"])
def test_a_declared_entity_is_neither_added_nor_removed_at_run_time(name: str) -> None:
    with pytest.raises(EntityConflictError, match="'entity:person:John Calvin' is declared in the config"):
        DECLARED.add_entity("person", [name, "Cauvin"])
    with pytest.raises(EntityConflictError, match="remove it from the config"):
        DECLARED.remove_entity("person", name)


def test_the_same_name_of_another_type_is_another_entity() -> None:
    gazetteer = DECLARED.add_entity("location", "John Calvin")
    assert [row.id for row in gazetteer.listing()][-1] == "entity:location:John Calvin"


def test_removing_takes_the_runtime_row_only_and_knows_it_by_its_canonical_name() -> None:
    gazetteer = DECLARED.add_entity("person", ["Zwingli", "Ulrich"])
    assert gazetteer.remove_entity("person", "Ulrich") is gazetteer
    assert gazetteer.remove_entity("location", "Zwingli") is gazetteer
    assert gazetteer.remove_entity("person", "ZWINGLI") == DECLARED


def test_a_runtime_row_that_the_config_declares_later_is_kept_shadowed_and_comes_back() -> None:
    runtime = (entity("person", ["Geneva", "Old name"]), entity("person", "Zwingli"))
    both = Gazetteer((entity("person", ["geneva", "New name"]),), runtime)
    assert [(row.names, row.origin, row.shadowed) for row in both.listing()] == [
        (("geneva", "New name"), "declared", False),
        (("Geneva", "Old name"), "runtime", True),
        (("Zwingli",), "runtime", False),
    ]
    assert [item.names for item in both.effective] == [("geneva", "New name"), ("Zwingli",)]
    assert extract_entities("Old name, New name", both) == {"entity:person:geneva": 1}
    assert Gazetteer((), both.runtime).effective == runtime
    assert both.remove_entity("person", "Geneva").runtime == runtime[1:]


def test_two_declared_rows_of_one_entity_are_one() -> None:
    gazetteer = Gazetteer((entity("person", ["A B", "B"]), entity("person", ["a b", "C"])))
    assert gazetteer.effective == (Entity("person", ("A B", "B", "C")),)


@pytest.mark.parametrize(
    "entity_type,names",
    [
        ("person", []),
        ("person", ""),
        ("person", ["Calvin", ""]),
        ("person", ["Cal\0vin"]),
        ("person", "  "),
        ("person", "..."),
        ("person", "—"),
        ("person", "\ud800"),
        ("", "Calvin"),
        ("per\0son", "Calvin"),
        ("a:b", "Calvin"),
    ],
)
def test_an_entity_without_a_usable_type_and_names_is_refused(entity_type: str, names: str | list[str]) -> None:
    with pytest.raises(InvalidIdError):
        DECLARED.add_entity(entity_type, names)


def test_ten_thousand_aliases_are_one_entity() -> None:
    aliases = [f"Alias {number}" for number in range(10_000)]
    gazetteer = Gazetteer().add_entity("person", ["Calvin", *aliases])
    assert extract_entities("Calvin, Alias 9999 and alias 17", gazetteer) == {"entity:person:Calvin": 3}
    assert from_csv(to_csv(gazetteer.effective)) == list(gazetteer.effective)


def test_names_that_mean_several_entities_are_reported() -> None:
    gazetteer = DECLARED.add_entity("location", ["Trento", "TRENT"]).add_entity("person", ["Jean", "jean calvin"])
    assert gazetteer.shared_names() == [
        SharedName("Jean Calvin", ("entity:person:Jean", "entity:person:John Calvin"), across_types=False),
        SharedName("Trent", ("entity:council:Council of Trent", "entity:location:Trento"), across_types=True),
    ]
    assert DECLARED.shared_names() == []


def test_an_alias_may_be_the_canonical_name_of_another() -> None:
    gazetteer = DECLARED.add_entity("person", ["Cauvin", "John Calvin"])
    assert extract_entities("John Calvin", gazetteer) == {"entity:person:Cauvin": 1, "entity:person:John Calvin": 1}
    assert [row.name for row in gazetteer.shared_names()] == ["John Calvin"]


def test_an_import_adds_extends_and_leaves_declared_entities_alone() -> None:
    start = DECLARED.add_entity("person", "Zwingli")
    rows = [entity("person", ["Zwingli", "Ulrich"]), entity("person", "Bucer"), entity("person", ["John Calvin", "X"])]
    gazetteer, report = start.add_all(rows)
    assert report == ImportReport(("entity:person:Bucer",), ("entity:person:Zwingli",), ("entity:person:John Calvin",))
    assert gazetteer.runtime == (Entity("person", ("Zwingli", "Ulrich")), Entity("person", ("Bucer",)))
    assert gazetteer.add_all(rows)[0] == gazetteer


printable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
rows = st.lists(st.tuples(st.sampled_from(["person", "größe", "a b"]), st.lists(printable, max_size=3)), max_size=4)


@given(rows)
@settings(max_examples=150, deadline=None)
def test_yaml_and_csv_give_back_what_was_written(raw: list[tuple[str, list[str]]]) -> None:
    entities = [entity(kind, ["x" + name for name in ["", *names]]) for kind, names in raw]
    assert from_yaml(to_yaml(entities)) == entities
    assert from_csv(to_csv(entities)) == entities


def test_an_exported_yaml_reads_as_the_configs_entities() -> None:
    assert yaml.safe_load(to_yaml([CALVIN])) == {
        "entities": [{"type": "person", "names": ["John Calvin", "Calvin", "Jean Calvin"]}]
    }


@pytest.mark.parametrize("text", ["", "entities:", "[]", "entities: []"])
def test_an_empty_yaml_holds_no_entities(text: str) -> None:
    assert from_yaml(text) == []


def test_csv_from_a_spreadsheet_is_read() -> None:
    text = '\ufeffType,Name,Alias\r\nperson,John Calvin,Calvin,\r\n,,\r\nlocation,"Geneva, old",,Genf\r\n'
    assert from_csv(text) == [entity("person", ["John Calvin", "Calvin"]), entity("location", ["Geneva, old", "Genf"])]


@pytest.mark.parametrize(
    "text,message",
    [
        ("entities: [", "not YAML"),
        ("entities: 3", "must be a list"),
        ("just text", "must be a list"),
        ("- {type: person, names: [Calvin]}\n- 3", "row 2 is 3"),
        ("- {type: person, names: [1517]}", "quote numbers"),
        ("- {type: person}", "row 1"),
        ("- {type: person, names: []}", "row 1: an entity of type 'person' has no name"),
        ("- {type: person, names: ['...']}", "row 1: name '...' has neither letter nor digit"),
        ("- {type: person, aliases: [Calvin]}", "row 1 has the unknown key 'aliases'"),
    ],
)
def test_a_bad_yaml_says_which_row_and_why(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        from_yaml(text)


@pytest.mark.parametrize(
    "text,message",
    [
        ("person,Calvin\nperson\n", "line 2: an entity of type 'person' has no name"),
        (",Calvin\n", "line 1: entity type is empty"),
        ('person,"Calvin\n', "line 1 is not CSV"),
        ("type,name\nperson,...\n", "line 2: name '...'"),
    ],
)
def test_a_bad_csv_says_which_line_and_why(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        from_csv(text)
