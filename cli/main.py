# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one row per command.  Only `run --explain` comes here of `run` (src/launch)."""

import argparse
import difflib
import importlib
import os
import shutil
import sys

from .common import stop
from .common.layout import Trouble
from .common.parser import Parser

# Help of each command.  Its module has its name, add_arguments(parser), and
# main(options, command, layout).
COMMANDS = {
    "run": "run an MPI program with huddle",
    "bench": "measure collectives, of huddle and of other MPIs, side by side",
    "who": "print which ranks of a running job wait for which, inside huddle's collectives",
    "info": "print the machine, a team's groups and pages, the MPIs found, the settings in effect",
    "profile": "run a program, and print where its time in collectives goes",
    "compare": "run a program without and with huddle in turn, and compare",
    "doctor": "find out whether ranks here can use huddle, and what to change",
    "explain": "print which algorithm would serve a call, and why, here or on a described machine",
    "simulate": "simulate how long collectives take on a described machine",
    "validate": "compare simulated times with measured ones",
    "tune": "measure this machine and write a tuning file",
    "model": (
        "print what time models predict for a collective on a described machine: limits, times,"
        " the best parameters"
    ),
    "reproduce": "compare the papers' results with those of formulas and simulation",
    "settings": "print every setting: what it does, its default, its value and where that is from",
}


def module_of(command):
    """Imported when its command is asked for: all of them take longer than most answers."""
    return importlib.import_module("." + command, __package__)


def parser_of(asked):
    """Has the arguments of the command that is asked for (None: there is none)."""
    parser = Parser(
        prog="huddle", description="Fast collectives of unmodified MPI programs inside a node."
    )
    parser.add_argument("--version", action="store_true", help="print the library's version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, words in COMMANDS.items():
        one = commands.add_parser(name, help=words, description=words, allow_abbrev=False)
        if name == asked:
            module_of(name).add_arguments(one)
    return parser


def check_command(arguments):
    """A word that is no command gets the nearest one."""
    word = next((word for word in arguments if not word.startswith("-")), None)
    if word is None or word in COMMANDS:
        return
    near = difflib.get_close_matches(word, COMMANDS, 1)
    hint = f"did you mean {near[0]}?" if near else f"accepted: {', '.join(COMMANDS)}"
    if shutil.which(word):
        hint = f"did you mean huddle run -- {word} ...?"
    raise Trouble(f"no command {word}: {hint}", 2)


def discard_output():
    """Redirects output that cannot be written, so that Python's exit does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_anything():
    """What the encoding of standard output does not have, a file's name say, is printed escaped."""
    if getattr(sys.stdout, "errors", None) == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def obey(arguments, layout):
    """Returns the exit status; its output may not have been written yet."""
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    if not any(word in ("-h", "--help", "--version") for word in arguments[:cut][:1]):
        check_command(arguments[:cut])
    parser = parser_of(next((word for word in arguments if word in COMMANDS), None))
    try:
        options = parser.parse_args(arguments[:cut])
    except SystemExit as end:  # a parser's own: --help, or bad words
        return end.code
    stop.listen()
    if options.version:
        print("huddle", layout.ask("version"))
        return 0
    if not options.command:
        parser.print_help()
        return 2
    try:
        return module_of(options.command).main(options, arguments[cut + 1 :], layout)
    except argparse.ArgumentTypeError as error:  # of a value that a command itself reads
        raise Trouble(f"{options.command}: {error}", 2) from error


def main(arguments, layout):
    """The words after the first -- are the user's command.  Returns the exit status."""
    if sys.stdout is None:  # closed
        print("huddle: standard output cannot be written: it is closed", file=sys.stderr)
        return 1
    print_anything()
    try:
        status = obey(arguments, layout)
        sys.stdout.flush()
        return status
    except Trouble as trouble:
        print(f"huddle: {trouble}", file=sys.stderr)
        return trouble.status
    except BrokenPipeError:
        discard_output()
        return 1
    except OSError as error:
        if error.filename is not None:  # not an error of standard output
            raise
        discard_output()
        print(f"huddle: standard output cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        return stop.status_of(interrupt)
