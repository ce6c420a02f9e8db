"""What a user may set."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import ByteSize, Field

from graphport.storage import BackendOptions

DriverName = Literal["ladybug", "kuzu"]


class KuzuOptions(BackendOptions):
    """``path`` is a folder that holds any number of graphs, each with a sub-folder of its own.

    ``buffer_pool_size`` caps the engine's memory (bytes, or text such as ``512MB``; by default 2 GiB or a
    quarter of the machine's memory, whichever is less), ``max_threads`` its threads (by default one per
    core). The first handle of a process onto a graph sets both for all of them. ``busy_timeout`` is how
    many seconds a writer waits for another one; by default it does not wait.
    """

    path: Path
    driver: DriverName = "ladybug"
    buffer_pool_size: ByteSize | None = Field(default=None, ge=64 * 2**20)
    max_threads: int | None = Field(default=None, ge=1, le=1_024)
    busy_timeout: float = Field(default=0.0, ge=0, le=86_400, allow_inf_nan=False)
