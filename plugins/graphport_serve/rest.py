"""The REST routes of a knowledge base: parameters with their bounds, and the question each one asks."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from graphport.builders import Entry
from graphport.config import GraphMode, Mode
from graphport.model import Direction
from graphport_serve import answers
from graphport_serve.caller import Who
from graphport_serve.paging import Bounds
from graphport_serve.questions import code, entities, entries, gazetteer, graphs
from graphport_serve.questions.searching import Search, make_report

router = APIRouter(prefix="/api/vectordb")

Name = Annotated[str, Path(description="Name of a knowledge base.", max_length=100)]
Text = Annotated[str, Query(min_length=1, max_length=2000)]
Kind = Annotated[str | None, Query(min_length=1, max_length=200)]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many items at most.")]
Cursor = Annotated[str | None, Query(max_length=200, description="next_cursor of the answer before.")]
Depth = Annotated[int, Query(ge=0, le=10)]
MaxNodes = Annotated[int, Query(ge=1, le=5000)]
EVERYTHING = Bounds(1_000_000)
"""For answers that ``max_nodes`` or ``top_k`` bounds already."""


@router.get("", summary="Knowledge bases")
async def knowledge_bases(who: Who) -> answers.KnowledgeBases:
    return answers.KnowledgeBases(knowledge_bases=[answers.KnowledgeBaseName(name=name) for name in await who.names()])


@router.get("/{name}", summary="What a knowledge base holds")
async def knowledge_base(who: Who, name: Name) -> answers.KnowledgeBaseStatus:
    return await who.ask(name, entries.status)


@router.get("/{name}/search", summary="Ask a question")
async def search(
    who: Who,
    name: Name,
    q: Text,
    top_k: Annotated[int | None, Query(ge=1, le=200)] = None,
    mode: Mode | None = None,
    graph: Annotated[bool | None, Query(description="Follow the graph; default: as the config says.")] = None,
    graph_weight: Annotated[float | None, Query(ge=0, le=1)] = None,
    graph_mode: GraphMode | None = None,
    explain: bool = False,
) -> answers.SearchAnswer:
    question = Search(
        q, top_k=top_k, mode=mode, graph=graph, graph_weight=graph_weight, graph_mode=graph_mode, explain=explain
    )
    return await who.ask(name, question)


Budget = Annotated[float, Query(ge=1, le=100_000, description="About how many tokens of evidence.")]


@router.get("/{name}/report", summary="A report with its sources")
async def report(who: Who, name: Name, q: Text, budget: Budget = 1000) -> answers.Report:
    return await who.ask(name, partial(make_report, query=q, budget=budget))


@router.post("/{name}/report", summary="A report that is kept as a node which cites its sources")
async def saved_report(who: Who, name: Name, q: Text, budget: Budget = 1000) -> answers.Report:
    return await who.ask(name, partial(make_report, query=q, budget=budget, save=True), scope="write")


# -- the graph ------------------------------------------------------------------------------------------


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


# -- entities ------------------------------------------------------------------------------------------

EntityName = Annotated[str, Query(alias="name", min_length=1, max_length=1000)]
EntityType = Annotated[str | None, Query(alias="type", min_length=1, max_length=200)]


@router.get("/{name}/entity", summary="An entity and the texts that mention it")
async def entity(
    who: Who, name: Name, wanted: EntityName, of_type: EntityType = None, limit: Limit = 100, cursor: Cursor = None
) -> answers.EntityAnswer:
    question = partial(entities.find_entity, name=wanted, entity_type=of_type, bounds=Bounds(limit), cursor=cursor)
    return await who.ask(name, question)


@router.get("/{name}/entities", summary="Entities, the most mentioned first")
async def list_entities(
    who: Who, name: Name, of_type: EntityType = None, limit: Limit = 100, cursor: Cursor = None
) -> answers.EntityList:
    question = partial(entities.list_entities, entity_type=of_type, bounds=Bounds(limit), cursor=cursor)
    return await who.ask(name, question)


@router.get("/{name}/concept", summary="A concept and the chapters that mention it")
async def concept(
    who: Who, name: Name, wanted: EntityName, limit: Limit = 100, cursor: Cursor = None
) -> answers.EntityAnswer:
    return await who.ask(name, partial(entities.find_concept, name=wanted, bounds=Bounds(limit), cursor=cursor))


# -- source code ----------------------------------------------------------------------------------------

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


# -- the gazetteer --------------------------------------------------------------------------------------


class NewEntity(BaseModel):
    """``names[0]`` is the canonical name; ``name`` is short for ``names`` with one."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(min_length=1, max_length=200)
    names: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(default_factory=list, max_length=10_000)
    name: str | None = Field(default=None, min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _one_of_them(self) -> NewEntity:
        if bool(self.names) == (self.name is not None):
            raise ValueError("give either names or name")
        return self


@router.get("/{name}/gazetteer", summary="Entities with their origin")
async def list_gazetteer(who: Who, name: Name, limit: Limit = 1000, cursor: Cursor = None) -> answers.GazetteerAnswer:
    return await who.ask(name, partial(gazetteer.list_gazetteer, bounds=Bounds(limit), cursor=cursor))


@router.post("/{name}/gazetteer/add", summary="Add an entity, or names to one")
async def add_entity(who: Who, name: Name, body: NewEntity) -> answers.GazetteerEntity:
    names = body.names or [body.name or ""]
    return await who.ask(name, partial(gazetteer.add_entity, entity_type=body.type, names=names), scope="write")


@router.delete("/{name}/gazetteer/remove", summary="Remove an entity that was added at run time")
async def remove_entity(
    who: Who,
    name: Name,
    of_type: Annotated[str, Query(alias="type", min_length=1, max_length=200)],
    wanted: EntityName,
) -> answers.Removed:
    return await who.ask(name, partial(gazetteer.remove_entity, entity_type=of_type, name=wanted), scope="write")


# -- entries --------------------------------------------------------------------------------------------


class NewEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=1000)
    text: str
    title: str = ""
    kind: str = Field(default="passage", min_length=1, max_length=200)
    names: list[str] = Field(default_factory=list, max_length=1000)
    meta: dict[str, Any] = Field(default_factory=dict)
    flagged: bool = False
    valid_to: float | None = Field(default=None, allow_inf_nan=False, description="Seconds since the epoch.")

    def entry(self) -> Entry:
        return Entry(
            self.id, self.text, title=self.title, kind=self.kind, names=tuple(self.names), meta=self.meta,
            flagged=self.flagged, valid_to=self.valid_to,
        )  # fmt: skip


class NewEntries(BaseModel):
    model_config = ConfigDict(extra="forbid")

    entries: list[NewEntry] = Field(min_length=1, max_length=1000)


EntryId = Annotated[str, Path(min_length=1, max_length=1000)]


@router.post("/{name}/entries", summary="Insert or replace entries, all or none")
async def add_entries(who: Who, name: Name, body: NewEntries) -> answers.Added:
    new = [item.entry() for item in body.entries]
    return await who.ask(name, partial(entries.add_entries, entries=new), scope="write")


@router.get("/{name}/entries/{entry_id:path}", summary="An entry")
async def get_entry(who: Who, name: Name, entry_id: EntryId) -> answers.EntryAnswer:
    return await who.ask(name, partial(entries.get_entry, entry_id=entry_id))


@router.delete("/{name}/entries/{entry_id:path}", summary="Remove an entry that was added by hand")
async def remove_entry(who: Who, name: Name, entry_id: EntryId) -> answers.Removed:
    return await who.ask(name, partial(entries.remove_entry, entry_id=entry_id), scope="write")
