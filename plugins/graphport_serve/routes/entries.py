"""Entries."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field
from starlette.convertors import Convertor, register_url_convertor

from graphport.builders import Entry
from graphport_serve import answers
from graphport_serve.caller import Who
from graphport_serve.questions import entries
from graphport_serve.routes.parameters import Name, bases_router

router = bases_router()


class _AnyText(Convertor[str]):
    """The rest of a path, line breaks included, which Starlette's ``path`` refuses: ids may hold them."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("text", _AnyText())  # Starlette knows a kind of parameter by its name alone


class NewEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=1000)
    text: str
    title: str = Field(default="", max_length=2000)
    kind: str = Field(default="passage", min_length=1, max_length=200)
    names: list[Annotated[str, Field(max_length=1000)]] = Field(default_factory=list, max_length=1000)
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


class Visibility(BaseModel):
    """What is given is changed; a ``valid_to`` of null lets an entry be visible for good."""

    model_config = ConfigDict(extra="forbid")

    flagged: bool = False
    valid_to: float | None = Field(default=None, allow_inf_nan=False, description="Seconds since the epoch.")


EntryId = Annotated[str, Path(min_length=1, max_length=1000)]


@router.post("/{name}/entries", summary="Insert or replace entries, all or none")
async def add_entries(who: Who, name: Name, body: NewEntries) -> answers.Added:
    new = [item.entry() for item in body.entries]
    return await who.ask(name, partial(entries.add_entries, entries=new), scope="write")


@router.get("/{name}/entries/{entry_id:text}", summary="An entry")
async def get_entry(who: Who, name: Name, entry_id: EntryId) -> answers.EntryAnswer:
    return await who.ask(name, partial(entries.get_entry, entry_id=entry_id))


@router.patch("/{name}/entries/{entry_id:text}", summary="Hide an entry, show it again, or let it expire")
async def show_entry(who: Who, name: Name, entry_id: EntryId, body: Visibility) -> answers.EntryAnswer:
    visibility = body.model_dump(exclude_unset=True)
    return await who.ask(name, partial(entries.show_entry, entry_id=entry_id, visibility=visibility), scope="write")


@router.delete("/{name}/entries/{entry_id:text}", summary="Remove an entry that was added by hand")
async def remove_entry(who: Who, name: Name, entry_id: EntryId) -> answers.Removed:
    return await who.ask(name, partial(entries.remove_entry, entry_id=entry_id), scope="write")
