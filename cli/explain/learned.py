# SPDX-License-Identifier: BSD-3-Clause
"""What was learned here of a call, as wisdom files have it."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from ..common import wisdom
from ..common.layout import CliError, Layout
from ..common.rules import Line
from ..common.sizes import written
from ..common.text import us_text

USED = ("on", "read")  # values of HUDDLE_WISDOM with which the user's files are used


def files(layout: Layout) -> list[wisdom.Wisdom]:
    """
    Returns the files that ranks on this machine with these settings would read.  Prints a line for
    each file with which something is wrong.
    """
    setting = wisdom.setting(layout)
    found: list[wisdom.Wisdom] = []
    refused: list[str] = []
    if setting in USED:
        found, refused = wisdom.known(layout)
        found = [one for one in found if wisdom.is_of_here(layout, one.path)]
    elif setting != wisdom.OFF and os.path.exists(setting):
        try:
            found = [wisdom.read(layout, setting)]
            refused = [found[0].wrong] if found[0].wrong else []
        except CliError as error:
            refused = [str(error)]
    for line in refused:
        print(f"huddle: {line}", file=sys.stderr)
    return found


def where(layout: Layout, found: wisdom.Wisdom) -> str:
    """
    Returns in words on which machine a file was learned: 'here', or 'on another machine
    (processors 2, here 8)'.  A file that a setting names may be of any machine.
    """
    about = {name: value for name, value in found.machine.items() if name != "mpi"}
    here = wisdom.place(layout, "any").machine
    differ = [
        f"{name} {value}, here {here.get(name, 'unknown')}"
        for name, value in about.items()
        if here.get(name) != value
    ]
    if differ:
        return f"on another machine ({'; '.join(differ)})"
    return "here" if about else "on a machine that the file does not name"


def fits(line: Line, answer: dict[str, Any]) -> bool:
    """Returns whether a line is about the call that the library has explained."""
    facts, about, size = answer["facts"], line.conditions, wisdom.sizes(line)
    yes_or_no = {name: "yes" if facts[name] else "no" for name in ("oversubscribed", "divided")}
    wanted = {**yes_or_no, "ranks": str(answer["ranks"]), "within": facts["within"]}
    return (
        line.name == answer["collective"]
        and "nodes" not in about
        and all(about.get(name, value) == value for name, value in wanted.items())
        and (not size or size.low <= answer["bytes"] <= (size.high or answer["bytes"]))
    )


def of_call(known: list[wisdom.Wisdom], answer: dict[str, Any]) -> list[tuple[wisdom.Wisdom, Line]]:
    """Returns [(file, line)] of the lines that are about a call."""
    return [(found, line) for found in known for line in found.last if fits(line, answer)]


def value_text(word: str) -> str:
    return written(int(word)) if word.isdecimal() else word


def text(mpi: str, line: Line, at: str = "here") -> str:
    """
    Formats a line: 'here on 2026-11-29 from 9 samples of this case: queue, budget 1M, 32 us; before
    115; MPICH's own 88'.  at: what where() gives.
    """
    own = f"{re.sub(r' [0-9].*', '', mpi) or 'the MPI'}'s own"
    is_own = line.algorithm == wisdom.HOST
    words = [own if is_own else line.algorithm]
    words += [f"{name} {value_text(value)}" for name, value in line.params.items()]
    if ns := wisdom.count(line, "ns"):
        words.append(f"{us_text(ns)} us")
    said = [", ".join(words)]
    if before := wisdom.timed(line.notes.get("before", "")):
        said.append(f"before {us_text(before[1])}")
    if not is_own and (mpi_ns := wisdom.count(line, "mpi_ns")):
        said.append(f"{own} {us_text(mpi_ns)}")
    when = f" on {line.notes['date']}" if "date" in line.notes else ""
    order = line.conditions.get("reduction")
    of = f"{wisdom.samples_text(line)}{f', {order} reductions' if order else ''}"
    return f"{at}{when} {of}: {'; '.join(said)}"
