# SPDX-License-Identifier: BSD-3-Clause
"""Merges the lines of wisdom files, of which each may have two about a cell (wisdom.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import wisdom, wisdom_place
from .layout import Layout
from .rules import Line

MANY = 4  # times as many samples count more than a newer date
STATES = 2  # states of the machine that have a line each about a cell


def better(line: Line, other: Line) -> bool:
    """
    Returns whether a line is from many more samples than the other, or from about as many and
    newer.  The samples are of all candidates of the case, so they say little about the choice.
    """
    mine, theirs = wisdom.count(line, "samples"), wisdom.count(other, "samples")
    if mine != theirs and max(mine, theirs) >= MANY * min(mine, theirs):
        return mine > theirs
    return (wisdom.age(line), mine) > (wisdom.age(other), theirs)


class Merged(NamedTuple):
    cells: list[Line]
    added: list[Line]
    replaced: list[Line]
    kept: list[Line]  # old lines that new ones could have replaced
    equal: list[Line]  # new lines that are already there


def merge(old: list[Line], new: list[Line], wins: Callable[[Line, Line], bool] = better) -> Merged:
    """
    Merges new lines into old lines.  wins(new, old): whether the new decision about a cell replaces
    the old decision.  The old decision then stays as the winner in another state of the machine, if
    its choice differs and the new lines have no such winner.
    """
    cells = wisdom.by_cell(old)
    added, replaced, kept, equal = [], [], [], []
    for where, lines in wisdom.by_cell(new).items():
        line, there = lines[0], cells.get(where, [])
        if not there:
            added.append(line)
        elif there == lines:
            equal.append(line)
            continue
        elif wins(line, there[0]):
            replaced.append(line)
            others = [one for one in there if wisdom.choice_text(one) != wisdom.choice_text(line)]
            lines = [*lines, *others[:1]]
        else:
            kept.append(there[0])
            continue
        cells[where] = lines[:STATES]
    return Merged(
        [line for lines in cells.values() for line in lines], added, replaced, kept, equal
    )


def add(
    layout: Layout,
    here: wisdom.Wisdom,
    cells: list[Line],
    wins: Callable[[Line, Line], bool] = better,
    force: bool = False,
) -> Merged:
    """
    Adds cells to a file.  Raises CliError if programs add nothing to the file, unless `force` is
    set: the file then gets the machine and MPI of `here`, a result of place().
    """
    done: list[Merged] = []

    def change(old: wisdom.Wisdom | None) -> wisdom.Wisdom:
        if old and not force:
            wisdom_place.check_written(old)
        done.append(merge(old.cells if old else [], cells, wins))
        return here._replace(cells=done[0].cells)

    wisdom.update(layout, here, change)
    return done[0]
