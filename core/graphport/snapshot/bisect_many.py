"""Binary search for many values at once: a step of it is a step for every one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def bisect_many(column: NDArray[Any], values: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.int64]:
    """(k,) the first row from ``low`` to ``high`` where the column, sorted in between, is not below its value."""
    low, high = low.astype(np.int64), high.astype(np.int64)
    while (open_ := np.flatnonzero(low < high)).size:
        middle = (low[open_] + high[open_]) // 2
        below = column[middle] < values[open_]
        low[open_[below]] = middle[below] + 1
        high[open_[~below]] = middle[~below]
    return low
