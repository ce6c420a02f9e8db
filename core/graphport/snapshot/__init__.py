"""A graph as columns: what ranking runs on, what bulk loading takes, and how it keeps up with its storage."""

from __future__ import annotations

from graphport.snapshot.cache import snapshot_of
from graphport.snapshot.canonical import IndexArray, canonical_kinds
from graphport.snapshot.columns import GraphSnapshot

__all__ = ["GraphSnapshot", "IndexArray", "canonical_kinds", "snapshot_of"]
