"""What the routes take, with its bounds."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from graphport_serve.paging import Bounds


def bases_router() -> APIRouter:
    """A router for routes below the list of knowledge bases."""
    return APIRouter(prefix="/api/vectordb")


Name = Annotated[str, Path(description="Name of a knowledge base.", max_length=100)]
Text = Annotated[str, Query(min_length=1, max_length=2000)]
Kind = Annotated[str | None, Query(min_length=1, max_length=200)]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many items at most.")]
Cursor = Annotated[str | None, Query(max_length=200, description="next_cursor of the answer before.")]
Depth = Annotated[int, Query(ge=0, le=10)]
MaxNodes = Annotated[int, Query(ge=1, le=5000)]
EVERYTHING = Bounds(1_000_000)
"""For answers that ``max_nodes`` or ``top_k`` bounds already."""
EntityName = Annotated[str, Query(alias="name", min_length=1, max_length=1000)]
EntityType = Annotated[str | None, Query(alias="type", min_length=1, max_length=200)]
