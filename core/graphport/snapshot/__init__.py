"""A graph as columns: what ranking runs on, what bulk loading takes, and how it keeps up with its storage."""

from __future__ import annotations

from graphport.snapshot.cache import snapshot_of
from graphport.snapshot.canonical import IndexArray, canonical_kinds
from graphport.snapshot.columns import GraphSnapshot
from graphport.snapshot.earlier import RowChanges
from graphport.snapshot.loadable import check_loadable
from graphport.snapshot.patch import Patch, edge_row, patch
from graphport.snapshot.splice import Splice

__all__ = [
    "GraphSnapshot",
    "IndexArray",
    "Patch",
    "RowChanges",
    "Splice",
    "canonical_kinds",
    "check_loadable",
    "edge_row",
    "patch",
    "snapshot_of",
]
