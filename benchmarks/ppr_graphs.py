"""A synthetic knowledge graph of any size: passages, entities, relations and synonyms, clustered by topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphport import GraphSnapshot

Index = NDArray[np.int64]
PASSAGES_OF_TEN = 2
"""Of ten nodes two are passages, the others entities."""


def knowledge_graph(n_nodes: int, *, seed: int = 0) -> GraphSnapshot:
    """About 5.2 edges a node; weights are counts (65 %) or similarities in 0.8 .. 1.0 (35 %).

    Passages are entries and mention entities of their topic, four in five, or of anywhere, by Zipf's law,
    which gives hubs (at a million nodes the largest has some 30,000 neighbors). Entities mentioned
    together are related; synonyms join entities of one topic.
    """
    rng = np.random.default_rng(seed)
    n_passages = n_nodes * PASSAGES_OF_TEN // 10
    n_entities = n_nodes - n_passages
    n_topics = max(1, n_nodes // 2000)
    mention = _mentions(rng, n_passages, n_entities, n_topics, per_passage=12)
    related = _related(rng, mention, n_nodes + n_nodes // 10)
    synonym = _synonyms(rng, n_entities, n_topics, 2 * n_nodes)
    source = np.concatenate([mention[0], related[0] + n_passages, synonym[0] + n_passages])
    target = np.concatenate([mention[1], related[1], synonym[1]]) + n_passages
    kind = np.repeat([0, 1, 2], [len(mention[0]), len(related[0]), len(synonym[0])])
    key = (source * n_nodes + target) * 3 + kind
    unique, count = np.unique(key, return_counts=True)
    kind, pair = unique % 3, unique // 3
    weight = np.where(kind == 2, rng.uniform(0.8, 1.0, len(unique)), count)
    place = rng.permutation(n_nodes)  # ids are scattered, as real ones are: no locality in memory for free
    width = len(str(n_nodes))
    ids = [f"n{i:0{width}d}" for i in range(n_nodes)]
    is_passage = np.zeros(n_nodes, dtype=bool)
    is_passage[place[:n_passages]] = True
    return GraphSnapshot.from_arrays(
        ids,
        place[pair // n_nodes],
        place[pair % n_nodes],
        weight,
        node_kind=is_passage.astype(np.int32),
        node_kinds=("entity", "passage"),
        edge_kind=kind,
        edge_kinds=("mentions", "related", "synonym"),
        entries=[node_id if entry else None for node_id, entry in zip(ids, is_passage.tolist(), strict=True)],
    )


def _zipf(rng: np.random.Generator, size: int, n: int) -> Index:
    """Ranks in [0, n), heavier at the front."""
    return np.minimum((n ** rng.random(size) - 1) * n / (n - 1) if n > 1 else np.zeros(size), n - 1).astype(np.int64)


def _in_topic(rng: np.random.Generator, topic: Index, n_entities: int, n_topics: int) -> Index:
    per_topic = max(1, n_entities // n_topics)
    return topic * per_topic + (per_topic * rng.random(len(topic)) ** 2).astype(np.int64)


def _mentions(
    rng: np.random.Generator, n_passages: int, n_entities: int, n_topics: int, *, per_passage: int
) -> tuple[Index, Index]:
    passage = np.repeat(np.arange(n_passages), per_passage)
    local = _in_topic(rng, passage * n_topics // n_passages, n_entities, n_topics)
    return passage, np.where(rng.random(len(passage)) < 0.8, local, _zipf(rng, len(passage), n_entities))


def _related(rng: np.random.Generator, mention: tuple[Index, Index], size: int) -> tuple[Index, Index]:
    """Entities that follow each other in a passage."""
    passage, entity = mention
    at = rng.integers(0, len(passage) - 1, size)
    at = at[passage[at] == passage[at + 1]]
    return entity[at], entity[at + 1]


def _synonyms(rng: np.random.Generator, n_entities: int, n_topics: int, size: int) -> tuple[Index, Index]:
    entity = rng.integers(0, n_entities, size)
    per_topic = max(1, n_entities // n_topics)
    return entity, np.minimum(entity // per_topic * per_topic + rng.integers(0, per_topic, size), n_entities - 1)
