"""``graphport`` on the command line."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.logging import RichHandler

from graphport import __version__
from graphport.cli.context import Cli
from graphport.errors import GraphportError
from graphport.registry import plugins


class _Commands(click.Group):
    """Own commands and those of plugins; every graphport error ends as one line on stderr and exit code 1."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *plugins().commands()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or plugins().commands().get(cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except GraphportError as error:
            notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
            raise click.ClickException(f"{error}{notes}") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version")
@click.option("--config", type=click.Path(path_type=Path), envvar="GRAPHPORT_CONFIG", help="graphport.yaml to use.")
@click.option(
    "--home", type=click.Path(path_type=Path), help="Folder of the knowledge bases (default: $GRAPHPORT_HOME)."
)
@click.option("-v", "--verbose", is_flag=True, help="Say what is done (log at INFO).")
@click.pass_context
def main(ctx: click.Context, config: Path | None, home: Path | None, verbose: bool) -> None:
    """Search that follows a graph, over a graph that lives wherever you want it."""
    handler = RichHandler(console=Console(stderr=True), show_path=False, show_time=False, markup=False)
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(message)s", handlers=[handler])
    ctx.obj = Cli(config, home)


def _register() -> None:
    from graphport.cli import bases, demo, doctor, entities, gazetteer, graphs, ranking
    from graphport.evaluation.command import evaluate_command

    for command in (
        *bases.COMMANDS,
        *demo.COMMANDS,
        *doctor.COMMANDS,
        *entities.COMMANDS,
        *gazetteer.COMMANDS,
        *graphs.COMMANDS,
        *ranking.COMMANDS,
    ):
        main.add_command(command)
    main.add_command(evaluate_command)


_register()

if __name__ == "__main__":
    sys.exit(main())
