"""pyarrow, which brings no types: `Any` from here on, and named for what it is."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias

pa: Any = importlib.import_module("pyarrow")
pc: Any = importlib.import_module("pyarrow.compute")

Array: TypeAlias = Any
ChunkedArray: TypeAlias = Any
Schema: TypeAlias = Any
Table: TypeAlias = Any
