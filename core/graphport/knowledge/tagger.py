"""Proposers out of spaCy's named entity recognition, one for each model that is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points

from graphport.proposals import Passage, Sighting
from graphport.retrieval.names import is_common_word, possessive, words_of

TYPES = {
    "PERSON": "person", "PER": "person", "GPE": "location", "LOC": "location", "FAC": "location",
    "ORG": "institution", "NORP": "other", "EVENT": "event", "WORK_OF_ART": "book", "MISC": "other",
}  # fmt: skip
"""Entity types of spaCy's labels; other labels (dates, quantities) are no entities here."""
_NEEDED = frozenset({"transformer", "tok2vec", "ner"})


class Tagger:
    """Proposes what the spaCy model ``name`` takes for an entity, with its type."""

    def __init__(self, name: str) -> None:
        self.name = name

    def propose(self, passages: Iterable[Passage]) -> Iterator[Sighting]:
        """What the model sees, without an article before it; the model is loaded when the first is asked for."""
        import spacy

        model = spacy.load(self.name)
        model.select_pipes(enable=[pipe for pipe in model.pipe_names if pipe in _NEEDED])
        model.max_length = sys.maxsize  # spaCy's limit is for its parser, which is off
        for document, passage in model.pipe(((passage.text, passage) for passage in passages), as_tuples=True):
            for found in document.ents:
                place = _trimmed(passage.text, found.start_char, found.end_char)
                if found.label_ in TYPES and place is not None and not passage.is_known(*place):
                    yield Sighting(passage.entry, place[0], passage.text[slice(*place)], TYPES[found.label_])


def installed_taggers() -> list[Tagger]:
    """One for each spaCy model that is installed, by name; nothing of spaCy is imported."""
    return [Tagger(name) for name in sorted({point.name for point in entry_points(group="spacy_models")})]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without common words before the name and a possessive behind it; None if nothing is left."""
    words = words_of(text[start:end])
    while words and is_common_word(words[0][0]):
        del words[0]
    if not words:
        return None
    return start + words[0][1], start + words[-1][2] - len(possessive(words[-1][0]))
