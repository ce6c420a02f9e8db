"""Commands on entities: which there are, and what mentions one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from rich.markup import escape
from rich.table import Table

from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import table
from graphport.errors import MissingNodeError

if TYPE_CHECKING:
    from graphport.knowledge.entity_queries import FoundEntity, ListedEntity
    from graphport.knowledge.readings import Decision

_type = click.option("--type", "entity_type", help="Only entities of this type.")


@click.command()
@click.argument("name")
@click.argument("entity")
@_type
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="Chapters and texts shown.")
@click.option("--json", "as_json", is_flag=True)
@pass_cli
def entity(cli: Cli, name: str, entity: str, entity_type: str | None, limit: int, as_json: bool) -> None:
    """An entity by any of its names, and the chapters and texts that mention it."""
    with cli.open(name) as kb:
        found = kb.find_entity(entity, entity_type, limit=limit)
    if found is None:
        of_type = f" of type {entity_type!r:.80}" if entity_type else ""
        raise MissingNodeError(f"no entity {entity!r:.120}{of_type}; see: graphport entities {name}")
    if as_json:
        cli.print_json(found)
    else:
        _show(cli, found)


@click.command()
@click.argument("name")
@_type
@click.option("--limit", type=click.IntRange(min=0), default=50, show_default=True)
@click.option("--json", "as_json", is_flag=True)
@pass_cli
def entities(cli: Cli, name: str, entity_type: str | None, limit: int, as_json: bool) -> None:
    """The entities that texts mention, the most mentioned first."""
    with cli.open(name) as kb:
        found = kb.list_entities(entity_type, limit=limit)
    if as_json:
        cli.print_json(found)
        return
    cli.console.print(_listed(found) if found else "no text mentions an entity")


def _show(cli: Cli, found: FoundEntity) -> None:
    cli.console.print(
        f"[bold]{escape(found.name)}[/] ({escape(found.type)}): {_number(found.count)} mentions "
        f"in {found.texts} texts, {found.in_chapters} chapters"
    )
    if found.chapters:
        shown = table("chapter", "of", "mentions", "decided by")
        for chapter in found.chapters:
            book = str(chapter.props.get("book", chapter.kind))
            shown.add_row(escape(chapter.title), escape(book), _number(chapter.count), _reasons(chapter.decisions))
        cli.console.print(shown)
    if found.mentions:
        shown = table("text", "title", "mentions", "decided by")
        for text in found.mentions:
            count = _number(text.count) + (", in its title" if text.titled else "")
            shown.add_row(escape(text.entry), escape(text.title), count, _reasons(text.decisions))
        cli.console.print(shown)
    if found.others:
        cli.console.print("the name may also mean")
        cli.console.print(_listed(found.others))


def _reasons(decisions: Sequence[Decision]) -> str:
    """What decided on each shared name: ``Trent: 80% location:Trent, canonical name``."""
    told: list[str] = []
    for item in decisions:
        best, share = next(iter(item.shares.items()))
        told.append(f"{item.written}: {share:.0%} {best.removeprefix('entity:')}, {', '.join(item.decided_by)}")
    return escape("; ".join(told))


def _number(count: float) -> str:
    return f"{round(count, 2):g}"


def _listed(found: Sequence[ListedEntity]) -> Table:
    shown = table("entity", "type", "mentions", "texts")
    for item in found:
        shown.add_row(escape(item.name), escape(item.type), _number(item.mentions), str(item.texts))
    return shown


COMMANDS: list[click.Command] = [entity, entities]
