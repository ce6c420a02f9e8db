"""The in-process backend, and the default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from graphport import Backend, Capability, GraphStorage, hookimpl
from graphport.storage import BackendOptions


class MemoryOptions(BackendOptions):
    path: Path | None = None
    busy_timeout: float = Field(default=5.0, ge=0, le=86_400, allow_inf_nan=False)


def _open(options: MemoryOptions) -> GraphStorage:
    from graphport_memory.storage import MemoryStorage

    return MemoryStorage(
        options.path, graph=options.graph, read_only=options.read_only, busy_timeout=options.busy_timeout
    )


MEMORY = Backend(
    name="memory",
    open=_open,
    capabilities=frozenset(
        {Capability.PERSISTENT, Capability.CONCURRENT_WRITERS, Capability.READ_ONLY, Capability.CHANGES}
    ),
    options_model=MemoryOptions,
)


@hookimpl
def graphport_backends() -> Sequence[Backend]:
    return [MEMORY]
