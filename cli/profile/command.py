# SPDX-License-Identifier: BSD-3-Clause
"""
huddle profile: runs a program and tells where its time in collectives goes: which communicator,
size and caller, waiting for late ranks or moving data, which ranks are late, what fell back, and
what huddle saves by estimate.
"""

from __future__ import annotations

import json
import sys
import tempfile

from ..common import bad_settings, exit_report, output_files, recorded, records, stop
from ..common.command_line import Command, Option
from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.types import Options
from . import facts, page, tables

NOT_STARTED = (126, 127)  # the command, as a shell has it


PARAMETERS = (
    Option("--off", is_flag=True, help="run the program without huddle"),
    Option("--json", metavar="FILE", help="write the profile to FILE as JSON"),
    Option("--html", metavar="FILE", help="write one page with plots to FILE"),
    Option(
        "--from",
        "folder",
        metavar="FOLDER",
        help="use the records of 'huddle run --record FOLDER' instead of running a command",
    ),
)
EPILOG = (
    "The command follows --, for example: huddle profile --html app.html -- mpirun -np 4 ./app."
    " The table is printed on standard error after the program has ended. The exit status is"
    " the program's, or 1 if no MPI process was seen. The time that huddle saves is estimated from"
    " the times that 'huddle tune' has measured, if there are any; 'huddle compare' measures the"
    " saving itself."
)


def report(options: Options, folder: str, command: list[str], layout: Layout, status: int) -> int:
    try:
        ranks = records.read(folder)
    except OSError as error:
        raise CliError(f"--from {folder}: {error.strerror}", BAD_USE) from error
    if not ranks and status in NOT_STARTED:  # the launcher has said why
        return status
    if not ranks:
        line = (
            exit_report.unwritten(folder)
            or exit_report.damaged(folder)
            or (f"no records in {folder}" if options.folder else exit_report.no_process(command))
        )
        print(f"huddle: {line}", file=sys.stderr)
        return status or 1
    found = facts.collect(ranks, layout, command, status, folder)
    tables.show(found, sys.stderr)
    if options.json:
        output_files.write(options.json, json.dumps(found, indent=1) + "\n")
    if options.html:
        output_files.write(options.html, page.of(found))
    return status


def run(options: Options, command: list[str], layout: Layout) -> int:
    with tempfile.TemporaryDirectory(prefix="huddle-") as folder:
        try:
            status, _, _ = recorded.run(layout, folder, command, options.off)
        except KeyboardInterrupt as interrupt:  # the profile until then is wanted
            status = stop.status_of(interrupt)
        status = 128 - status if status < 0 else status
        return report(options, folder, command, layout, status)


def main(options: Options, command: list[str], layout: Layout) -> int:
    if bool(command) == bool(options.folder):
        raise CliError("expected either a command after --, or --from FOLDER", BAD_USE)
    output_files.check("--json", options.json)
    output_files.check("--html", options.html)
    if options.folder:
        return report(options, options.folder, command, layout, 0)
    if not options.off:
        bad_settings.refuse(layout)
    return run(options, command, layout)


COMMAND = Command(main, PARAMETERS, EPILOG, takes_command=True)
