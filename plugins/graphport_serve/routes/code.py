"""Source code."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query

from graphport.model import Direction
from graphport_serve import answers
from graphport_serve.caller import Who
from graphport_serve.paging import Bounds
from graphport_serve.questions import code
from graphport_serve.routes.parameters import EVERYTHING, Cursor, Depth, Kind, Limit, Name, bases_router

router = bases_router()


SymbolName = Annotated[str, Query(min_length=1, max_length=2000, description="A symbol's name, qualified name or id.")]


@router.get("/{name}/symbols", summary="Symbols of a name")
async def symbols(
    who: Who,
    name: Name,
    symbol: Annotated[str, Query(alias="name", min_length=1, max_length=2000)],
    file: Kind = None,
    kind: Kind = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> answers.Symbols:
    question = partial(code.find_symbol, name=symbol, file=file, kind=kind, bounds=Bounds(limit), cursor=cursor)
    return await who.ask(name, question)


@router.get("/{name}/callers", summary="Who calls a symbol")
async def callers(
    who: Who, name: Name, symbol: SymbolName, limit: Limit = 100, cursor: Cursor = None
) -> answers.Callers:
    return await who.ask(name, partial(code.find_callers, symbol=symbol, bounds=Bounds(limit), cursor=cursor))


@router.get("/{name}/callgraph", summary="The calls around a symbol")
async def callgraph(
    who: Who,
    name: Name,
    symbol: SymbolName,
    depth: Depth = 2,
    max_nodes: Annotated[int, Query(ge=1, le=1000)] = 100,
    direction: Direction = Direction.OUT,
) -> answers.CallGraph:
    question = partial(
        code.get_call_graph, symbol=symbol, depth=depth, max_nodes=max_nodes, direction=direction, bounds=EVERYTHING
    )
    return await who.ask(name, question)


@router.get("/{name}/similar", summary="Code like a symbol's own")
async def similar(
    who: Who, name: Name, symbol: SymbolName, top_k: Annotated[int, Query(ge=1, le=100)] = 5
) -> answers.SimilarCode:
    return await who.ask(name, partial(code.find_similar, symbol=symbol, top_k=top_k, bounds=EVERYTHING))
