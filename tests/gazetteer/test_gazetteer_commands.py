"""A gazetteer goes to a file and comes back whole, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphport import open_knowledge_base
from graphport.cli.main import main
from graphport.errors import InvalidInputError
from graphport.knowledge.gazetteer_files import decoded, file_format, from_csv, from_yaml

CONFIG = """
vector_dbs:
  - name: thesis
    entities:
      - {type: person, names: [John Calvin, Calvin]}
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "graphport.yaml").write_text(CONFIG)
    with open_knowledge_base(tmp_path / "home" / "thesis", config=tmp_path / "graphport.yaml", embedder=None) as kb:
        kb.add_entity("location", ["Geneva", "Genf", "Genève"])
        kb.add_entity("work", ['The "Institutes", 1559', "Institutio; or"])
    with open_knowledge_base(tmp_path / "home" / "other", config=tmp_path / "graphport.yaml", embedder=None):
        return tmp_path


def run(home: Path, *arguments: str, status: int = 0, stdin: bytes | None = None) -> Result:
    before = ["--config", str(home / "graphport.yaml"), "--home", str(home / "home"), "gazetteer"]
    shown = CliRunner(env={"COLUMNS": "300"}).invoke(main, [*before, *arguments], input=stdin)
    assert shown.exit_code == status, shown.output
    return shown


def listed(home: Path, name: str) -> list[tuple[str, list[str], str]]:
    rows = json.loads(run(home, "list", name, "--json").stdout)
    return [(row["type"], row["names"], row["origin"]) for row in rows]


@pytest.mark.parametrize("name", ["g.yaml", "g.YML", "g.csv"])
def test_what_is_exported_imports_elsewhere_as_it_was(home: Path, name: str) -> None:
    file = str(home / name)
    assert "3 entities written" in run(home, "export", "thesis", file).stderr
    assert run(home, "import", "other", file).stdout == "3 added, 0 got further names, of 3 in the file\n"
    assert [row[:2] for row in listed(home, "other")] == [row[:2] for row in listed(home, "thesis")]
    again = run(home, "import", "other", file).stdout
    assert again == "0 added, 0 got further names, of 3 in the file\n"


def test_declared_entities_are_left_as_they_are_and_named(home: Path) -> None:
    (home / "g.csv").write_text("person,JOHN CALVIN,Cauvin\nlocation,Geneva,Ginevra\nperson,Zwingli\n")
    assert run(home, "import", "thesis", str(home / "g.csv")).stdout.splitlines() == [
        "1 added, 1 got further names, of 3 in the file",
        "1 declared in the config, left as they are: entity:person:John Calvin",
    ]
    assert listed(home, "thesis")[:2] == [
        ("person", ["John Calvin", "Calvin"], "declared"),
        ("location", ["Geneva", "Genf", "Genève", "Ginevra"], "runtime"),
    ]


@pytest.mark.parametrize(
    "name,text,message",
    [
        ("g.csv", "person,Zwingli\nperson,...\n", "line 2: name '...' has neither letter nor digit"),
        ("g.csv", "person,Zwingli\n,Bucer\n", "line 2: entity type is empty"),
        ("g.yaml", "- {type: person, names: [Zwingli]}\n- {type: person, names: [1517]}\n", "row 2 is"),
        ("g.yaml", "person: [Zwingli]\n", "must be a list"),
        ("g.yaml", "[" * 100_000, "is not YAML"),
        ("g.txt", "person,Zwingli\n", "say --format yaml or csv"),
    ],
)
def test_one_bad_row_and_nothing_is_imported(home: Path, name: str, text: str, message: str) -> None:
    (home / name).write_text(text)
    before = listed(home, "thesis")
    assert message in run(home, "import", "thesis", str(home / name), status=1).stderr
    assert listed(home, "thesis") == before


def test_runtime_rows_that_the_config_shadows_are_not_lost(home: Path) -> None:
    (home / "graphport.yaml").write_text(CONFIG + "      - {type: location, names: [geneva]}\n")
    shown = run(home, "export", "thesis", "-")
    assert "1 that the config shadows are left out (--runtime writes them)" in shown.stderr
    assert [item.names[0] for item in from_yaml(shown.stdout)] == ["John Calvin", "geneva", 'The "Institutes", 1559']
    rows = from_csv(run(home, "export", "thesis", "-", "--runtime", "--format", "csv").stdout)
    assert [item.names[0] for item in rows] == ["Geneva", 'The "Institutes", 1559']


def test_a_file_may_come_from_standard_input(home: Path) -> None:
    shown = run(home, "import", "other", "-", "--format", "csv", stdin="location,Köln\n".encode())
    assert shown.stdout == "1 added, 0 got further names, of 1 in the file\n"
    assert listed(home, "other") == [("location", ["Köln"], "runtime")]


def test_a_file_that_is_not_there_or_no_utf_8_is_refused(home: Path) -> None:
    assert "cannot be read" in run(home, "import", "other", str(home / "none.csv"), status=1).stderr
    (home / "g.csv").write_bytes("location,Köln\n".encode("latin-1"))
    assert "not UTF-8 (byte 10)" in run(home, "import", "other", str(home / "g.csv"), status=1).stderr


def test_removing_says_when_there_was_nothing_to_remove(home: Path) -> None:
    assert run(home, "remove", "thesis", "location", "Genf").stderr.startswith("nothing removed: no entity")
    assert run(home, "remove", "thesis", "location", "GENEVA").stderr == ""
    assert [row[1][0] for row in listed(home, "thesis")] == ["John Calvin", 'The "Institutes", 1559']


def test_an_export_ends_up_whole_or_not_at_all(home: Path) -> None:
    (home / "g.yaml").write_text("kept")
    assert "no knowledge base" in run(home, "export", "nobody", str(home / "g.yaml"), status=1).stderr
    assert (home / "g.yaml").read_text() == "kept"


@pytest.mark.parametrize("mark", [";", "\t"])
def test_other_separators_that_spreadsheets_write_are_read(mark: str) -> None:
    (item,) = from_csv(f"type{mark}name{mark}alias\nperson{mark}Calvin, J.{mark}Jean\n")
    assert (item.type, item.names) == ("person", ("Calvin, J.", "Jean"))


def test_a_spreadsheets_utf_16_is_read_and_its_marks_are_not() -> None:
    assert decoded("Köln".encode("utf-16")) == decoded("\ufeffKöln".encode()) == "Köln"


def test_the_format_is_what_is_asked_for_or_what_the_name_ends_with() -> None:
    assert [file_format(Path(name)) for name in ("a.yml", "A.CSV", "-")] == ["yaml", "csv", "yaml"]
    assert file_format(Path("a.yml"), "csv") == "csv"
    with pytest.raises(InvalidInputError, match="ends with none of"):
        file_format(Path("a.json"))


def test_ten_thousand_aliases_of_one_entity_come_back(home: Path) -> None:
    names = ["Calvin the Elder", *(f"Alias {number}" for number in range(10_000))]
    with open_knowledge_base(home / "home" / "other", embedder=None) as kb:
        kb.add_entity("person", names)
    for name in ("big.yaml", "big.csv"):
        run(home, "export", "other", str(home / name))
        read = from_csv if name.endswith("csv") else from_yaml
        (item,) = read((home / name).read_text())
        assert list(item.names) == names
