"""What columns must be: checked, of the smallest type, and in canonical order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphport.errors import InvalidInputError
from graphport.model import Props, check_text

IndexArray = NDArray[np.int32 | np.int64]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def index_array(values: ArrayLike, n: int, what: str) -> IndexArray:
    """``values``, which must be rows of n things, in the smallest type; themselves if they have it."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int32)
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidInputError(f"{what} has shape {array.shape} and dtype {array.dtype}; it must be (m,) integers")
    if array.min() < 0 or array.max() >= n:
        raise InvalidInputError(f"{what} runs from {array.min()} to {array.max()}; with {n} ids it must be in [0, {n})")
    return array.astype(np.int32 if max(n, len(array)) < 2**31 else np.int64, copy=False)


def apart_from(given: object, column: NDArray[Any]) -> NDArray[Any]:
    """The column, copied if what the caller gave has a hand in it."""
    return column.copy() if column is given or column.base is not None else column


def codes_of(values: ArrayLike | None, n: int, n_kinds: int, what: str) -> NDArray[np.int32]:
    if values is None:
        if n and not n_kinds:
            raise InvalidInputError(f"{what}s is empty; give at least one kind")
        return np.zeros(n, dtype=np.int32)
    codes = index_array(values, n_kinds, what)
    if codes.shape != (n,):
        raise InvalidInputError(f"{what} has shape {codes.shape}; it must be ({n},)")
    return codes.astype(np.int32, copy=False)


def check_texts(texts: list[str], what: str) -> list[str]:
    """``texts`` itself if each is a plain str, else the texts as plain ones; raises as `check_text`."""
    # One join finds what is wrong anywhere at a fifth of the price of a call per text.
    try:
        joined = "".join(texts)
        joined.encode("utf-8")
    except (TypeError, UnicodeEncodeError):
        joined = "\0"
    if "\0" in joined or not all(texts):
        for text in texts:
            check_text(text, what)
    return texts if set(map(type, texts)) <= {str} else [check_text(text, what) for text in texts]


def canonical_kinds(
    table: Sequence[str], codes: NDArray[np.int32], what: str
) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Kinds that occur, sorted, and the codes into them."""
    table = [check_text(kind, what) for kind in table]
    if len(set(table)) != len(table):
        raise InvalidInputError(f"{what}s {list(table)!r:.80} hold one kind twice; each must be unique")
    used = np.zeros(len(table), dtype=bool)
    used[codes] = True
    kept = sorted(kind for kind, is_used in zip(table, used, strict=True) if is_used)
    if kept == table:
        return tuple(kept), codes
    recode = np.zeros(len(table), dtype=np.int32)
    place = {kind: code for code, kind in enumerate(kept)}
    for code, kind in enumerate(table):
        recode[code] = place.get(kind, 0)
    return tuple(kept), recode[codes]


def edge_order(
    src: IndexArray, dst: IndexArray, kind: NDArray[np.int32], n: int, n_kinds: int
) -> NDArray[np.int64] | None:
    """The stable order by (source, target, kind); None if it is the order already."""
    if len(src) < 2:
        return None
    if n * n * max(n_kinds, 1) < 2**63:  # one integer key: a radix sort instead of three passes
        key = src.astype(np.int64)
        key *= n
        key += dst
        key *= max(n_kinds, 1)
        key += kind
        return None if (key[:-1] <= key[1:]).all() else np.argsort(key, kind="stable")
    return np.lexsort((kind, dst, src))


def moved_props(props: Mapping[int, Props] | None, order: NDArray[np.int64] | None) -> Mapping[int, Props]:
    if not props:
        return {}
    if order is None:
        return dict(props)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return {int(rank[row]): value for row, value in props.items()}
