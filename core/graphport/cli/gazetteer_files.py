"""``graphport gazetteer export`` and ``import``: a gazetteer as a file, and back."""

from __future__ import annotations

from pathlib import Path

import click

from graphport.cli.context import Cli, pass_cli
from graphport.errors import SourceError
from graphport.knowledge.gazetteer_files import Format, decoded, file_format, read, written

_SHOWN = 10
_format = click.option(
    "--format", "given", type=click.Choice(["yaml", "csv"]), help="By default what the file's name ends with."
)


@click.command("export")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@_format
@click.option("--runtime", is_flag=True, help="Only what was added at run time, also what the config shadows.")
@pass_cli
def export_gazetteer(cli: Cli, name: str, file: Path, given: Format | None, runtime: bool) -> None:
    """Write the entities texts are matched against as YAML or CSV; FILE ``-`` is standard output.

    The YAML is what the config has below ``entities:``.
    """
    form = file_format(file, given)
    with cli.open(name) as kb:
        gazetteer = kb.gazetteer()
    rows = gazetteer.runtime if runtime else gazetteer.effective
    with click.open_file(str(file), "w", encoding="utf-8", atomic=True) as out:
        out.write(written(rows, form))
    shadowed = 0 if runtime else sum(row.shadowed for row in gazetteer.listing())
    also = f"; {shadowed} that the config shadows are left out (--runtime writes them)" if shadowed else ""
    cli.errors.print(f"{len(rows)} entities written{also}", markup=False)


@click.command("import")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@_format
@pass_cli
def import_gazetteer(cli: Cli, name: str, file: Path, given: Format | None) -> None:
    """Add the entities of a YAML or CSV file to the runtime layer, all or none; FILE ``-`` is standard input.

    An entity that is there gets the names it does not have; one that the config declares is left as it is.
    """
    form = file_format(file, given)
    entities = read(decoded(_content(file)), form)
    with cli.open(name) as kb:
        report = kb.import_entities(entities)
    cli.console.print(
        f"{len(report.added)} added, {len(report.extended)} got further names, of {len(entities)} in the file",
        markup=False,
    )
    if report.declared:
        shown = ", ".join(report.declared[:_SHOWN]) + (", ..." if len(report.declared) > _SHOWN else "")
        cli.console.print(f"{len(report.declared)} declared in the config, left as they are: {shown}", markup=False)


def _content(file: Path) -> bytes:
    try:
        with click.open_file(str(file), "rb") as data:
            return bytes(data.read())
    except OSError as error:
        raise SourceError(f"{file} cannot be read ({error}); check the path") from error
