"""``graphport eval``."""

from __future__ import annotations

import click

from graphport.evaluation.command import evaluate_command

COMMANDS: list[click.Command] = [evaluate_command]
