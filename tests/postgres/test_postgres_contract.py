"""The contract on AGE 1.8, on AGE 1.5 and on plain tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from postgres_engine import count_round_trips, peek_age, peek_tables, poke_age, poke_tables

from graphport.storage import Capability
from graphport.testing import GraphStorageContract, Peek, Poke, RoundTripCounter
from graphport_postgres.plugin import AGE, POSTGRES

COMMON = frozenset({Capability.PERSISTENT, Capability.CONCURRENT_WRITERS, Capability.READ_ONLY, Capability.CHANGES})


class _OnServer(GraphStorageContract):
    server: str

    @pytest.fixture
    def options(self, new_database: Callable[[str], str]) -> Mapping[str, Any]:
        return {"dsn": new_database(self.server), "pool_max": 12}

    @pytest.fixture
    def round_trips(self) -> RoundTripCounter:
        return count_round_trips


class _OnAge(_OnServer):
    backend = AGE
    capabilities = COMMON | {Capability.CYPHER}

    @pytest.fixture
    def peek(self, options: Mapping[str, Any]) -> Peek:
        return peek_age(options["dsn"])

    @pytest.fixture
    def poke(self, options: Mapping[str, Any]) -> Poke:
        return poke_age(options["dsn"])


class TestNewestAge(_OnAge):
    server = "newest"


class TestOldAge(_OnAge):
    server = "old"


class TestPlainTables(_OnServer):
    server = "newest"
    backend = POSTGRES
    capabilities = COMMON

    @pytest.fixture
    def peek(self, options: Mapping[str, Any]) -> Peek:
        return peek_tables(options["dsn"])

    @pytest.fixture
    def poke(self, options: Mapping[str, Any]) -> Poke:
        return poke_tables(options["dsn"])
