# SPDX-License-Identifier: BSD-3-Clause
"""
huddle doctor: one line for each thing that huddle needs, with what to change.  Exit status 0: ranks
on this machine can use huddle; 1: they cannot; 2: bad arguments.
"""

from __future__ import annotations

import json
from typing import Any

from ..common.command_line import Command, Option
from ..common.exit_status import DONE, FAILED
from ..common.layout import CliError, Layout
from ..common.options import MAX_TEAM, whole
from ..common.text import count_text
from ..common.types import Options
from . import installed, machine
from .finding import FAIL, OK, WARN, Finding

MARKS = {OK: "ok  ", WARN: "warn", FAIL: "FAIL"}


PARAMETERS = (
    Option("--json", is_flag=True, help="print JSON"),
    Option(
        "--ranks",
        type=whole(1, MAX_TEAM),
        metavar="N",
        help="number of ranks of the job on this node (default: one per usable processor)",
    ),
)


def findings(options: Options, layout: Layout) -> list[Finding]:
    here = machine.Machine(options.ranks or 0)
    found = []
    for name, check in (*installed.CHECKS, *machine.CHECKS):
        try:
            found += check(here, layout)
        except CliError as error:
            found.append(Finding(name, FAIL, str(error)))
    return found


def show(found: list[Finding]) -> None:
    for one in found:
        change = f"; {one.change}" if one.change else ""
        print(f"{MARKS[one.state]}  {one.name}: {one.text}{change}")
    failed = sum(one.state == FAIL for one in found)
    warned = sum(one.state == WARN for one in found)
    verdict = "cannot use huddle" if failed else "can use huddle"
    print(
        f"\nRanks here {verdict}: {count_text(failed, 'failure')}, {count_text(warned, 'warning')}."
    )


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    found = findings(options, layout)
    works = not any(one.state == FAIL for one in found)
    if options.json:
        print(json.dumps({"works": works, "findings": [one._asdict() for one in found]}, indent=2))
    else:
        show(found)
    return DONE if works else FAILED


COMMAND = Command(main, PARAMETERS)
