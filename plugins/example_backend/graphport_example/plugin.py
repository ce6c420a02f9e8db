"""What graphport finds through the entry point. It is imported on every start, so it imports no driver."""

from __future__ import annotations

from collections.abc import Sequence

from graphport import Backend, GraphStorage, hookimpl
from graphport.storage import BackendOptions


def _open(options: BackendOptions) -> GraphStorage:
    from graphport_example.storage import ExampleStorage

    return ExampleStorage(options.graph)


EXAMPLE = Backend(name="example", open=_open, capabilities=frozenset(), options_model=BackendOptions)


@hookimpl
def graphport_backends() -> Sequence[Backend]:
    return [EXAMPLE]
