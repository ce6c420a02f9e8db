"""The names that a query may mean: those of a graph's phrases and entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from graphport.knowledge.entities import Entity
from graphport.knowledge.vocabulary import ENTITY, PHRASE
from graphport.retrieval.pointing import carried_names, specificity
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage

Graph = GraphSnapshot | GraphStorage


def linkable_names(graph: Graph, entities: Iterable[Entity], *, leading_on: bool = False) -> Iterator[tuple[str, str]]:
    """Every ``(node, name)`` of the graph's phrases and entities, aliases of ``entities`` that are in it too.

    ``leading_on``: only phrases that an entry carries or that several nodes share; what one entry alone
    mentions leads nowhere that its words would not. Where the graph is a storage, it is read as a whole.
    """
    there: set[str] = set()
    for node, kind, name in _leading(graph) if leading_on and isinstance(graph, GraphSnapshot) else _every(graph):
        if kind == ENTITY:
            there.add(node)
        if kind in (PHRASE, ENTITY):
            yield node, name
    for entity in entities:
        if entity.id in there:
            yield from ((entity.id, name) for name in entity.names)


def _every(graph: Graph) -> Iterator[tuple[str, str, str]]:
    if isinstance(graph, GraphSnapshot):  # its columns: a row object each would cost more than all the rest
        kinds = map(graph.node_kinds.__getitem__, graph.node_kind.tolist())
        return zip(graph.ids, kinds, graph.names, strict=True)
    return ((node.id, node.kind, node.name) for node in graph.iter_nodes())


def _leading(graph: GraphSnapshot) -> Iterator[tuple[str, str, str]]:
    leads = carried_names(graph) | (specificity(graph) < 1)
    for row, (node, name) in enumerate(zip(graph.ids, graph.names, strict=True)):
        kind = graph.node_kind_of(row)
        if leads[row] or kind == ENTITY:
            yield node, kind, name
