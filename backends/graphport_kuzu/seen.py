"""What a handle sees of the graph in one session: what is committed, through the writes of its transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphport.model import Direction, Edge, EdgeKey, Node, own_row
from graphport.pending import PendingWrites
from graphport_kuzu import reads
from graphport_kuzu.session import Session


class Seen:
    """One state of the graph, for as long as the session lasts; ids and keys are checked and each there once."""

    def __init__(self, session: Session, pending: PendingWrites) -> None:
        self._session = session
        self._pending = pending

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        """Those of the nodes that exist, in the order asked."""
        wanted, pending = list(ids), self._pending
        found = reads.get_nodes(self._session, [node_id for node_id in wanted if not pending.hides_node(node_id)])
        found.update((node_id, own_row(pending.nodes[node_id])) for node_id in wanted if node_id in pending.nodes)
        return {node_id: found[node_id] for node_id in wanted if node_id in found}

    def get_edges(self, keys: Sequence[EdgeKey]) -> dict[EdgeKey, Edge]:
        """Those of the edges that exist, in the order asked."""
        pending = self._pending
        found = reads.get_edges(self._session, [key for key in keys if not pending.hides_edge(key)])
        found.update((key, own_row(pending.edges[key])) for key in keys if key in pending.edges)
        return {key: found[key] for key in keys if key in found}

    def incident_edges(
        self,
        ids: Iterable[str],
        /,
        *,
        direction: Direction,
        kinds: frozenset[str] | None,
        limit_per_node: int | None = None,
    ) -> dict[str, list[Edge]]:
        """The edges of each node that exists, by key, as far as the limit."""
        asked, pending, limit = list(ids), self._pending, limit_per_node
        found = reads.incident_edges(self._session, asked, direction, kinds)
        if not pending:
            return {i: [found[i][key] for key in sorted(found[i])[:limit]] for i in asked if i in found}
        return {
            i: [own_row(edge) for edge in pending.merge_incident(i, found.get(i, {}).values(), direction, kinds, limit)]
            for i in asked
            if i in pending.nodes or (i in found and not pending.hides_node(i))
        }
