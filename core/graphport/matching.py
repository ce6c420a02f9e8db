"""Finding many names in a text at once: the one matcher of the gazetteer, query linking and containment.

Texts and names are cut into the same tokens, each token is folded and replaced by one code point, and an
Aho-Corasick automaton runs over the codes. Hence a match begins and ends at token borders, offsets are
those of the original text whatever folding did to its length, and the cost hardly depends on how many
names there are. Names that come and go while others are kept cost what they are themselves: a small second
automaton holds them until it has grown (`graphport.layered`).

**Borders** are the word boundaries of UAX #29, with the exceptions a reader expects of names. An
apostrophe separates: "Calvin's" and "l'Église" mention Calvin and Église. A hyphen separates, as in
UAX #29: "Calvin-like" mentions Calvin; "Calvinism" does not. An underscore inside a word joins
("parse_date" is one word) and around it does not ("_Calvin_" mentions Calvin). A point or comma between
digits separates. Ideographs, Hiragana, Thai, Lao, Khmer and Burmese letters are words of their own, so
that names are found in languages that put no spaces between words.

**Equality** is the canonical caseless match of Unicode (D145): NFC and NFD spellings and all letter cases
are equal ("Straße", "STRASSE"). Beyond that, the dot of "i̇" is dropped ("İstanbul", "istanbul"),
typographic apostrophes and hyphens equal ' and -, soft hyphens and other invisible characters are
ignored, and any white space, a line break too, is as good as another. An accent always counts: "Cafe"
is not in "Café".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Self

from ahocorasick_rs import AhoCorasick

from graphport.errors import InvalidIdError, InvalidInputError
from graphport.layered import Layered
from graphport.model import check_text

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
    "\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"  # Hiragana, ideographs
)
"""Letters of scripts that put no spaces between words, as ranges of a character class."""

_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_INVISIBLE = "\u00ad\u200c\u200d\u2060\ufeff"  # soft hyphen, joiners, BOM
_NOT_LETTERS = "\u02bc²³¹\u2070-\u2079\u2080-\u2089"  # \w to Python; an apostrophe and footnote marks to a reader
_REMOVE_INVISIBLE = dict.fromkeys(map(ord, _INVISIBLE))
_PUNCTUATION = {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"}
_DOTTED_I = "i\u0307"

_UNKNOWN = "\0"
_SURROGATES_START, _SURROGATES = 0xD800, 0x800
_LAST_CODE_POINT = 0x10FFFF
_MEMO_SIZE = 500_000


@dataclass(frozen=True, slots=True)
class Match:
    """``text[start:end]`` is a form of each of ``ids`` (sorted, at least one)."""

    start: int
    end: int
    ids: tuple[str, ...]


class Matcher:
    """Finds the forms of many things in a text.

    ``forms`` maps a surface form to the ids of what it names; forms that are equal (see the module) are
    one form with all their ids, and a form without ids is not looked for. Immutable and safe to share between threads.

    Raises `InvalidIdError` for a form or id that is empty, holds NUL or a lone surrogate, and for a form
    without any letter or digit.
    """

    __slots__ = ("_fresh", "_frozen", "_ids")

    def __init__(self, forms: Mapping[str, Iterable[str]]) -> None:
        ids_by_name: dict[str, set[str]] = {}
        for form, ids in forms.items():
            name = fold(form)
            checked = {check_text(item, f"id of {form!r:.80}") for item in ids}
            if checked:
                ids_by_name.setdefault(name, set()).update(checked)
        self._ids: Layered[str, tuple[str, ...]] = Layered(
            {name: tuple(sorted(ids)) for name, ids in ids_by_name.items()}
        )
        self._frozen = _Automaton(self._ids.frozen)
        self._fresh = _Automaton(())

    def changed(self, names: Mapping[str, Collection[str]]) -> Self:
        """One that looks for some names otherwise: ``names`` maps folded ones (`fold`) to all their ids, () for none.

        It answers like one made anew, and costs what changes: what has not changed is shared.
        """
        other = copy(self)
        other._ids = self._ids.changed({name: tuple(sorted(ids)) or None for name, ids in names.items()})
        if other._ids.frozen is not self._ids.frozen:
            other._frozen = _Automaton(other._ids.frozen)
        other._fresh = _Automaton(name for name, ids in other._ids.changes.items() if ids is not None)
        return other

    def __len__(self) -> int:
        """How many different forms are looked for."""
        return len(self._ids)

    def __contains__(self, name: object) -> bool:
        """Whether a folded name is looked for."""
        return name in self._ids

    def shared_forms(self) -> list[tuple[str, ...]]:
        """The ids that have a form in common, sorted, for each form that has more than one."""
        return [ids for ids in self._ids.values() if len(ids) > 1]

    def find(self, text: str) -> list[Match]:
        """The matches in order: of those that start first the longest, then on behind it. None overlap."""
        return self.find_in(split(text))

    def find_in(self, parts: Sequence[str]) -> list[Match]:
        """`find`, in a text that is `split` already."""
        found = self._longest(parts[1::2])
        if not found:
            return []
        ends = list(accumulate(map(len, parts)))
        return [Match(ends[2 * first], ends[2 * last - 1], self._ids[name]) for first, last, name in found]

    def _longest(self, tokens: Sequence[str]) -> list[tuple[int, int, str]]:
        """First token, the one behind the last, and the name of each match."""
        changes = self._ids.changes
        hits = [hit for hit in self._frozen.occurrences(tokens) if hit[2] not in changes]
        hits += self._fresh.occurrences(tokens)
        hits.sort(key=lambda hit: (hit[0], -hit[1]))
        kept: list[tuple[int, int, str]] = []
        behind = 0
        for hit in hits:
            if hit[0] >= behind:
                kept.append(hit)
                behind = hit[1]
        return kept


class _Automaton:
    """Finds every occurrence of some folded names, overlapping ones too."""

    __slots__ = ("_automaton", "_codes", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        vocabulary: dict[str, str] = {}
        patterns = ["".join(_code(vocabulary, token) for token in name.split(" ")) for name in self._names]
        self._codes = _Codes(vocabulary)
        self._automaton = AhoCorasick(patterns, store_patterns=False)

    def occurrences(self, tokens: Sequence[str]) -> list[tuple[int, int, str]]:
        """First token, the one behind the last, and the name, in any order."""
        if not self._names:
            return []
        codes = "".join(map(self._codes.__getitem__, tokens))
        hits = self._automaton.find_matches_as_indexes(codes, overlapping=True)
        return [(first, last, self._names[name]) for name, first, last in hits]


def split(text: str) -> list[str]:
    """A text as gap, token, gap, ..., token, gap; its tokens are as written."""
    return _splitter(text)(text)


def fold(name: str) -> str:
    """A key that is equal for two names exactly if a text that mentions one mentions the other: its folded tokens."""
    return " ".join(form_tokens(name))


def form_tokens(name: str) -> list[str]:
    """The folded tokens of a name; raises `InvalidIdError` for a name no text could mention."""
    tokens = fold_tokens(check_text(name, "name"))
    if not any(char.isalnum() for token in tokens for char in token):
        raise InvalidIdError(f"name {name!r:.80} has neither letter nor digit, so no text can mention it; spell it out")
    return tokens


def fold_tokens(text: str) -> list[str]:
    """The folded tokens of any text, punctuation too: words between names are compared by them."""
    return [_fold_token(token) for token in split(text)[1::2]]


class _Codes(dict[str, str]):
    """Token as written -> its code point, folding each spelling once; bounded by forgetting all."""

    def __init__(self, vocabulary: Mapping[str, str]) -> None:
        super().__init__()
        self._vocabulary = vocabulary

    def __missing__(self, token: str) -> str:
        if len(self) >= _MEMO_SIZE:
            self.clear()
        code = self[token] = self._vocabulary.get(_fold_token(token), _UNKNOWN)
        return code


def _code(vocabulary: dict[str, str], token: str) -> str:
    code = vocabulary.get(token)
    if code is None:
        number = len(vocabulary) + 1
        number += _SURROGATES if number >= _SURROGATES_START else 0
        if number > _LAST_CODE_POINT:
            raise InvalidInputError(f"the names hold more than {len(vocabulary)} different words; use fewer")
        code = vocabulary[token] = chr(number)
    return code


def _fold_token(token: str) -> str:
    if token.isascii():
        return token.lower()
    bare = unicodedata.normalize("NFD", token.translate(_REMOVE_INVISIBLE))
    folded = unicodedata.normalize("NFD", bare.casefold())
    return _PUNCTUATION.get(folded, folded.replace(_DOTTED_I, "i"))


def _splitter(text: str) -> Callable[[str], list[str]]:
    plain_characters, plain, full = _tokenizers()
    return (plain if plain_characters.issuperset(text) else full).split


@cache
def _tokenizers() -> tuple[frozenset[str], re.Pattern[str], re.Pattern[str]]:
    r"""Characters for which the plain pattern does, the plain pattern, and the one for all texts.

    ``\w+`` knows neither marks nor scripts; knowing them costs a factor of 2.5 (33 against 13 MB/s).
    """
    marks = _mark_ranges()
    letter = rf"[^\W_{UNSPACED}{_KATAKANA}{_NOT_LETTERS}]"
    full = re.compile(
        rf"({letter}+(?:[{marks}{_INVISIBLE}]+{letter}*|_+{letter}+)*"
        rf"|[{UNSPACED}][{marks}{_INVISIBLE}]*"
        rf"|[{_KATAKANA}][{_KATAKANA}{marks}{_INVISIBLE}]*"
        rf"|[^\s{_INVISIBLE}\u200b][{marks}]*)"
    )
    special = re.compile(f"[_{UNSPACED}{_KATAKANA}{_NOT_LETTERS}{_INVISIBLE}{marks}\u200b]")
    below_symbols = map(chr, range(0x2100))
    return frozenset(char for char in below_symbols if not special.match(char)), re.compile(r"(\w+|[^\w\s])"), full


def _mark_ranges() -> str:
    """Combining marks as ranges of a character class; Python's ``re`` has no class for them."""
    planes = (range(0x300, 0x20000), range(0xE0100, 0xE01F0))
    marks = [code for plane in planes for code in plane if unicodedata.category(chr(code))[0] == "M"]
    starts = [marks[0]] + [after for before, after in pairwise(marks) if after != before + 1]
    ends = [before for before, after in pairwise(marks) if after != before + 1] + [marks[-1]]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
