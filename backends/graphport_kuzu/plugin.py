"""The Kuzu backend: one engine, two drivers (`ladybug`, the successor, and `kuzu`). No driver is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

from graphport import Backend, Capability, GraphStorage, hookimpl
from graphport_kuzu.options import KuzuOptions


def _missing() -> str | None:
    if find_spec("pyarrow") is None:
        return "pyarrow is not installed"
    if find_spec("ladybug") is None and find_spec("kuzu") is None:
        return "neither of the drivers ladybug and kuzu is installed"
    return None


def _open(options: KuzuOptions) -> GraphStorage:
    from graphport_kuzu.storage import KuzuStorage

    return KuzuStorage(options)


KUZU = Backend(
    name="kuzu",
    open=_open,
    capabilities=frozenset({Capability.PERSISTENT, Capability.CYPHER, Capability.READ_ONLY, Capability.CHANGES}),
    options_model=KuzuOptions,
    install_hint="pip install 'graphport[kuzu]'",
    missing=_missing,
)


@hookimpl
def graphport_backends() -> Sequence[Backend]:
    return [KUZU]
