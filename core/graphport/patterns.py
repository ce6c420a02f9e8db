"""Relations between entities that the words of a text state: "Calvin wrote the Institutes".

Both ends are names of the gazetteer, found where the text mentions them; what must stand between and
around them is a template (`graphport.templates`). A name that several entities have relates all of them:
give the slot a type where that says too much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from graphport.errors import InvalidInputError
from graphport.matching import Matcher
from graphport.model import check_text
from graphport.templates import Form, Tokens, template_forms, words_between

CO_OCCURS = "co_occurs"
"""Between entities that passages mention together; counted, never stated."""
DEFAULT_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "is_a": ("{subject} (is|was) (a|an) {object}", "{subject}, (a|an) {object}"),
    "part_of": ("{subject} (is|was) [a] part of [the] {object}", "{subject}, [a] part of [the] {object}"),
    "attended": (
        "{subject} (attended|attends) [the] {object}",
        "{subject} (took|takes) part in [the] {object}",
        "{subject} (is|was) present at [the] {object}",
    ),
    "wrote": (
        "{subject} (wrote|writes|authored) [the] {object}",
        "{subject} (is|was) the author of [the] {object}",
        "{object}[, |is|was] written by {subject}",
    ),
}
"""What ``patterns: default`` stands for."""

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
_FAR = 240
"""Characters between two names, more than the words of any template take."""


@dataclass(frozen=True, slots=True)
class Relation:
    """``text[start:end]`` says that ``subject`` is so related to ``object``."""

    subject: str
    kind: str
    object: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Named:
    """Entities that ``text[start:end]`` names."""

    start: int
    end: int
    ids: tuple[str, ...]


class Patterns:
    """Templates by the kind of relation they state, ready to be looked for.

    Raises `InvalidInputError` for a template that cannot be read, and for the kind ``co_occurs``, which
    is counted and not stated.
    """

    def __init__(self, templates: Mapping[str, Sequence[str]]) -> None:
        self._forms: dict[Tokens, list[tuple[str, Form]]] = {}
        for kind, own in templates.items():
            if check_text(kind, "kind of relation") == CO_OCCURS:
                raise InvalidInputError(f"{CO_OCCURS!r} is the kind of relations that are counted; name another kind")
            for form in dict.fromkeys(form for template in own for form in template_forms(template)):
                self._forms.setdefault(form.between, []).append((kind, form))
        self._longest = max(map(len, self._forms), default=0)

    def find(self, text: str, matcher: Matcher, type_of: Callable[[str], str | None]) -> list[Relation]:
        """What ``text`` states of the entities it names, in order.

        ``type_of`` gives the type of an entity, None for what is none. No relation reaches over a blank line.
        """
        named = list(_named(text, matcher, type_of))
        found: list[Relation] = []
        for first, second, words in self._pairs(text, named):
            for kind, form in self._forms.get(words, ()):
                if _stands_between(form, text, first, second):
                    found += _relations(kind, form, first, second, type_of)
        return found

    def _pairs(self, text: str, named: Sequence[_Named]) -> Iterator[tuple[_Named, _Named, Tokens]]:
        """Names with those that follow near enough for the longest template, and the words between them."""
        for at, first in enumerate(named):
            for second in islice(named, at + 1, at + 2 + self._longest):
                gap = text[first.end : second.start]
                if len(gap) > _FAR or _PARAGRAPH.search(gap):
                    break
                yield first, second, words_between(gap)


def _named(text: str, matcher: Matcher, type_of: Callable[[str], str | None]) -> Iterator[_Named]:
    for match in matcher.find(text):
        ids = tuple(item for item in match.ids if type_of(item) is not None)
        if ids:
            yield _Named(match.start, match.end, ids)


def _stands_between(form: Form, text: str, first: _Named, second: _Named) -> bool:
    """Whether what stands before and after the two names is as the form has it."""
    before, after = len(form.before), len(form.after)
    if before and words_between(_PARAGRAPH.split(text[max(0, first.start - _FAR) : first.start])[-1])[-before:] != (
        form.before
    ):
        return False
    return not after or words_between(_PARAGRAPH.split(text[second.end : second.end + _FAR])[0])[:after] == form.after


def _relations(
    kind: str, form: Form, first: _Named, second: _Named, type_of: Callable[[str], str | None]
) -> Iterator[Relation]:
    subjects, objects = (first, second) if form.subject_first else (second, first)
    for subject in subjects.ids:
        for item in objects.ids:
            fits = form.subject_type in ("", type_of(subject)) and form.object_type in ("", type_of(item))
            if fits and subject != item:
                yield Relation(subject, kind, item, first.start, second.end)
