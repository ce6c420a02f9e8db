"""Mutants that change the values they are given."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from graphport import Edge, EdgeKey, Node
from mutants.mutant import Mutant, caught_by


class Rewriting(Mutant):
    """Stores and looks for ``text(value)`` instead of each id; consistent with itself."""

    text: Callable[[str], str] = staticmethod(str)

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        super().upsert_nodes([replace(node, id=self.text(node.id)) for node in nodes])

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        rows = [replace(edge, source=self.text(edge.source), target=self.text(edge.target)) for edge in edges]
        super().upsert_edges(rows)

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        wanted = {node_id: self.text(node_id) for node_id in ids}
        found = super().get_nodes(wanted.values())
        return {node_id: replace(found[text], id=node_id) for node_id, text in wanted.items() if text in found}


@caught_by("test_props_that_were_empty_are_apart_from_the_graph_too")
class SharesEmptyProps(Mutant):
    """Gives the same object again for a row without props."""

    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        return {key: node if node.props else replace(node, props=EMPTY) for key, node in super().get_nodes(ids).items()}


EMPTY: dict[str, Any] = {}


@caught_by("test_any_text_is_a_node_id")
class TruncatesIdsAt63Bytes(Rewriting):
    text = staticmethod(lambda value: value.encode()[:63].decode(errors="ignore"))


@caught_by("test_any_text_is_a_node_id")
class NormalisesUnicode(Rewriting):
    text = staticmethod(lambda value: unicodedata.normalize("NFC", value))


@caught_by("test_any_text_is_a_node_id")
class IgnoresCase(Rewriting):
    text = staticmethod(str.casefold)


@caught_by("test_any_text_is_a_node_id")
class StripsSpaces(Rewriting):
    text = staticmethod(lambda value: value.strip() or value)


@caught_by("test_any_text_is_an_end_of_an_edge")
class BreaksAtQuotes(Rewriting):
    text = staticmethod(lambda value: value.replace("'", "''"))


class RewritingRows(Mutant):
    """Stores ``node(row)`` and ``edge(row)`` instead of each row."""

    node: Callable[[Node], Node] = staticmethod(lambda node: node)
    edge: Callable[[Edge], Edge] = staticmethod(lambda edge: edge)

    def upsert_nodes(self, nodes: Iterable[Node], /) -> None:
        super().upsert_nodes(self.node(node) for node in nodes)

    def upsert_edges(self, edges: Iterable[Edge], /) -> None:
        super().upsert_edges(self.edge(edge) for edge in edges)


@caught_by("test_any_text_is_an_edge_kind")
class TruncatesKindsAt63Bytes(RewritingRows):
    edge = staticmethod(lambda edge: replace(edge, kind=edge.kind.encode()[:63].decode(errors="ignore")))


@caught_by("test_any_text_is_a_name_or_an_entry")
class LimitsNames(RewritingRows):
    node = staticmethod(lambda node: replace(node, name=node.name[:255]))


@caught_by("test_weights_and_floats_keep_every_bit")
class RoundsWeightsTo32Bits(RewritingRows):
    edge = staticmethod(lambda edge: replace(edge, weight=min(float(np.float32(min(edge.weight, 3e38))), 3e38)))


@caught_by("test_weights_and_floats_keep_every_bit")
class LosesTheSignOfZero(RewritingRows):
    edge = staticmethod(lambda edge: replace(edge, weight=edge.weight + 0.0))


def _as_doubles(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_doubles(item) for item in value]
    return int(float(value)) if type(value) is int and abs(value) < 2**63 - 1 else value


@caught_by("test_integers_reach_to_64_bits")
class KeepsIntegersAsDoubles(RewritingRows):
    node = staticmethod(lambda node: replace(node, props=_as_doubles(node.props)))


@caught_by("test_true_1_and_1_0_are_three_values")
class TakesTrueFor1(RewritingRows):
    node = staticmethod(
        lambda node: replace(node, props={key: 1 if value is True else value for key, value in node.props.items()})
    )


@caught_by("test_props_keep_every_json_value")
class DropsNulls(RewritingRows):
    node = staticmethod(
        lambda node: replace(node, props={key: value for key, value in node.props.items() if value is not None})
    )


@caught_by("test_no_text_with_nul_or_lone_surrogates_and_none_that_is_empty")
class RemovesNul(RewritingRows):
    node = staticmethod(
        lambda node: replace(node, id=node.id.replace("\0", "") or "nul") if isinstance(node.id, str) else node
    )


@caught_by("test_no_weight_that_is_not_finite_and_positive")
class TurnsNanIntoNought(RewritingRows):
    edge = staticmethod(lambda edge: replace(edge, weight=0.0) if edge.weight != edge.weight else edge)


@caught_by("test_what_the_caller_does_to_props_later_does_not_reach_the_graph")
class HandsOutItsOwnProps(Mutant):
    def get_nodes(self, ids: Iterable[str], /) -> dict[str, Node]:
        found = super().get_nodes(ids)
        layers = self._state.view.layers
        return {node_id: layers[-1].nodes.get(node_id, node) if layers else node for node_id, node in found.items()}


@caught_by("test_an_edge_key_is_looked_up_as_a_whole")
class LooksUpEachPartOfAKey(Mutant):
    def get_edges(self, keys: Iterable[tuple[str, str, str]], /) -> dict[EdgeKey, Edge]:
        parts = list(zip(*keys, strict=True)) or [(), (), ()]
        return {edge.key: edge for edge in self.iter_edges() if all(map(lambda p, part: p in part, edge.key, parts))}
