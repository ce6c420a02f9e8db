"""Values that break stores: each one broke some real engine, driver or query builder."""

from __future__ import annotations

import random
from typing import Any

from graphport.model import INT64_MAX, INT64_MIN


def _noise(length: int) -> str:
    """Text that no index can compress: a PostgreSQL btree entry ends at 2,704 bytes."""
    return "".join(chr(code) for code in random.Random(63).choices(range(0x21, 0x7F), k=length))  # noqa: S311 - no secret


TEXTS: tuple[str, ...] = (
    "plain", "two words", " leading", "trailing ", "tab\there", "line\nbreak", "\r\n", "\x01", "\x7f", "\x1f",
    "'", "it's", "''", '"', '""', "\\", "\\'", "\\n", "\\u0041", "\\x00", "`", "``", "´", "a,b", "a|b", "a/b", "a.b",
    "$$", "$q0$", "$1", ":name", "?", "%", "%s", "%(id)s", "%%", "{}", "{0}", "{id}", "${HOME}", "#{x}", "[a]", "(a)",
    "::vertex", "::edge", "x::numeric", "--", "/*", "*/", ";", "'; DROP TABLE nodes; --", "..",
    "null", "NULL", "None", "true", "0", "00", "1", "1.0", "1e5", "-0", "NaN", "inf", "[]", '{"a":1}', "\\N", "\\.",
    "é", "e\u0301", "Å", "\u212b", "ﬁ", "fi", "ß", "ss", "SS", "ẞ", "İ", "i", "I", "ı", "case", "Case", "CASE",
    "名前", "검색", "אבג", "\u200fא", "ا\u064e", "😀", "👩\u200d👩\u200d👧", "𝕏",
    "\uff61", "\ufffd", "\ufeff", "\u200b", "\u2028", "\u00a0", "\x85",
    "id", "kind", "name", "entry", "source", "target", "weight", "props", "graph", "order", "group",
    "_id", "_ID", "node", "Node", "Edge",
    "x" * 63, "x" * 64, "x" * 63 + "y", "x" * 64 + "y", "é" * 31 + "aé", "é" * 32 + "b", "長" * 22,
    _noise(10_240), _noise(10_239) + "\u00e9",
)  # fmt: skip
"""Valid everywhere, and all different: pairs differ only in case, in normalisation, or after 63 bytes."""

REFUSED_TEXTS: list[Any] = ["", "\0", "a\0b", "\ud800", "a\udfff", "\ud83d\ude00", 1, b"a", None]
"""What is no id, name or kind."""
REFUSED_ENTRIES: list[Any] = REFUSED_TEXTS[:-1]
"""What is no entry, nor a filter: those may be None."""

FLOATS: tuple[float, ...] = (
    0.0, -0.0, 5e-324, 2.2250738585072009e-308, 2.2250738585072014e-308, 0.1 + 0.2, 0.1, 1 / 3, 1.0, 1e5, 1e15, 1e16,
    9007199254740993.0, 1e21, 1e22, 1e23, 123456789.12345679, 1e-7, 1e300, 1.7976931348623157e308,
)  # fmt: skip

INTEGERS: tuple[int, ...] = (0, 1, -1, 2**31, 2**53 + 1, -(2**53) - 1, INT64_MAX - 1, INT64_MAX, INT64_MIN)

PROPS: dict[str, Any] = {
    "": "the empty key",
    "text": "'\"\\`$$ %s {} ::vertex \n 名前 😀 e\u0301",
    "empty text": "",
    "true": True,
    "false": False,
    "null": None,
    "one": 1,
    "one point nought": 1.0,
    "floats": list(FLOATS),
    "integers": list(INTEGERS),
    "empty": {},
    "none": [],
    "nested": {"a": [1, 1.0, True, "1", None, [], {}, {"b": {"c": [[[-0.0]]]}}]},
    "Case": 1,
    "case": 2,
}

REFUSED_PROPS: tuple[Any, ...] = (
    {"x": float("nan")}, {"x": float("inf")}, {"x": [-float("inf")]}, {"x": INT64_MAX + 1}, {"x": INT64_MIN - 1},
    {"x": "a\0b"}, {"x": "\ud800"}, {"a\0b": 1}, {"\udc00": 1}, {1: "x"}, {"x": {"y": {2: 3}}},
    {"x": b"bytes"}, {"x": {1, 2}}, {"x": object()}, [], None, "text",
)  # fmt: skip

REFUSED_WEIGHTS: tuple[Any, ...] = (
    float("nan"),
    float("inf"),
    -float("inf"),
    -1.0,
    -5e-324,
    "1",
    None,
    "heavy",
    b"1",
    10**400,
)
