# SPDX-License-Identifier: BSD-3-Clause
"""
huddle profile: runs a program and tells where its time in collectives goes: which communicator,
size and caller, waiting for late ranks or moving data, which ranks are late, what fell back, and
what huddle saves by estimate.
"""

import json
import sys
import tempfile

from ..common import endings, places, recorded, records, stop
from ..common.layout import Trouble
from . import facts, page, tables

NOT_STARTED = (126, 127)  # the command, as a shell has it


def add_arguments(parser):
    parser.takes_command = True
    parser.add_argument("--off", action="store_true", help="run the program without huddle")
    parser.add_argument("--json", metavar="FILE", help="write the profile to FILE as JSON")
    parser.add_argument("--html", metavar="FILE", help="write one page with plots to FILE")
    parser.add_argument(
        "--from",
        dest="folder",
        metavar="FOLDER",
        help="of records that 'huddle run --record FOLDER' has made, instead of a command",
    )
    parser.epilog = (
        "The command follows --, for example: huddle profile --html app.html -- mpirun -np 4 ./app."
        " The table is printed on standard error after the program has ended. The exit status is"
        " the program's. What huddle saves is estimated from times of huddle tune --against, where"
        " there are any; huddle compare measures it."
    )


def report(options, folder, command, layout, status):
    try:
        ranks = records.read(folder)
    except OSError as error:
        raise Trouble(f"--from {folder}: {error.strerror}", 2) from error
    if not ranks and status in NOT_STARTED:  # the launcher has said why
        return status
    if not ranks:
        line = (
            endings.unwritten(folder)
            or endings.damaged(folder)
            or (f"no records in {folder}" if options.folder else endings.no_process(command))
        )
        print(f"huddle: {line}", file=sys.stderr)
        return status or 1
    found = facts.collect(ranks, layout, command, status, folder)
    tables.show(found, sys.stderr)
    if options.json:
        places.write(options.json, json.dumps(found, indent=1) + "\n")
    if options.html:
        places.write(options.html, page.of(found))
    return status


def run(options, command, layout):
    with tempfile.TemporaryDirectory(prefix="huddle-") as folder:
        try:
            status, _, _ = recorded.run(layout, folder, command, options.off)
        except KeyboardInterrupt as interrupt:  # the profile until then is wanted
            status = stop.status_of(interrupt)
        status = 128 - status if status < 0 else status
        return report(options, folder, command, layout, status)


def main(options, command, layout):
    if bool(command) == bool(options.folder):
        raise Trouble("expected either a command after --, or --from FOLDER", 2)
    places.check("--json", options.json)
    places.check("--html", options.html)
    if options.folder:
        return report(options, options.folder, command, layout, 0)
    return run(options, command, layout)
