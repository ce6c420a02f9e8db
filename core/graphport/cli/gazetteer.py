"""Commands on the gazetteer: list, add, remove, check, export, import, propose, accept, reject."""

from __future__ import annotations

import click
from rich.markup import escape

from graphport.cli.context import Cli, pass_cli
from graphport.cli.gazetteer_files import export_gazetteer, import_gazetteer
from graphport.cli.proposals import accept, propose, reject
from graphport.cli.show import table


@click.group()
def gazetteer() -> None:
    """The entities of a knowledge base: declared in the config, and added while reading."""


@gazetteer.command("list")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True)
@pass_cli
def list_entities(cli: Cli, name: str, as_json: bool) -> None:
    """Every entity with its origin."""
    with cli.open(name) as kb:
        rows = kb.gazetteer_listing()
    if as_json:
        cli.print_json(rows)
        return
    shown = table("type", "name", "further names", "origin")
    for row in rows:
        origin = f"{row.origin} (shadowed)" if row.shadowed else row.origin
        shown.add_row(*map(escape, (row.type, row.names[0], ", ".join(row.names[1:]), origin)))
    cli.console.print(shown)


@gazetteer.command()
@click.argument("name")
@click.argument("type")
@click.argument("names", nargs=-1, required=True)
@pass_cli
def add(cli: Cli, name: str, type: str, names: tuple[str, ...]) -> None:  # noqa: A002 - the field's word
    """Add an entity, or names to one; the first name is its canonical one."""
    with cli.open(name) as kb:
        kb.add_entity(type, names)


@gazetteer.command()
@click.argument("name")
@click.argument("type")
@click.argument("entity")
@pass_cli
def remove(cli: Cli, name: str, type: str, entity: str) -> None:  # noqa: A002 - the field's word
    """Remove an entity that was added at run time."""
    with cli.open(name) as kb:
        before = len(kb.gazetteer_listing())
        kb.remove_entity(type, entity)
        removed = len(kb.gazetteer_listing()) < before
    if not removed:
        cli.errors.print(f"nothing removed: no entity of type {type!r} has the canonical name {entity!r}", markup=False)


@gazetteer.command()
@click.argument("name")
@pass_cli
def check(cli: Cli, name: str) -> None:
    """Names that several entities share."""
    with cli.open(name) as kb:
        shared = kb.gazetteer().shared_names()
    for item in shared:
        kind = "across types" if item.across_types else "within a type"
        cli.console.print(f"{item.name}: {', '.join(item.ids)} ({kind})", markup=False)
    if not shared:
        cli.console.print("no name is shared")


gazetteer.add_command(export_gazetteer)
gazetteer.add_command(import_gazetteer)
gazetteer.add_command(propose)
gazetteer.add_command(accept)
gazetteer.add_command(reject)

COMMANDS: list[click.Command] = [gazetteer]
