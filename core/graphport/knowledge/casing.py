"""What a capital letter says: inside a sentence it marks a name, at its start it is only grammar."""

from __future__ import annotations

import re

_OPENERS = " \t\r\n\"'([{\u2018\u201c\u201e\u00ab\u2039*_#>-\u2013\u2014\u2026"
_ENDS = frozenset(".!?:;\u3002\uff01\uff1f")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n[^\n]*$|\n[ \t]*[#>*-]+[ \t][^\n]*$")
_LOOK_BACK = 200


def opens_sentence(text: str, position: int) -> bool:
    """Whether the word at ``position`` is the first of a sentence, paragraph, heading or list item.

    Quotes, brackets and dashes before it do not count. After a colon or semicolon a capital says as little
    as after a full stop.
    """
    before = text[max(0, position - _LOOK_BACK) : position]
    bare = before.rstrip(_OPENERS)
    if not bare:
        return True
    gap = before[len(bare) :]
    return bare[-1] in _ENDS or _BLANK_LINE.search(gap) is not None
