# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one row per command.  Only `run --explain` comes here of `run` (src/launch)."""

from __future__ import annotations

import io
import os
import sys

import click

from . import lab, run_options
from .common import exit_status, stop, validators
from .common.command_line import Asked, Group, text_of
from .common.exit_status import BAD_USE, FAILED
from .common.layout import CliError, Layout

COMPLETE = "_HUDDLE_COMPLETE"  # set by what completes words in a shell
# Help of each command.  Its module has its name, and COMMAND.
COMMANDS = {
    "run": "run an MPI program with huddle",
    "bench": "measure collectives of huddle and of other MPIs side by side",
    "who": ("print which ranks of a running job wait for which ranks in huddle's collectives"),
    "info": ("print the machine, a test team's groups and pages, the MPIs found, the settings"),
    "profile": "run a program and print how it spends its time in collectives",
    "compare": ("run a program alternately without and with huddle, and compare the times"),
    "doctor": ("check whether ranks on this machine can use huddle, and print what to change"),
    "explain": ("print which algorithm serves a call, and why, on this or a described machine"),
    "tune": "measure which algorithms are the fastest on this machine, for later programs",
    "wisdom": "print what huddle has learned on this machine; export, import, merge or forget it",
    "lab": "the laboratory: simulate, machine, validate, model, reproduce",
    "settings": ("print every setting: its value, the origin of the value, and what it does"),
}


class Huddle(Group):
    """The group of all commands. src/launch defines the options of `run`."""

    def imported(self, ctx: click.Context, name: str) -> click.Command:
        if name == "run" and ctx.resilient_parsing:  # completion
            return run_options.command(ctx.obj.layout)
        found = super().imported(ctx, name)
        if getattr(found, "takes_command", False) and ctx.resilient_parsing:
            found.params.append(run_options.COMMAND)
        return found


def show_version(ctx: click.Context, _param: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        print("huddle", ctx.obj.layout.ask("version"))
        ctx.exit()


HUDDLE = Huddle(
    "huddle",
    COMMANDS,
    "cli",
    help="Fast collectives of unmodified MPI programs inside a node.",
    epilog=exit_status.HELP,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=show_version,
            help="Print the library's version.",
        )
    ],
)


def check_command(arguments: list[str]) -> None:
    """Raises CliError with the nearest command if a word is not a command."""
    word = next((word for word in arguments if not word.startswith("-")), None)
    if word is None or word in COMMANDS:
        return
    if word in lab.COMMANDS:
        raise CliError(f"{word} is a command of the laboratory: huddle lab {word}", BAD_USE)
    import shutil

    hint = validators.hint(word, COMMANDS, f"the commands are {', '.join(COMMANDS)}")
    if shutil.which(word):
        hint = f"did you mean huddle run -- {word} ...?"
    raise CliError(f"{validators.shown(word)} is not a command of huddle; {hint}", BAD_USE)


def discard_output() -> None:
    """Redirects unwritable output, so that Python's exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_anything() -> None:
    """Makes standard output escape characters that its encoding lacks, such as in a file's name."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def dispatch(arguments: list[str], layout: Layout) -> int:
    """Returns the exit status; its output may not have been written yet."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    words, asked = arguments[:cut], Asked(layout, arguments[cut + 1 :])
    if shell := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(HUDDLE, {"obj": asked}, "huddle", COMPLETE, shell)
    if words and words[0] not in ("-h", "--help", "--version"):
        check_command(words)
    stop.listen()
    try:
        context = HUDDLE.make_context("huddle", list(words) or ["--help"], obj=asked)
        return HUDDLE.invoke(context)
    except click.exceptions.Exit as end:  # the end of --help and --version
        return BAD_USE if not words else end.exit_code
    except click.UsageError as error:
        raise CliError(text_of(error), BAD_USE) from error
    except validators.BadValue as error:  # a command itself reads the value
        command = " ".join(words[: 1 + (words[0] == "lab")])
        raise CliError(f"{command}: {error}", BAD_USE) from error


def main(arguments: list[str], layout: Layout) -> int:
    """
    Runs the command and returns the exit status.  Words after the first -- are the user's command.
    """
    if sys.stdout is None:  # closed
        print("huddle: standard output cannot be written: it is closed", file=sys.stderr)
        return FAILED
    print_anything()
    try:
        status = dispatch(arguments, layout)
        sys.stdout.flush()
        return status
    except ModuleNotFoundError as error:  # imported where it is used
        missing = f"{error.name} is missing"
        print(f"huddle: {missing}: Debian's python3-{error.name}, or PyPI's", file=sys.stderr)
        return FAILED
    except CliError as error:
        print(f"huddle: {error}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        discard_output()
        return FAILED
    except OSError as error:
        if error.filename is not None:  # not an error of standard output
            raise
        discard_output()
        print(f"huddle: standard output cannot be written: {error.strerror}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt as interrupt:
        return stop.status_of(interrupt)
