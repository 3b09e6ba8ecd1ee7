# SPDX-License-Identifier: BSD-3-Clause
"""huddle run -- COMMAND...: sets the environment and executes COMMAND."""

import os
import shutil

from .common import mpis
from .common.launching import check_loader, preloaded, settings_of
from .common.layout import Trouble
from .common.text import heading, table


def add_arguments(parser):
    parser.usage = "huddle run [--explain] [--set NAME=VALUE ...] [--stats[=FILE]] -- COMMAND..."
    parser.add_argument(
        "--explain",
        action="store_true",
        help="print the variables that would be set and the MPIs that are supported; run nothing",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting, for example HUDDLE_MEMORY=1M (see huddle settings)",
    )
    parser.add_argument(
        "--stats",
        nargs="?",
        const="1",
        metavar="FILE",
        help="print statistics at the end, or write them to FILE as JSON",
    )


def wanted(options, layout):
    """The environment variables to set, in order."""
    variables = settings_of(options.set, layout)
    if options.stats == "":
        raise Trouble("--stats=FILE: the name of the file is missing", 2)
    if options.stats:
        variables["HUDDLE_STATS"] = (
            "1" if options.stats == "1" else "json:" + os.path.abspath(options.stats)
        )
    return preloaded(variables, layout)


def explain(variables, command, layout):
    print("huddle run would set")
    for name, value in variables.items():
        print(f"  {name}={value}")
    print(f"and execute\n  {' '.join(command) if command else '(the command after --)'}")
    heading("MPIs on PATH, and the front end that the loader would choose")
    table(
        ["mpi", "launcher", "front end"],
        [
            [
                m["mpi"],
                m["command"],
                m["path"] or f"none built ({m['front_end']}): runs without huddle",
            ]
            for m in mpis.on_path(layout)
        ],
    )


def main(options, command, layout):
    variables = wanted(options, layout)
    if options.explain:
        explain(variables, command, layout)
        return 0
    if not command:
        raise Trouble("nothing to run: huddle run [options] -- COMMAND...", 2)
    check_loader(layout)
    if not shutil.which(command[0]):
        here = os.path.dirname(command[0]) and os.path.exists(command[0])
        raise Trouble(
            *(
                (f"cannot be run: {command[0]}", 126)
                if here
                else (f"command not found: {command[0]}", 127)
            )
        )
    try:
        os.execvpe(command[0], command, {**os.environ, **variables})
    except OSError as error:
        raise Trouble(f"cannot run {command[0]}: {error.strerror}", 126) from error
