"""The contract on the driver of this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from kuzu_engine import count_round_trips, peek, poke

from graphport import Capability
from graphport.testing import GraphStorageContract, Peek, Poke, RoundTripCounter
from graphport_kuzu.plugin import KUZU


class TestKuzu(GraphStorageContract):
    backend = KUZU
    capabilities = frozenset({Capability.PERSISTENT, Capability.CYPHER, Capability.READ_ONLY, Capability.CHANGES})

    @pytest.fixture
    def options(self, options: dict[str, Any]) -> Mapping[str, Any]:
        return options

    @pytest.fixture
    def peek(self) -> Peek:
        return peek

    @pytest.fixture
    def poke(self) -> Poke:
        return poke

    @pytest.fixture
    def round_trips(self) -> RoundTripCounter:
        return count_round_trips
