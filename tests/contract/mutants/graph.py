"""Mutants that get the graph or its order wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from graphport import Edge, EdgeKey, GraphCounts, GraphSnapshot, Node, Subgraph
from mutants.mutant import Mutant, caught_by


@caught_by("test_an_edge_to_itself")
class DropsSelfLoops(Mutant):
    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        super().upsert_edges(edge for edge in edges if edge.source != edge.target)


@caught_by("test_parallel_edges_differ_in_kind")
class KeepsOneEdgePerPair(Mutant):
    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        edges = list(edges)
        super().upsert_edges(edges)
        pairs = {(edge.source, edge.target): edge.key for edge in edges}
        rivals = [edge.key for edge in self.iter_edges() if pairs.get((edge.source, edge.target), edge.key) != edge.key]
        super().delete_edges(rivals)


@caught_by("test_an_edge_and_its_reverse_are_two")
class ForgetsDirections(Mutant):
    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        super().upsert_edges(
            edge if edge.source <= edge.target else replace(edge, source=edge.target, target=edge.source)
            for edge in edges
        )


@caught_by("test_absent_isolated_and_empty_are_three_answers")
class AnswersEmptyForAbsent(Mutant):
    def incident_edges(self, ids: Iterable[str], /, **options: Any) -> dict[str, list[Edge]]:
        ids = list(ids)
        found = super().incident_edges(ids, **options)
        return {node_id: found.get(node_id, []) for node_id in ids}


@caught_by("test_absent_isolated_and_empty_are_three_answers")
class LeavesIsolatedNodesOut(Mutant):
    def incident_edges(self, ids: Iterable[str], /, **options: Any) -> dict[str, list[Edge]]:
        return {node_id: row for node_id, row in super().incident_edges(ids, **options).items() if row}


@caught_by("test_a_self_loop_is_listed_once")
class ListsSelfLoopsTwice(Mutant):
    def incident_edges(self, ids: Iterable[str], /, **options: Any) -> dict[str, list[Edge]]:
        found = super().incident_edges(ids, **options)
        if options.get("direction", "both") != "both":
            return found
        return {
            key: [e for edge in row for e in [edge] * (1 + (edge.source == edge.target))] for key, row in found.items()
        }


@caught_by("test_the_limit_comes_after_the_order")
class LimitsBeforeItOrders(Mutant):
    def incident_edges(
        self, ids: Iterable[str], /, *, limit_per_node: int | None = None, **options: Any
    ) -> dict[str, list[Edge]]:
        found = super().incident_edges(ids, **options)
        if limit_per_node is None:
            return found
        return {
            node_id: sorted(row[::-1][:limit_per_node], key=lambda edge: edge.key) for node_id, row in found.items()
        }


@caught_by("test_order_is_by_code_point")
class OrdersIgnoringCase(Mutant):
    def iter_nodes(self, **filters: Any) -> Iterator[Node]:
        return iter(sorted(super().iter_nodes(**filters), key=lambda node: (node.id.casefold(), node.id)))


@caught_by("test_order_is_by_code_point")
class OrdersByUtf16(Mutant):
    def iter_edges(self, **options: Any) -> Iterator[Edge]:
        return iter(sorted(super().iter_edges(**options), key=lambda edge: [p.encode("utf-16-be") for p in edge.key]))


@caught_by("test_the_last_of_duplicates_in_a_batch_wins")
class KeepsTheFirstOfDuplicates(Mutant):
    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        super().upsert_nodes(reversed(list(nodes)))


@caught_by("test_an_upsert_replaces_the_whole_row")
class MergesProps(Mutant):
    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        nodes = list(nodes)
        old = super().get_nodes(dict.fromkeys(node.id for node in nodes))
        super().upsert_nodes(
            replace(node, props={**old[node.id].props, **node.props}) if node.id in old else node for node in nodes
        )


@caught_by("test_a_replaced_node_keeps_its_edges")
class ReplacesNodesByDeletingThem(Mutant):
    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        nodes = list(nodes)
        with self._joined():
            super().delete_nodes(dict.fromkeys(node.id for node in nodes))
            super().upsert_nodes(nodes)


@caught_by("test_a_deleted_node_that_comes_back_has_no_edges")
class LeavesDanglingEdges(Mutant):
    """The edges of a deleted node stay, unseen until the node comes back."""

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        ids = list(ids)
        self._dangling = [edge for row in self.incident_edges(ids).values() for edge in row]
        return super().delete_nodes(ids)

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        super().upsert_nodes(nodes)
        ends = dict.fromkeys(end for edge in getattr(self, "_dangling", ()) for end in edge.key[:2])
        if ends and len(self.get_nodes(ends)) == len(ends):
            self.upsert_edges(self._dangling)


@caught_by("test_delete_nodes_counts_what_was_there")
class CountsWhatItWasAskedToDelete(Mutant):
    def delete_nodes(self, ids: Iterable[str], /) -> int:
        ids = list(ids)
        super().delete_nodes(ids)
        return len(ids)


@caught_by("test_an_edge_to_an_absent_node_names_it_and_nothing_is_written")
class SkipsEdgesWithMissingEnds(Mutant):
    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        edges = list(edges)
        found = {*super().get_nodes(dict.fromkeys(end for edge in edges for end in edge.key[:2]))}
        super().upsert_edges(edge for edge in edges if {edge.source, edge.target} <= found)


@caught_by("test_get_answers_in_the_order_asked_and_leaves_absent_keys_out")
class AnswersInItsOwnOrder(Mutant):
    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        return dict(sorted(super().get_nodes(ids).items()))


@caught_by("test_iter_edges_of_some_kinds")
class TakesNoKindsForAllKinds(Mutant):
    def iter_edges(self, *, kinds: Iterable[str] | None = None) -> Iterator[Edge]:
        return super().iter_edges(kinds=list(kinds or ()) or None)


@caught_by("test_a_call_costs_the_same_few_round_trips_for_any_number_of_rows")
class AsksOncePerRow(Mutant):
    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        return {node_id: node for one in ids for node_id, node in super(AsksOncePerRow, self).get_nodes([one]).items()}


@caught_by("test_iteration_sees_the_graph_as_it_was_when_it_began")
class PagesThroughALiveGraph(Mutant):
    def iter_edges(self, **options: Any) -> Iterator[Edge]:
        last = EdgeKey("", "", "")
        while page := [edge for edge in super().iter_edges(**options) if edge.key > last][:500]:
            yield from page
            last = page[-1].key


@caught_by("test_a_neighborhood_is_found_by_depth_and_then_id")
class FindsNeighborsInOrderOfEdges(Mutant):
    def neighborhood(self, seeds: Iterable[str], /, **options: Any) -> Subgraph:
        found = super().neighborhood(seeds, **options)
        nodes = tuple(
            sorted(found.nodes, key=lambda node: (found.depths[node.id], node.name[::-1], node.id), reverse=True)
        )
        return replace(found, nodes=nodes)


@caught_by("test_a_neighborhood_has_all_edges_between_its_nodes")
class LeavesOutEdgesOfTheRim(Mutant):
    def neighborhood(self, seeds: Iterable[str], /, **options: Any) -> Subgraph:
        found = super().neighborhood(seeds, **options)
        rim = max(found.depths.values(), default=0)
        inner = tuple(edge for edge in found.edges if min(found.depths[edge.source], found.depths[edge.target]) < rim)
        return replace(found, edges=inner)


@caught_by("test_columns_do_not_depend_on_what_was_there_before")
class RemembersKindsThatAreGone(Mutant):
    def snapshot(self, **options: Any) -> GraphSnapshot:
        found = super().snapshot(**options)
        self._kinds = sorted(
            {*getattr(self, "_kinds", ()), *found.edge_kinds, *(edge.kind for edge in self.iter_edges())}
        )
        found.edge_kinds = tuple(self._kinds)
        return found

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        super().upsert_edges(edges)
        self.snapshot()


@caught_by("test_a_snapshot_stays_as_it_is")
class HandsOutWritableColumns(Mutant):
    def snapshot(self, **options: Any) -> GraphSnapshot:
        found = super().snapshot(**options)
        found.weight = found.weight.copy()
        return found


@caught_by("test_bulk_load_replaces_all_there_was")
class LoadsOnTopOfWhatWasThere(Mutant):
    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        self.upsert_nodes(graph.iter_nodes())
        self.upsert_edges(graph.iter_edges())


@caught_by("test_bulk_load_refuses_two_edges_with_one_key")
class LoadsTwins(Mutant):
    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        super().bulk_load(GraphSnapshot.from_rows(graph.iter_nodes(), {e.key: e for e in graph.iter_edges()}.values()))


@caught_by("test_bulk_load_brings_everything_back")
class LoadsNoProps(Mutant):
    def bulk_load(self, graph: GraphSnapshot, /) -> None:
        super().bulk_load(GraphSnapshot.from_rows(replace(node, props={}) for node in graph.iter_nodes()))
        self.upsert_edges(graph.iter_edges())


@caught_by("test_a_deleted_kind_is_no_longer_counted")
class CountsKindsThatAreGone(Mutant):
    def counts(self) -> GraphCounts:
        found = super().counts()
        self._seen = {**dict.fromkeys(getattr(self, "_seen", ()), 0), **found.node_kinds}
        return replace(found, node_kinds=dict(sorted(self._seen.items())))

    def delete_nodes(self, ids: Iterable[str], /) -> int:
        self.counts()
        return super().delete_nodes(ids)
