# SPDX-License-Identifier: BSD-3-Clause
"""What was learned here, as the wisdom file of one MPI has it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..common import peers, wisdom, wisdom_place
from ..common.layout import Layout
from ..common.rules import Line
from ..common.text import parameter_text, us_text, warn


class Known(NamedTuple):
    """
    The known choices. file: the file that a program under its MPI reads; its path is "" if nothing
    is known.  where: 'here', or the other machine on which the choices were learned.  others:
    further MPIs with choices known here.  elsewhere: number of files of other machines.  unused:
    why a program does not use the file.
    """

    file: wisdom.Wisdom
    where: str = "here"
    others: tuple[str, ...] = ()
    elsewhere: int = 0
    unused: str = ""


def first_found(layout: Layout, files: list[wisdom.Wisdom]) -> wisdom.Wisdom:
    """Returns the file of the MPI that huddle tune finds first, or else the first file."""
    if len(files) == 1:
        return files[0]
    mpis = peers.find(layout, (), os.path.join(layout.prefix, "peers")).values()
    versions = [peers.version_of(mpi) for mpi in mpis]
    order = {name: at for at, name in reversed(list(enumerate(versions)))}
    return min(files, key=lambda one: order.get(one.mpi, len(versions)))


def nothing(mpi: str | None) -> wisdom.Wisdom:
    return wisdom.Wisdom("", {"mpi": mpi or ""}, [])


def of_folder(layout: Layout, mpi: str | None, used: bool) -> Known:
    """Chooses a file of the user's folder that is of this machine."""
    files, refused = wisdom_place.known(layout)
    if used:
        warn(*refused)
    here = [one for one in files if one.here]
    if mpi is not None:
        wisdom_place.check_mpi(mpi, files)
    able = [one for one in here if mpi is None or wisdom_place.is_of(one, mpi)]
    found = first_found(layout, able) if able else nothing(mpi)
    return Known(
        found,
        where(layout, found),
        tuple(one.mpi for one in here if one is not found) if mpi is None or not able else (),
        len(files) - len(here),
        found.not_used if used else "HUDDLE_WISDOM=off",
    )


def of_setting(layout: Layout, path: str, mpi: str | None) -> Known:
    """Reads the file of HUDDLE_WISDOM, which programs use on any machine and with any MPI."""
    files, refused = wisdom_place.known(layout)
    warn(*refused)
    if mpi is not None:
        wisdom_place.check_mpi(mpi, files)
    if not files:
        return Known(nothing(mpi)._replace(named=True))
    (found,) = files
    if mpi is not None and not wisdom_place.is_of(found, mpi):
        found = wisdom.read(layout, path, named=True, mpi=mpi)
    return Known(found, where(layout, found))


def read(layout: Layout, mpi: str | None) -> Known:
    """
    Returns the known choices here, under the given MPI, or else under the first MPI found.  Prints
    a line for each file with an error.
    """
    setting = wisdom_place.setting(layout)
    if setting in (wisdom_place.OFF, wisdom_place.READ, wisdom_place.ON):
        return of_folder(layout, mpi, setting != wisdom_place.OFF)
    return of_setting(layout, setting, mpi)


def where(layout: Layout, found: wisdom.Wisdom) -> str:
    """
    Returns in words on which machine a file was learned: 'here', or 'on another machine
    (processors 2, here 8)'.
    """
    about = {name: value for name, value in found.machine.items() if name != "mpi"}
    if not found.elsewhere:
        return "here" if about or not found.path else "on a machine that the file does not name"
    here = wisdom_place.place(layout, "any").machine
    differ = [
        f"{name} {value}, here {here[name]}"
        for name, value in about.items()
        if here.get(name, value) != value
    ]
    return f"on another machine ({'; '.join(differ)})"


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


def of_team(lines: Iterable[Line], answer: dict[str, Any], reduction: str) -> Iterator[Line]:
    """Yields the lines about a team's calls.  reduction: the kind, or "" of other collectives."""
    for line in lines:
        if fits(line, answer) and line.conditions.get("reduction", reduction) == reduction:
            yield line


def is_about(line: Line, size: int) -> bool:
    found = wisdom.sizes(line)
    return not found or found.low <= size <= (size if found.high is None else found.high)


def text(mpi: str, line: Line, at: str = "here") -> str:
    """
    Formats a line: 'here on 2026-11-29 from 9 samples of this case: queue, budget 1M, 32 us; first
    choice 115; MPICH's own 88'.  at: what where() gives.
    """
    own = f"{re.sub(r' [0-9].*', '', mpi) or 'the MPI'}'s own"
    is_own = line.algorithm == wisdom.HOST
    words = [own if is_own else line.algorithm]
    words += [parameter_text(*pair) for pair in line.params.items() if pair[1] != "0"]
    if ns := wisdom.count(line, "ns"):
        words.append(f"{us_text(ns)} us")
    parts = [", ".join(words)]
    if before := wisdom.timed(line.notes.get("before", "")):
        parts.append(f"first choice {us_text(before[1])}")
    if not is_own and (mpi_ns := wisdom.count(line, "mpi_ns")):
        parts.append(f"{own} {us_text(mpi_ns)}")
    when = f" on {line.notes['date']}" if "date" in line.notes else ""
    order = line.conditions.get("reduction")
    of = f"{wisdom.samples_text(line)}{f', {order} reductions' if order else ''}"
    return f"{at}{when} {of}: {'; '.join(parts)}"
