# SPDX-License-Identifier: BSD-3-Clause
"""What was learned here, as the wisdom file of one MPI has it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..common import peers, wisdom
from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.rules import Line
from ..common.text import parameter_text, us_text, warn

USED = ("on", "read")  # values of HUDDLE_WISDOM with which the user's files are used


class Known(NamedTuple):
    """
    Known choices. file: the file read by a program under its MPI. where: 'here', or on which other
    machine the choices were learned. others: further MPIs with choices known here. unused: why the
    file is not used.
    """

    file: wisdom.Wisdom
    where: str = "here"
    others: tuple[str, ...] = ()
    unused: str = ""


def first_found(layout: Layout, files: list[wisdom.Wisdom]) -> wisdom.Wisdom:
    """Returns the file of the MPI that huddle tune finds first, or else the first file."""
    if len(files) == 1:
        return files[0]
    mpis = peers.find(layout, (), os.path.join(layout.prefix, "peers")).values()
    versions = [peers.version_of(mpi) for mpi in mpis]
    order = {name: at for at, name in reversed(list(enumerate(versions)))}
    return min(files, key=lambda one: order.get(one.mpi, len(versions)))


def of_folder(layout: Layout, mpi: str | None, used: bool) -> Known | None:
    """Chooses a file of the user's folder that is of this machine."""
    files, refused = wisdom.known(layout, mpi)
    if used:
        warn(*refused)
    files = [one for one in files if wisdom.is_of_here(layout, one.path)]
    if not files and mpi is not None:
        raise CliError(f"--mpi {mpi}: what is known of it is of another machine", BAD_USE)
    if not files:
        return None
    found = first_found(layout, files)
    others = tuple(one.mpi for one in files if one is not found)
    return Known(found, "here", others, "" if used else "HUDDLE_WISDOM=off")


def of_setting(layout: Layout, path: str, mpi: str | None) -> Known | None:
    """Reads the file that HUDDLE_WISDOM names."""
    if not os.path.exists(path):
        return None
    try:
        found = wisdom.read(layout, path)
    except CliError as error:
        warn(str(error))
        return None
    if found.wrong:
        warn(found.wrong)
    if mpi is not None and found.mpi and not wisdom.is_of(found, mpi):
        raise CliError(f"--mpi {mpi}: HUDDLE_WISDOM={path} is of {found.mpi}", BAD_USE)
    return Known(found, where(layout, found))


def read(layout: Layout, mpi: str | None) -> Known | None:
    """
    Returns the known choices here, under the given MPI, or else under the first MPI found.  Prints
    a line for each file with an error.
    """
    setting = wisdom.setting(layout)
    if setting in USED or setting == wisdom.OFF:
        return of_folder(layout, mpi, setting in USED)
    return of_setting(layout, setting, mpi)


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


def is_within(asked: str, level: str) -> bool:
    """Returns whether ranks within a level meet the condition `within`."""
    return asked in ("", level) or (asked == "unit" and level != "machine")


def fits(line: Line, answer: dict[str, Any]) -> bool:
    """Returns whether a line is about calls of the team and collective of an answer."""
    facts, about = answer["facts"], line.conditions
    ranks = wisdom.ranks(line)
    yes_or_no = {name: "yes" if facts[name] else "no" for name in ("oversubscribed", "divided")}
    return (
        line.name == answer["collective"]
        and "nodes" not in about
        and all(about.get(name, value) == value for name, value in yes_or_no.items())
        and is_within(about.get("within", ""), facts["within"])
        and (not ranks or ranks.low <= answer["ranks"] <= (ranks.high or answer["ranks"]))
    )


def of_team(known: Known | None, answer: dict[str, Any], reduction: str) -> Iterator[Line]:
    """Yields the lines about a team's calls.  reduction: the kind, or "" of other collectives."""
    for line in known.file.last if known else ():
        if fits(line, answer) and line.conditions.get("reduction", reduction) == reduction:
            yield line


def is_about(line: Line, size: int) -> bool:
    found = wisdom.sizes(line)
    return not found or found.low <= size <= (size if found.high is None else found.high)


def text(mpi: str, line: Line, at: str = "here") -> str:
    """
    Formats a line: 'here on 2026-11-29 from 9 samples of this case: queue, budget 1M, 32 us; before
    115; MPICH's own 88'.  at: what where() gives.
    """
    own = f"{re.sub(r' [0-9].*', '', mpi) or 'the MPI'}'s own"
    is_own = line.algorithm == wisdom.HOST
    words = [own if is_own else line.algorithm]
    words += [parameter_text(*pair) for pair in line.params.items() if pair[1] != "0"]
    if ns := wisdom.count(line, "ns"):
        words.append(f"{us_text(ns)} us")
    parts = [", ".join(words)]
    if before := wisdom.timed(line.notes.get("before", "")):
        parts.append(f"before {us_text(before[1])}")
    if not is_own and (mpi_ns := wisdom.count(line, "mpi_ns")):
        parts.append(f"{own} {us_text(mpi_ns)}")
    when = f" on {line.notes['date']}" if "date" in line.notes else ""
    order = line.conditions.get("reduction")
    of = f"{wisdom.samples_text(line)}{f', {order} reductions' if order else ''}"
    return f"{at}{when} {of}: {'; '.join(parts)}"
