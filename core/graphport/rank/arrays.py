"""Array types of the ranking code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Index = NDArray[np.integer[Any]]
"""Rows or positions, int32 or int64."""
Mask = NDArray[np.bool_]
