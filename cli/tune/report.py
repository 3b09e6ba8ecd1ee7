# SPDX-License-Identifier: BSD-3-Clause
"""What huddle tune prints at its end, on one screen: what is faster, what was not decided, why."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ..common import wisdom_place
from ..common.rules import Line
from ..common.sizes import written
from ..common.text import WIDTH, count_text, ranges_text, show_paragraph, table, wrapped
from ..wisdom import learned
from . import grid

if TYPE_CHECKING:
    from .driver import Driver
    from .grid import Cell

# The report of one MPI fits WIDTH x 40 characters.
ROWS = 8  # maximum of the table
UNDECIDED_LINES = 9  # maximum about undecided cases
REASON_LINES = 3  # maximum about one reason
FAILURE_BYTES = 150  # maximum of a launcher's message
WORTH = 1.05  # less is not worth a row
OVER = "*"  # mark of more ranks than processors
HEADERS = ["collective", "ranks", "bytes", "choice", "vs MPI", "vs first"]
RIGHT = (4, 5)


def row(group: list[Line]) -> list[str]:
    words = dict(zip(learned.HEADERS, learned.row(group, learned.algorithm)))
    return [words[name].replace(" oversubscribed", OVER) for name in HEADERS]


def faster(cells: list[Line], names: list[str]) -> list[list[str]]:
    """Returns rows of what is faster than the first choice, the largest gains first."""
    lines = [line for line in cells if (learned.of_first(line) or 1) >= WORTH]
    groups = learned.ranges(sorted(lines, key=learned.order_of(names)), learned.algorithm)

    def gain(group: list[Line]) -> float:
        return learned.mean([ratio for line in group if (ratio := learned.of_first(line))]) or 1

    return [row(group) for group in sorted(groups, key=gain)[::-1]]


def sizes_text(sizes: list[int]) -> str:
    """
    Formats sizes of the grid: ' 64-256,64K', in which a range has no gap, or '' if the collective
    has no sizes.
    """
    if not all(sizes):
        return ""
    runs: list[list[int]] = []
    for size in sorted(sizes):
        at = grid.SIZES.index(size)
        if runs and at == runs[-1][1] + 1:
            runs[-1][1] = at
        else:
            runs.append([at, at])
    ends = [dict.fromkeys(written(grid.SIZES[at]) for at in run) for run in runs]
    return " " + ",".join("-".join(run) for run in ends)


def undecided_text(undecided: dict[Cell, str]) -> list[str]:
    """Returns a paragraph for each reason for which cases are undecided.  It names all of them."""
    reasons: dict[str, dict[tuple[str, str, int], list[int]]] = {}
    for cell, why in undecided.items():
        shape = (cell.collective, cell.reduction, cell.ranks)
        reasons.setdefault(why, {}).setdefault(shape, []).append(cell.size)
    paragraphs = []
    for why, shapes in reasons.items():
        calls: dict[str, list[int]] = {}
        for (name, reduction, ranks), sizes in shapes.items():
            call = f"{name}{' ' if reduction else ''}{reduction}{sizes_text(sizes)}"
            calls.setdefault(call, []).append(ranks)
        some = [f"{call} ({ranges_text(ranks)} ranks)" for call, ranks in calls.items()]
        total = sum(map(len, shapes.values()))
        paragraphs.append(f"{count_text(total, 'case')} undecided, {why}: {', '.join(some)}")
    return paragraphs


def cut(lines: list[str], count: int) -> list[str]:
    """Returns the first lines, the last of which ends with '...' if there are more."""
    if len(lines) <= count:
        return lines
    last = lines[count - 1][: WIDTH - 4].rpartition(" ")[0] or lines[count - 1][: WIDTH - 4]
    return [*lines[: count - 1], f"{last} ..."]


def show_undecided(undecided: dict[Cell, str]) -> None:
    """Prints the numbers of undecided cases, their reasons, and as many cases as fit."""
    lines = [cut(wrapped(text), REASON_LINES) for text in undecided_text(undecided)]
    for line in cut([line for some in lines for line in some], UNDECIDED_LINES):
        print(line)


def show_table(rows: list[list[str]]) -> None:
    table(HEADERS, rows[:ROWS], right=RIGHT)
    if len(rows) > ROWS:
        print(f"  ... and {len(rows) - ROWS} more: huddle wisdom prints all")
    learned.show_legend()
    if any(OVER in line[1] for line in rows[:ROWS]):
        print(f"  {OVER} more ranks than processors")


def show_failures(failures: list[str]) -> None:
    different = list(dict.fromkeys(failures))
    for failure in different[:1]:
        show_paragraph(f"A launch failed: {textwrap.shorten(failure, FAILURE_BYTES)}")
    if len(different) > 1:
        print(f"  ... and {count_text(len(different) - 1, 'launch')} in other ways")


def show(driver: Driver, cells: list[Line], names: list[str], busy: str | None) -> None:
    """
    Prints the results with one MPI.  names: the collectives in the library's order.  busy: other
    work on this machine, or None.
    """
    mpi = driver.variant.mpi
    decided = len(driver.cells) - len(driver.undecided)
    print(f"\n{mpi.version}: {decided} of {count_text(len(driver.cells), 'case')} decided.")
    rows = faster(cells, names)
    if rows:
        show_table(rows)
    elif decided:
        print("  Nothing is clearly faster than the first choices.")
    if cells:
        show_paragraph(learned.summary(cells))
    show_undecided(driver.undecided)
    show_failures(driver.failures)
    if busy:
        show_paragraph(f"This machine was busy, so choices may be wrong: {busy}.")


def print_use(place: str, output: bool, setting: str) -> None:
    """
    Prints where the results are and how to use them.  output: a tuning file was written.  setting:
    the value of HUDDLE_WISDOM in force.
    """
    print(f"\nWritten: {place}")
    if output:
        print(f"Use it: HUDDLE_TUNING={place}")
        return
    if setting == wisdom_place.OFF:
        print("Use it: HUDDLE_WISDOM=on (or read, which measures nothing more).")
    elif setting in (wisdom_place.ON, wisdom_place.READ):
        print("Programs use it from now on.")
    else:
        print(f"Programs use it with HUDDLE_WISDOM={setting}.")
    print("huddle wisdom prints what was learned.")
