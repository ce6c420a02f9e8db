"""What the author of a backend needs: the contract, and the types of its fixtures.

Needs ``pip install 'graphport[testing]'`` (pytest, hypothesis and networkx).
"""

from __future__ import annotations

from importlib.util import find_spec

_missing = [name for name in ("pytest", "hypothesis", "networkx") if find_spec(name) is None]
if _missing:
    raise ModuleNotFoundError(
        f"graphport.testing needs {', '.join(_missing)}; pip install 'graphport[testing]'", name=_missing[0]
    )

import pytest  # noqa: E402 - after the word on what is missing

# Tests live outside test files here; without this their asserts would fail without showing the values.
pytest.register_assert_rewrite("graphport.testing.contract")

from graphport.testing.contract import GraphStorageContract  # noqa: E402 - after the rewriting is set up
from graphport.testing.contract.base import OpenStore, Peek, Poke, RoundTripCounter, RoundTrips, Rows  # noqa: E402 - as above

__all__ = ["GraphStorageContract", "OpenStore", "Peek", "Poke", "RoundTripCounter", "RoundTrips", "Rows"]
