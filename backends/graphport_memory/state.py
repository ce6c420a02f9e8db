"""A committed state of a graph."""

from __future__ import annotations

from dataclasses import dataclass

from graphport_memory.view import View


@dataclass(frozen=True, slots=True)
class State:
    """What a graph held at one revision; ``exists`` is False between `drop_graph` and the next write."""

    view: View
    revision: int = 0
    exists: bool = True
