# SPDX-License-Identifier: BSD-3-Clause
"""
huddle doctor: one line for each thing that huddle needs, with what to change.  Exit status 0: ranks
on this machine can use huddle; 1: they cannot; 2: bad arguments.
"""

import json

from ..common.layout import Trouble
from ..common.options import MAX_TEAM, whole
from . import installed, machine
from .finding import FAIL, OK, WARN, Finding

MARKS = {OK: "ok  ", WARN: "warn", FAIL: "FAIL"}


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--ranks",
        type=whole(1, MAX_TEAM),
        metavar="N",
        help="ranks of the job on this node (default: one per processor that may be used)",
    )


def findings(options, layout):
    here = machine.Machine(options.ranks or 0)
    found = []
    for name, check in (*installed.CHECKS, *machine.CHECKS):
        try:
            found += check(here, layout)
        except Trouble as trouble:
            found.append(Finding(name, FAIL, str(trouble)))
    return found


def show(found):
    for one in found:
        change = f"; {one.change}" if one.change else ""
        print(f"{MARKS[one.state]}  {one.name}: {one.text}{change}")
    failed = sum(one.state == FAIL for one in found)
    warned = sum(one.state == WARN for one in found)
    verdict = "cannot use huddle" if failed else "can use huddle"
    print(f"\nRanks here {verdict}: {failed} to change, {warned} to look at.")


def main(options, _command, layout):
    found = findings(options, layout)
    works = not any(one.state == FAIL for one in found)
    if options.json:
        print(json.dumps({"works": works, "findings": [one._asdict() for one in found]}, indent=2))
    else:
        show(found)
    return 0 if works else 1
