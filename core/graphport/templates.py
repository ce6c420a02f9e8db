"""Sentence templates with two slots, such as ``"{subject} (wrote|writes) [the] {object}"``.

No regular expressions: a template stands for a finite list of word sequences, each compared word by word,
so that no template and no text can make matching slow. Words are equal as names are
(`graphport.matching`): whatever the case, a line break is as good as a space.

======================  ===========================================================================
``{subject}``           the first end of the relation, a name of the gazetteer
``{object}``            the other end
``{subject:person}``    an entity of that type only
``(is|was)``            one of these
``[the]``, ``[a|the]``  one of these, or nothing
======================  ===========================================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from graphport.errors import InvalidInputError
from graphport.matching import fold_tokens

MAX_WORDS = 12
"""Between, before or after the slots."""
MAX_FORMS = 256
"""Word sequences that the alternatives of one template may stand for."""

Tokens = tuple[str, ...]

MARKUP = frozenset("*_`\"'\u201c\u201d\u201e\u00ab\u00bb")
"""Quotes and emphasis, in templates as in texts, count for nothing: Calvin wrote the *Institutes*."""

_PART = re.compile(
    r"\{(?P<slot>[^{}]*)\}|\((?P<choice>[^{}()\[\]]*)\)|\[(?P<option>[^{}()\[\]]*)\]|(?P<words>[^{}()\[\]]+)"
)


@dataclass(frozen=True, slots=True)
class Form:
    """One word sequence of a template: ``before``, a slot, ``between``, the other slot, ``after``.

    ``subject_first`` tells which slot comes first; a type that is "" takes every entity.
    """

    before: Tokens
    between: Tokens
    after: Tokens
    subject_first: bool
    subject_type: str = ""
    object_type: str = ""


@dataclass(frozen=True, slots=True)
class _Slot:
    name: str
    type: str


def words_between(text: str) -> Tokens:
    """The folded words and punctuation of a text, without quotes and emphasis."""
    return tuple(token for token in fold_tokens(text) if token not in MARKUP)


def template_forms(template: str) -> tuple[Form, ...]:
    """Every word sequence that a template stands for, in order, each once.

    Raises `InvalidInputError` for a template without exactly one ``{subject}`` and one ``{object}``, with
    brackets that do not close or nest, without a word between the slots, and for one beyond `MAX_WORDS` or
    `MAX_FORMS`.
    """
    pieces = list(_pieces(template))
    if sorted(piece.name for piece in pieces if isinstance(piece, _Slot)) != ["object", "subject"]:
        raise _refused(template, "must hold {subject} and {object}, each once, and no other slot")
    choices: list[tuple[_Slot | Tokens, ...]] = [(piece,) if isinstance(piece, _Slot) else piece for piece in pieces]
    count = math.prod(len(choice) for choice in choices)
    if count > MAX_FORMS:
        raise _refused(template, f"stands for {count} word sequences; {MAX_FORMS} are the most")
    return tuple(dict.fromkeys(_form(template, sequence) for sequence in product(*choices)))


def _pieces(template: str) -> Iterator[_Slot | tuple[Tokens, ...]]:
    """Slots, and between them what may stand there."""
    end = 0
    for match in _PART.finditer(template):
        if match.start() != end:
            break
        end = match.end()
        if match["slot"] is not None:
            name, _, kind = match["slot"].partition(":")
            yield _Slot(name.strip(), kind.strip())
        elif match["words"] is not None:
            yield (words_between(match["words"]),)
        else:
            choices = tuple(words_between(words) for words in (match["choice"] or match["option"] or "").split("|"))
            yield choices if match["option"] is None else (*choices, ())
    if end != len(template):
        raise _refused(template, f"cannot be read from {template[end:]!r:.40} on; brackets must close and not nest")


def _form(template: str, sequence: Sequence[_Slot | Tokens]) -> Form:
    runs: list[list[str]] = [[]]
    slots: list[_Slot] = []
    for piece in sequence:
        if isinstance(piece, _Slot):
            slots.append(piece)
            runs.append([])
        else:
            runs[-1].extend(piece)
    before, between, after = map(tuple, runs)
    if max(len(before), len(between), len(after)) > MAX_WORDS:
        raise _refused(template, f"has more than {MAX_WORDS} words in a row; use fewer")
    if not any(char.isalnum() for token in between for char in token):
        raise _refused(template, "must have a word between {subject} and {object}, whichever choices are taken")
    types = {slot.name: slot.type for slot in slots}
    return Form(before, between, after, slots[0].name == "subject", types["subject"], types["object"])


def _refused(template: str, why: str) -> InvalidInputError:
    return InvalidInputError(f"template {template!r:.120} {why}")
