"""Snapshots for these tests, written as edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphport import GraphSnapshot


def graph_of(
    edges: Iterable[tuple[str, str, str] | tuple[str, str, str, float]], names: Mapping[str, str] | None = None
) -> GraphSnapshot:
    """A snapshot of ``(source, kind, target[, weight])``; a node ``entry:x`` stands for the entry ``x``."""
    rows = [(*edge, 1.0)[:4] for edge in edges]
    ids = sorted({end for source, _, target, _ in rows for end in (source, target)})
    place = {node: row for row, node in enumerate(ids)}
    kinds = sorted({kind for _, kind, _, _ in rows})
    return GraphSnapshot.from_arrays(
        ids,
        [place[source] for source, _, _, _ in rows],
        [place[target] for _, _, target, _ in rows],
        [weight for _, _, _, weight in rows],
        edge_kind=[kinds.index(kind) for _, kind, _, _ in rows],
        edge_kinds=kinds or ["edge"],
        names=[(names or {}).get(node, node.rpartition(":")[2]) for node in ids],
        entries=[node.removeprefix("entry:") if node.startswith("entry:") else None for node in ids],
    )
