# SPDX-License-Identifier: BSD-3-Clause
"""
The options of `huddle run`, which is a C program, as its --help prints them: for completion and the
man page.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

import click
from click.shell_completion import CompletionItem

from .common.command_line import Argument, Command, Option, programs
from .common.layout import Layout
from .common.types import Options

LINE = re.compile(r"  (-[^\s,\[]+(?:, -[^\s,]+)*)(?:(\[=)| )?([^\s\]]+)?\]?\s{2,}(\S.*)")
SETTING = "NAME=VALUE"
COMMAND = Argument("command", nargs=-1, metavar="COMMAND...", shell_complete=programs)


def settings(ctx: click.Context, _param: click.Parameter, word: str) -> list[CompletionItem]:
    rows = ctx.obj.layout.ask("info", "settings")["settings"] if ctx.obj else ()
    return [CompletionItem(f"{row['name']}=") for row in rows if row["name"].startswith(word)]


def option_of(line: str) -> Option:
    found = LINE.fullmatch(line)
    if not found:
        raise ValueError(f"huddle run --help: a line that is not an option: {line!r}")
    flags, optional, value, text = found.groups()
    if not value:
        return Option(*flags.split(", "), is_flag=True, help=text)
    more: dict[str, Any] = {"is_flag": False, "flag_value": ""} if optional else {}
    complete = settings if value == SETTING else None
    return Option(*flags.split(", "), metavar=value, help=text, shell_complete=complete, **more)


def parameters(printed: str) -> list[click.Parameter]:
    """
    Parses the options in the output of `huddle run --help`, and adds the argument for the command
    to be run.
    """
    lines = printed.partition("\nOptions:\n")[2].splitlines()
    shown = [option_of(line) for line in lines if "--help" not in line]
    if not shown:
        raise ValueError("huddle run --help: no options")
    return [*shown, COMMAND]


def no_run(_options: Options, _command: list[str], _layout: Layout) -> int:
    raise NotImplementedError("src/launch runs commands")


def command(layout: Layout) -> Command:
    printed = subprocess.run(
        [layout.launcher, "run", "--help"], capture_output=True, text=True, check=True
    ).stdout
    return Command(no_run, parameters(printed))
