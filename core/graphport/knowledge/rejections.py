"""Names that a person looked at and does not want proposed again, kept in the truth."""

from __future__ import annotations

import json
from collections.abc import Iterable

from graphport.knowledge.truth import Truth
from graphport.matching import fold
from graphport.model import check_text

_KEY = "rejected_names"


def rejected_names(truth: Truth) -> dict[str, str]:
    """The names as they were written, each by its key: spellings that one text would mention have one key."""
    names: dict[str, str] = json.loads(truth.meta(_KEY) or "{}")
    return names


def reject_names(truth: Truth, names: Iterable[str]) -> int:
    """Keep ``names``, all or none; one that is there stays as it is. Returns how many are new.

    Raises `InvalidIdError` for what is no name: empty, with NUL, without letter or digit.
    """
    wanted = _by_key(names)
    with truth.write():
        known = rejected_names(truth)
        truth.set_meta(_KEY, json.dumps(wanted | known, ensure_ascii=False))
        return len(wanted.keys() - known.keys())


def reconsider_names(truth: Truth, names: Iterable[str]) -> int:
    """Forget that ``names`` were rejected; others are ignored. Returns how many were."""
    wanted = _by_key(names)
    with truth.write():
        known = rejected_names(truth)
        kept = {key: name for key, name in known.items() if key not in wanted}
        truth.set_meta(_KEY, json.dumps(kept, ensure_ascii=False))
        return len(known) - len(kept)


def _by_key(names: Iterable[str]) -> dict[str, str]:
    tidy = [" ".join(check_text(name, "name").split()) for name in ([names] if isinstance(names, str) else names)]
    return {fold(name): name for name in reversed(tidy)}
