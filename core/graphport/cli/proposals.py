"""``graphport gazetteer propose``, ``accept``, ``reject``: what the texts seem to name, for a person to choose from."""

from __future__ import annotations

import click
from rich.markup import escape

from graphport.cli.context import Cli, pass_cli
from graphport.cli.show import table
from graphport.knowledge.entities import entity


@click.command()
@click.argument("name")
@click.option("--proposer", default="capitals", show_default=True, help="Who reads the texts.")
@click.option("--limit", default=20, show_default=True, help="How many names.")
@click.option("--at-least", default=2, show_default=True, help="In so many passages.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with more examples.")
@pass_cli
def propose(cli: Cli, name: str, proposer: str, limit: int, at_least: int, as_json: bool) -> None:
    """Names in the texts that may be entities and that the gazetteer lacks; nothing is added."""
    with cli.open(name) as kb:
        found = kb.propose_entities(proposer, limit=limit, at_least=at_least)
    if as_json:
        cli.print_json(found)
        return
    if not found:
        cli.console.print(f"{proposer} sees no name in {at_least} passages that the gazetteer lacks", markup=False)
        return
    shown = table("name", "type", "passages", "times", "for example")
    for item in found:
        first = item.examples[0]
        shown.add_row(*map(escape, (item.name, item.type)), str(item.passages), str(item.count), escape(first.text))
    cli.console.print(shown)
    cli.console.print(f"never see again what is wrong with: graphport gazetteer reject {name} NAME...", markup=False)
    cli.console.print(f"add what is right with: graphport gazetteer accept {name} TYPE NAME...", markup=False)


@click.command()
@click.argument("name")
@click.argument("type")
@click.argument("names", nargs=-1, required=True)
@pass_cli
def accept(cli: Cli, name: str, type: str, names: tuple[str, ...]) -> None:  # noqa: A002 - the field's word
    """Add an entity of one TYPE for each name, all or none; `add` takes further names of one entity."""
    wanted = [entity(type, item) for item in names]
    with cli.open(name) as kb:
        report = kb.import_entities(wanted)
    for item in report.added:
        cli.console.print(f"{item} added", markup=False)
    for item in report.declared:
        cli.console.print(f"{item} is declared in the config and left as it is", markup=False)


@click.command()
@click.argument("name")
@click.argument("names", nargs=-1)
@click.option("--undo", is_flag=True, help="Let them be proposed again.")
@pass_cli
def reject(cli: Cli, name: str, names: tuple[str, ...], undo: bool) -> None:
    """Never propose these names again; without any, list those that were rejected."""
    if undo and not names:
        raise click.UsageError("say which names are to be proposed again")
    with cli.open(name) as kb:
        if not names:
            rejected = kb.rejected_proposals()
            cli.console.print("\n".join(rejected) if rejected else "no name was rejected", markup=False)
        elif undo:
            cli.console.print(f"{kb.reconsider_proposals(names)} to be proposed again", markup=False)
        else:
            cli.console.print(f"{kb.reject_proposals(names)} rejected", markup=False)
