"""graphport: retrieval that follows a graph, over a graph that lives wherever you want it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from graphport.builders import Entry
from graphport.errors import GraphportError
from graphport.hookspecs import hookimpl
from graphport.model import Direction, Edge, EdgeKey, GraphCounts, Node, Subgraph
from graphport.registry import available_backends, open_storage
from graphport.snapshot import GraphSnapshot
from graphport.storage import Backend, Capability, GraphStorage

if TYPE_CHECKING:
    from graphport.config import load_config
    from graphport.knowledge.base import KnowledgeBase
    from graphport.knowledge.opening import open_knowledge_base
    from graphport.rank.adjacency import undirected_weighted_adjacency
    from graphport.rank.communities import leiden_communities, louvain_communities, modularity
    from graphport.rank.pagerank import personalized_pagerank
    from graphport.rank.topk import top_personalized_pagerank
    from graphport.retrieval.fusion import reciprocal_rank_fusion
    from graphport.retrieval.hits import Hit
    from graphport.retrieval.rerank import graph_rerank

# Ranking and the knowledge base bring scipy, igraph and tantivy: they are imported on first use, so that
# somebody who only stores a graph does not pay for them.
_LAZY = {
    "load_config": "graphport.config",
    "KnowledgeBase": "graphport.knowledge.base",
    "open_knowledge_base": "graphport.knowledge.opening",
    "leiden_communities": "graphport.rank.communities",
    "louvain_communities": "graphport.rank.communities",
    "modularity": "graphport.rank.communities",
    "personalized_pagerank": "graphport.rank.pagerank",
    "top_personalized_pagerank": "graphport.rank.topk",
    "undirected_weighted_adjacency": "graphport.rank.adjacency",
    "reciprocal_rank_fusion": "graphport.retrieval.fusion",
    "Hit": "graphport.retrieval.hits",
    "graph_rerank": "graphport.retrieval.rerank",
}

__version__ = "0.1.0"

__all__ = [
    "Backend",
    "Capability",
    "Direction",
    "Edge",
    "EdgeKey",
    "Entry",
    "GraphCounts",
    "GraphSnapshot",
    "GraphStorage",
    "GraphportError",
    "Hit",
    "KnowledgeBase",
    "Node",
    "Subgraph",
    "available_backends",
    "graph_rerank",
    "hookimpl",
    "leiden_communities",
    "load_config",
    "louvain_communities",
    "modularity",
    "open_knowledge_base",
    "open_storage",
    "personalized_pagerank",
    "reciprocal_rank_fusion",
    "top_personalized_pagerank",
    "undirected_weighted_adjacency",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'graphport' has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
