# SPDX-License-Identifier: BSD-3-Clause
"""huddle lab: the commands of the laboratory, which a package of its own has."""

from __future__ import annotations

import os

import click

from .common import validators
from .common.command_line import Group
from .common.exit_status import BAD_USE
from .common.layout import CliError

# Help of each command.  Its module, in lab/cli, has its name, and COMMAND.
COMMANDS = {
    "simulate": "simulate how long collectives take on a described machine",
    "machine": "measure and describe this machine, for simulate",
    "validate": "compare simulated times with measured ones",
    "model": (
        "print what time models predict for a collective on a described "
        "machine: limits, times, best parameters"
    ),
    "reproduce": "compare the papers' results with those of formulas and simulation",
}
ABSENT = (
    "lab: the laboratory is not installed here: it is in the package huddle-lab, and in a build"
    " with -DHUD_LAB=ON"
)


ROOT = os.path.dirname(os.path.dirname(__file__))
FOLDER = os.path.join(ROOT, "lab", "cli")  # the folder next to this package


def is_installed() -> bool:
    return os.path.isdir(FOLDER)


class Laboratory(Group):
    """The commands of the laboratory."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return super().list_commands(ctx) if is_installed() else []

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            raise CliError(f"lab: a command is missing (accepted: {', '.join(COMMANDS)})", BAD_USE)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            hint = validators.hint(args[0], COMMANDS, f"accepted: {', '.join(COMMANDS)}")
            raise CliError(
                f"{validators.shown(args[0])} is not a command of huddle lab; {hint}", BAD_USE
            )
        return super().resolve_command(ctx, args)

    def imported(self, ctx: click.Context, name: str) -> click.Command:
        if not is_installed():
            raise CliError(ABSENT)
        return super().imported(ctx, name)


COMMAND = Laboratory("lab", COMMANDS, "lab.cli")
