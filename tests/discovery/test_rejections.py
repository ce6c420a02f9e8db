"""What a person rejected is not proposed again, until that person thinks otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from graphport import Entry, KnowledgeBase, open_knowledge_base
from graphport.cli.main import main
from graphport.errors import InvalidIdError
from graphport.proposals import Passage, Sighting

TEXTS = ["We saw Geneva and Basel.", "From Basel we went to Geneva."]


@pytest.fixture
def kb() -> Iterator[KnowledgeBase]:
    with open_knowledge_base(":memory:", embedder=None) as opened:
        opened.add(Entry(f"e{number}", text) for number, text in enumerate(TEXTS))
        yield opened


def proposed(kb: KnowledgeBase) -> list[str]:
    return [proposal.name for proposal in kb.propose_entities()]


def test_a_rejected_name_is_not_proposed_again_in_whatever_case(kb: KnowledgeBase) -> None:
    assert proposed(kb) == ["Basel", "Geneva"]
    assert kb.reject_proposals(["BASEL", " basel "]) == 1
    assert proposed(kb) == ["Geneva"]
    assert kb.rejected_proposals() == ["BASEL"]
    assert kb.reject_proposals("Basel") == 0
    assert kb.reconsider_proposals(["basel", "nowhere"]) == 1
    assert kb.rejected_proposals() == []
    assert proposed(kb) == ["Basel", "Geneva"]


def test_no_proposer_may_come_back_to_it(kb: KnowledgeBase) -> None:
    class Model:
        name = "model"

        def propose(self, passages: Iterable[Passage]) -> Iterable[Sighting]:
            return (Sighting(passage.entry, passage.text.find("Basel"), "Basel", "location") for passage in passages)

    kb.reject_proposals(["Basel"])
    assert kb.propose_entities(Model()) == []


def test_a_rejected_name_may_still_be_added_by_hand(kb: KnowledgeBase) -> None:
    kb.reject_proposals(["Basel"])
    kb.add_entity("location", "Basel")
    found = kb.find_entity("Basel")
    assert found is not None
    assert found.texts == 2


def test_one_that_is_no_name_refuses_them_all(kb: KnowledgeBase) -> None:
    for bad in ("", "...", "a\0b"):
        with pytest.raises(InvalidIdError):
            kb.reject_proposals(["Basel", bad])
    assert kb.rejected_proposals() == []


def test_what_was_rejected_is_kept_and_two_at_once_lose_nothing(tmp_path: Path) -> None:
    def reject(part: int) -> None:
        with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
            for number in range(10):
                kb.reject_proposals([f"Name {part} {number}"])

    reject(0)
    threads = [Thread(target=reject, args=(part,)) for part in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_knowledge_base(tmp_path / "kb", embedder=None) as kb:
        assert len(kb.rejected_proposals()) == 30


def test_the_command_rejects_lists_and_takes_back(tmp_path: Path) -> None:
    def graphport(*arguments: str, status: int = 0) -> str:
        shown = CliRunner().invoke(main, ["--home", str(tmp_path), "gazetteer", *arguments])
        assert shown.exit_code == status, shown.output
        return shown.output

    with open_knowledge_base(tmp_path / "trip", embedder=None) as kb:
        kb.add(Entry(f"e{number}", text) for number, text in enumerate(TEXTS))
    assert "no name was rejected" in graphport("reject", "trip")
    assert "1 rejected" in graphport("reject", "trip", "[b]Basel[/b]")
    assert graphport("reject", "trip").strip() == "[b]Basel[/b]"
    assert "1 to be proposed again" in graphport("reject", "trip", "--undo", "[b]basel[/b]")
    assert "say which" in graphport("reject", "trip", "--undo", status=2)
