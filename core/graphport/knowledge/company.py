"""The company an entity keeps: a walk over chapters and the entities that are certain to be in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import graphport  # its ranking loads scipy and igraph when it is first asked for
from graphport.model import Edge, Node
from graphport.snapshot import GraphSnapshot

FLOOR = 0.3
"""What a candidate in no company at all keeps, against 1 to be shared."""


class Company:
    """Which entities are found together.

    ``settled`` counts mentions by (chapter, entity) that other evidence has settled; ``alone`` are, by
    chapter, the mentions of entities that no other candidate contests.
    """

    def __init__(self, settled: Mapping[tuple[str, str], int], alone: Mapping[str, Counter[str]]) -> None:
        self._known = frozenset(entity for _, entity in settled)
        self._alone = alone
        self._scores: dict[str, Mapping[str, float]] = {}
        chapters = sorted({chapter for chapter, _ in settled})
        nodes = [Node(f"c{chapter}", "chapter", f"c{chapter}") for chapter in chapters]
        nodes += [Node(f"e{entity}", "entity", f"e{entity}") for entity in sorted(self._known)]
        edges = [
            Edge(f"c{chapter}", f"e{entity}", "mentions", float(times)) for (chapter, entity), times in settled.items()
        ]
        self._graph = GraphSnapshot.from_rows(nodes, edges)

    def evidence(self, chapter: str, candidates: Sequence[str]) -> dict[str, float] | None:
        """0.3 plus each candidate's share of the walk from the chapter's uncontested entities.

        A candidate that is settled nowhere has no company yet and gets the average. None where fewer than
        two candidates have some, or the walk reaches none of them.
        """
        known = [entity for entity in candidates if entity in self._known]
        if len(known) < 2:
            return None
        scores = self._walk(chapter)
        total = sum(scores.get(f"e{entity}", 0.0) for entity in known)
        if total <= 0:
            return None
        shares = {entity: scores.get(f"e{entity}", 0.0) / total for entity in known}
        return {entity: FLOOR + shares.get(entity, 1 / len(known)) for entity in candidates}

    def _walk(self, chapter: str) -> Mapping[str, float]:
        if chapter not in self._scores:
            seeds = {f"e{entity}": float(times) for entity, times in self._alone[chapter].items()}
            self._scores[chapter] = graphport.personalized_pagerank(self._graph, seeds) if seeds else {}
        return self._scores[chapter]
