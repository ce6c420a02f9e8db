"""The knowledge bases there are, searching one, and reports."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query

from graphport.config import GraphMode, LinkerName, Mode
from graphport_serve import answers
from graphport_serve.caller import Who
from graphport_serve.questions import entries
from graphport_serve.questions.searching import Search, make_report
from graphport_serve.routes.parameters import Name, Text, bases_router

router = bases_router()

Linkers = Annotated[
    list[LinkerName] | None,
    Query(min_length=1, max_length=3, description="What links the question to names, in order; default: the config's."),
]


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
    linker: Linkers = None,
    explain: bool = False,
) -> answers.SearchAnswer:
    question = Search(
        q, top_k=top_k, mode=mode, graph=graph, graph_weight=graph_weight, graph_mode=graph_mode, linkers=linker,
        explain=explain,
    )  # fmt: skip
    return await who.ask(name, question)


Budget = Annotated[float, Query(ge=1, le=100_000, description="About how many tokens of evidence.")]


@router.get("/{name}/report", summary="A report with its sources")
async def report(who: Who, name: Name, q: Text, budget: Budget = 1000, linker: Linkers = None) -> answers.Report:
    return await who.ask(name, partial(make_report, query=q, budget=budget, linkers=linker))


@router.post("/{name}/report", summary="A report that is kept as a node which cites its sources")
async def saved_report(who: Who, name: Name, q: Text, budget: Budget = 1000, linker: Linkers = None) -> answers.Report:
    return await who.ask(name, partial(make_report, query=q, budget=budget, linkers=linker, save=True), scope="write")
