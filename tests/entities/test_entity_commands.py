"""``graphport entity`` and ``graphport entities``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from graphport import Entry, open_knowledge_base
from graphport.cli.main import main

BOOK = "# Of [Trent]\n\n## One\n\nThe Council of Trent sat. Then Trent spoke.\n\n## Two\n\nWe came to Trent.\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "trent.book.md").write_text(BOOK)
    with open_knowledge_base(tmp_path / "home" / "lib", embedder=None) as kb:
        kb.index([tmp_path / "trent.book.md"])
        kb.add([Entry("note[1]", "Trent, Trent.", title="Trent")])
        kb.add_entity("location", "Trent")
        kb.add_entity("council", ["Council of Trent", "Trent"])
    return tmp_path / "home"


def run(home: Path, *arguments: str, status: int = 0) -> Result:
    shown = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["--home", str(home), *arguments])
    assert shown.exit_code == status, shown.output
    return shown


def test_an_entity_is_shown_with_its_chapters_texts_and_what_decided(home: Path) -> None:
    shown = run(home, "entity", "lib", "TRENT", "--type", "council").stdout
    assert shown.startswith("Council of Trent (council): ")
    assert "Of [Trent]" in shown
    assert "note[1]" in shown
    assert ", in its title" in shown
    assert "Trent: 67% council:Council of Trent, other names nearby" in shown


def test_the_other_readings_of_the_name_are_shown(home: Path) -> None:
    lines = run(home, "entity", "lib", "trent").stdout.splitlines()
    at = lines.index("the name may also mean")
    assert [line.split()[-3] for line in lines[at + 2 :]] == ["location", "topic"]


def test_a_program_gets_json(home: Path) -> None:
    found = json.loads(run(home, "entity", "lib", "trent", "--limit", "1", "--json").stdout)
    assert (found["id"], len(found["chapters"]), found["in_chapters"]) == ("entity:council:Council of Trent", 1, 2)
    listed = json.loads(run(home, "entities", "lib", "--type", "council", "--json").stdout)
    assert [item["id"] for item in listed] == ["entity:council:Council of Trent"]


def test_what_is_not_there_says_where_to_look(home: Path) -> None:
    assert "no entity 'Rome'; see: graphport entities lib" in run(home, "entity", "lib", "Rome", status=1).stderr
    assert (
        "no entity 'Trent' of type 'person'" in run(home, "entity", "lib", "Trent", "--type", "person", status=1).stderr
    )
    assert "neither letter nor digit" in run(home, "entity", "lib", "--", "--", status=1).stderr
    assert run(home, "entities", "lib", "--type", "person").stdout == "no text mentions an entity\n"
