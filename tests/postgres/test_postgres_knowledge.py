"""A knowledge base whose graph is in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest
from knowledge_on_a_backend import KnowledgeOnABackend


class _InPostgres(KnowledgeOnABackend):
    backend: ClassVar[str]
    server: ClassVar[str] = "newest"

    @pytest.fixture
    def graph(self, new_database: Callable[[str], str]) -> Mapping[str, Any]:
        return {"backend": self.backend, "dsn": new_database(self.server)}


class TestNewestAge(_InPostgres):
    backend = "age"


class TestOldAge(_InPostgres):
    backend = "age"
    server = "old"


class TestPlainTables(_InPostgres):
    backend = "postgres"
