"""A knowledge base whose graph is in files of this process's driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from knowledge_on_a_backend import KnowledgeOnABackend


class TestKuzu(KnowledgeOnABackend):
    @pytest.fixture
    def graph(self, driver: str) -> Mapping[str, Any]:
        return {"backend": "kuzu", "driver": driver, "buffer_pool_size": 256 * 2**20, "max_threads": 2}
