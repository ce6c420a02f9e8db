"""REST: all routes of the knowledge bases."""

from __future__ import annotations

from graphport_serve.routes import code, entities, entries, gazetteer, graphs, proposals, searching

ROUTERS = (
    searching.router,
    graphs.router,
    entities.router,
    code.router,
    gazetteer.router,
    proposals.router,
    entries.router,
)
