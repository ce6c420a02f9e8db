"""Looking at the graph."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query

from graphport.model import Direction, EdgeKey
from graphport_serve import answers
from graphport_serve.answers_curating import Evidence
from graphport_serve.caller import Who
from graphport_serve.paging import Bounds
from graphport_serve.questions import graphs
from graphport_serve.questions.evidence import find_evidence
from graphport_serve.routes.parameters import Cursor, Depth, Kind, Limit, MaxNodes, Name, Text, bases_router

router = bases_router()

End = Annotated[str, Query(min_length=1, max_length=2000, description="Id of a node.")]
EdgeKind = Annotated[str, Query(min_length=1, max_length=200)]


@router.get("/{name}/graph", summary="A part of the graph")
async def graph(
    who: Who,
    name: Name,
    node: Annotated[
        str | None, Query(min_length=1, max_length=2000, description="Id of a node; without one, the best connected.")
    ] = None,
    depth: Depth = 1,
    max_nodes: MaxNodes = 200,
    direction: Direction = Direction.BOTH,
    kind: Annotated[list[str] | None, Query(max_length=50, description="Edge kinds that count; default: all.")] = None,
    communities: bool = False,
) -> answers.GraphAnswer:
    kinds = None if kind is None else frozenset(kind)
    return await who.ask(name, graphs.Around(node, depth, max_nodes, direction, kinds, communities))


@router.get("/{name}/nodes", summary="Nodes by a part of their name")
async def nodes(
    who: Who, name: Name, q: Text, kind: Kind = None, limit: Limit = 20, cursor: Cursor = None
) -> answers.FoundNodes:
    return await who.ask(name, partial(graphs.find_nodes, text=q, kind=kind, bounds=Bounds(limit), cursor=cursor))


@router.get("/{name}/evidence", summary="The texts that an edge is known from")
async def evidence(
    who: Who, name: Name, source: End, target: End, kind: EdgeKind, limit: Limit = 20, cursor: Cursor = None
) -> Evidence:
    edge = EdgeKey(source, target, kind)
    return await who.ask(name, partial(find_evidence, edge=edge, bounds=Bounds(limit), cursor=cursor))


@router.get("/{name}/pagerank", summary="A walk from a node")
async def pagerank(
    who: Who,
    name: Name,
    node: Text,
    top_k: Annotated[int, Query(ge=1, le=5000)] = 100,
    damping: Annotated[float, Query(ge=0, lt=1)] = 0.5,
) -> answers.Ranking:
    return await who.ask(name, partial(graphs.walk_from, node=node, top_k=top_k, damping=damping))


@router.get("/{name}/communities", summary="Communities of the graph")
async def communities(
    who: Who,
    name: Name,
    algorithm: graphs.Algorithm = "leiden",
    resolution: Annotated[float, Query(gt=0, le=1000, allow_inf_nan=False)] = 1.0,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> answers.Communities:
    question = partial(
        graphs.communities, algorithm=algorithm, resolution=resolution, bounds=Bounds(limit), cursor=cursor
    )
    return await who.ask(name, question)
