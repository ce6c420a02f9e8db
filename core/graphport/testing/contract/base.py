"""How a backend plugs into the contract: its attributes, its fixtures, and what it may not touch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import pytest

from graphport.model import Edge, Node
from graphport.registry import open_storage
from graphport.storage import Backend, BackendOptions, Capability, GraphStorage


class Rows(NamedTuple):
    """What an engine holds of one graph, in any order."""

    nodes: Sequence[Node]
    edges: Sequence[Edge]


@dataclass
class RoundTrips:
    """How many requests went to the engine."""

    count: int = 0


Open = Callable[..., GraphStorage]
"""Opens a handle onto the one store of a test, with further options: ``open_store(graph="other")``."""
Peek = Callable[[GraphStorage], Rows]
"""Reads all rows of ``storage.graph`` from the engine, by none of the storage's methods."""
Poke = Callable[[GraphStorage, Sequence[Node], Sequence[Edge]], None]
"""Writes new rows into ``storage.graph`` in the engine, by none of the storage's methods."""
RoundTripCounter = Callable[[GraphStorage], AbstractContextManager[RoundTrips]]
"""Counts the requests of that handle to its engine while the block runs."""


@dataclass(frozen=True)
class OpenStore:
    """An `Open` that can be sent to a new process."""

    name: str
    opener: Callable[[Any], GraphStorage]
    capabilities: frozenset[Capability]
    options_model: type[BackendOptions]
    options: Mapping[str, Any]

    def __call__(self, **more: Any) -> GraphStorage:
        backend = Backend(self.name, self.opener, self.capabilities, self.options_model)
        return open_storage(backend, **{**self.options, **more})


class ContractBase:
    """Attributes and fixtures; `GraphStorageContract` documents them."""

    backend: ClassVar[Backend]
    capabilities: ClassVar[frozenset[Capability]]
    known_gaps: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        promised: dict[str, type] = {}
        for owner in reversed(cls.__mro__):
            for name in vars(owner):
                if name.startswith("test_") and promised.setdefault(name, owner) is not owner:
                    raise TypeError(
                        f"{owner.__name__}.{name} overrides a test of {promised[name].__name__}; a contract test "
                        f"cannot be replaced: name yours differently, or list the gap in known_gaps"
                    )
        unknown = sorted(name for name in cls.known_gaps if name.partition("[")[0] not in promised)
        if unknown:
            raise TypeError(f"{cls.__name__}.known_gaps names {unknown}; the contract has no such test")

    @pytest.fixture(autouse=True)
    def _known_gap(self, request: pytest.FixtureRequest) -> None:
        reason = self.known_gaps.get(request.node.name) or self.known_gaps.get(request.function.__name__)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.fixture
    def options(self) -> Mapping[str, Any]:
        """Options that name one store, fresh for each test; those of a store that needs none are empty."""
        return {}

    @pytest.fixture
    def impatient(self) -> Mapping[str, Any]:
        """Options of a handle that waits no longer than a moment for a lock."""
        return {"busy_timeout": 0.2}

    @pytest.fixture
    def opener(self, options: Mapping[str, Any]) -> OpenStore:
        """`open_store` for a new process, which closes its handles itself."""
        backend = self.backend
        return OpenStore(backend.name, backend.open, backend.capabilities, backend.options_model, options)

    @pytest.fixture
    def open_store(self, opener: OpenStore) -> Iterator[Open]:
        """Opens further handles onto the test's store; they are closed at its end."""
        with ExitStack() as stack:

            def open_store(**more: Any) -> GraphStorage:
                return stack.enter_context(opener(**more))

            yield open_store

    @pytest.fixture
    def storage(self, open_store: Open) -> GraphStorage:
        """A handle onto the default graph of a new, empty store."""
        return open_store()

    @pytest.fixture
    def peek(self) -> Peek:
        raise NotImplementedError("give the contract a fixture 'peek': storage -> Rows(nodes, edges) from the engine")

    @pytest.fixture
    def poke(self) -> Poke:
        raise NotImplementedError("give the contract a fixture 'poke': (storage, nodes, edges) -> into the engine")

    @pytest.fixture
    def round_trips(self) -> RoundTripCounter:
        raise NotImplementedError("give the contract a fixture 'round_trips': storage -> a context that counts")
