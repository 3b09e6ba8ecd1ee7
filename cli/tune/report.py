# SPDX-License-Identifier: BSD-3-Clause
"""What huddle tune prints at its end, on one screen: what is faster, what was not decided, why."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ..common import wisdom_place
from ..common.rules import Line
from ..common.sizes import written
from ..common.text import count_text, ranges_text, table
from ..wisdom import learned
from . import grid

if TYPE_CHECKING:
    from .driver import Driver
    from .grid import Cell

ROWS = 20  # printed at most
WIDTH = 100
WORTH = 1.05  # less is not worth a row


def faster(cells: list[Line], names: list[str]) -> list[list[str]]:
    """Returns rows of what is faster than the first choice, the largest gains first."""
    lines = [line for line in cells if (learned.of_first(line) or 1) >= WORTH]
    groups = learned.ranges(sorted(lines, key=learned.order_of(names)), learned.algorithm)

    def gain(group: list[Line]) -> float:
        return learned.mean([ratio for line in group if (ratio := learned.of_first(line))]) or 1

    return [learned.row(group, learned.algorithm) for group in sorted(groups, key=gain)[::-1]]


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
        paragraphs.append(f"{total} not decided, {why}: {', '.join(some)}")
    return paragraphs


def show_paragraph(text: str) -> None:
    print(
        textwrap.fill(
            text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
        )
    )


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
        table(learned.HEADERS[:-1], [row[:-1] for row in rows[:ROWS]], right=learned.RIGHT[:-1])
        if len(rows) > ROWS:
            print(f"  ... and {len(rows) - ROWS} more: huddle wisdom prints all")
        learned.show_legend()
    elif decided:
        print("  Nothing is clearly faster than the first choices.")
    if cells:
        show_paragraph(learned.summary(cells))
    for paragraph in undecided_text(driver.undecided):
        show_paragraph(paragraph)
    for failure in dict.fromkeys(driver.failures):
        print(f"  A launch failed: {failure}")
    if busy:
        print(f"  This machine was busy: {busy}.")


def print_use(place: str, output: bool, setting: str) -> None:
    """
    Prints where the results are and how to use them.  output: a tuning file was written.  setting:
    the value of HUDDLE_WISDOM in force.
    """
    print(f"\nWritten: {place}")
    if output:
        print(f"Use it: HUDDLE_TUNING={place}")
    elif setting == wisdom_place.OFF:
        print("Use it: HUDDLE_WISDOM=on (or read, which measures nothing more).")
    elif setting in (wisdom_place.ON, wisdom_place.READ):
        print("huddle uses it from now on.")
    else:
        print(f"Programs use it with HUDDLE_WISDOM={setting}.")
    if not output:
        print("huddle wisdom prints what was learned.")
