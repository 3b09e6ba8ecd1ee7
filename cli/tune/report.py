# SPDX-License-Identifier: BSD-3-Clause
"""What huddle tune prints at its end, on one screen: what is faster, what was not decided, why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..common import wisdom
from ..common.rules import Line
from ..common.sizes import written
from ..common.text import count_text, table
from ..wisdom import learned

if TYPE_CHECKING:
    from .driver import Driver
    from .grid import Cell

ROWS, GROUPS = 20, 6  # numbers that are printed at most
WORTH = 1.05  # less is not worth a row


def faster(cells: list[Line], names: list[str]) -> list[list[str]]:
    """Returns rows of what is faster than the first choice, the largest gains first."""
    lines = [line for line in cells if (learned.of_first(line) or 1) >= WORTH]
    groups = learned.ranges(sorted(lines, key=learned.order_of(names)), learned.algorithm)

    def gain(group: list[Line]) -> float:
        return learned.mean([ratio for line in group if (ratio := learned.of_first(line))]) or 1

    return [learned.row(group, learned.algorithm) for group in sorted(groups, key=gain)[::-1]]


def sizes_text(cells: list[Cell]) -> str:
    """Formats the sizes of cells in a row: ' 64K-1M', or '' if the collective has no sizes."""
    sizes = sorted(cell.size for cell in cells)
    if not sizes[-1]:
        return ""
    ends = [written(size) for size in dict.fromkeys((sizes[0], sizes[-1]))]
    return " " + "-".join(ends)


def undecided_text(undecided: dict[Cell, str]) -> list[str]:
    """Returns a line for each reason for which cells are undecided."""
    groups: dict[str, dict[tuple[str, int], list[Cell]]] = {}
    for cell, why in undecided.items():
        of = groups.setdefault(why, {})
        of.setdefault((cell.collective, cell.ranks), []).append(cell)
    lines = []
    for why, of in groups.items():
        some = [
            f"{name}{sizes_text(cells)} ({ranks} ranks)"
            for (name, ranks), cells in list(of.items())[:GROUPS]
        ]
        more = ", ..." if len(of) > GROUPS else ""
        total = sum(map(len, of.values()))
        lines.append(f"{total} not decided, {why}: {', '.join(some)}{more}")
    return lines


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
        print(f"  {learned.summary(cells)}.")
    for line in undecided_text(driver.undecided):
        print(f"  {line}")
    for failure in dict.fromkeys(driver.failures):
        print(f"  A launch failed: {failure}")
    if busy:
        print(f"  This machine was busy: {busy}.")


def tell_use(place: str, output: bool, setting: str) -> None:
    """
    Prints where the results are and how to use them.  output: a tuning file was written.  setting:
    the value of HUDDLE_WISDOM in force.
    """
    print(f"\nWritten: {place}")
    if output:
        print(f"Use it: HUDDLE_TUNING={place}")
    elif setting == wisdom.OFF:
        print("Use it: HUDDLE_WISDOM=on (or read, which measures nothing more).")
    else:
        print("huddle uses it from now on.")
    if not output:
        print("huddle wisdom prints what was learned.")
