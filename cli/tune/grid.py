# SPDX-License-Identifier: BSD-3-Clause
"""What huddle tune makes calls of: ranks, collectives, kinds of elements, classes of sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..common import collectives as known_collectives
from ..common import validators
from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.rules import Line
from ..common.sizes import written
from ..common.wisdom import sizes as sizes_of_line

if TYPE_CHECKING:
    from ..common.collectives import Collective

MAX_RANKS = 1024
# The largest size of each class (PLAN_CLASSES in src/core/plan/plan.h), up to 16 MB.
SIZES = [8, 16, 32, 64, 112, 128, *(256 << k for k in range(17))]
TOTAL_BYTES = (
    64 << 20
)  # size of all ranks' buffers at the largest size: more takes the time of many

# The reduction of a cell: sums of doubles, whose bits depend on the order of the ranks; sums of
# integers; "" for a collective that reduces nothing.
INEXACT, EXACT, MOVES = "inexact", "exact", ""


class Cell(NamedTuple):
    collective: str
    reduction: str
    ranks: int
    size: int  # 0: the collective has no sizes


def usual_ranks(cores: int) -> list[int]:
    """Returns the usual numbers of ranks: 2, 4, 8, ..., all cores, and twice as many as cores."""
    ranks = [2 << k for k in range(cores.bit_length()) if 2 << k <= cores]
    return sorted({*ranks, *([cores] if cores > 1 else []), min(MAX_RANKS, 2 * max(cores, 1))})


def ranks_of(text: str) -> list[int]:
    ranks = sorted({int(word) for word in text.split(",") if word.isdecimal() and len(word) < 9})
    if len(ranks) != len(text.split(",")) or not all(2 <= n <= MAX_RANKS for n in ranks):
        raise validators.argument(text, f"numbers from 2 to {MAX_RANKS}, separated by commas")
    return ranks


def asked_sizes(asked: list[int] | None) -> list[int]:
    """
    Returns the sizes to try.  Raises CliError for another size.  asked: the sizes of --bytes, or
    None for all.
    """
    others = sorted(set(asked or ()) - set(SIZES))
    if others:
        raise CliError(
            f"--bytes {written(others[0])}: not a size that is tried (accepted: 8, 16, 32, 64, 112,"
            " 128, 256, ... to 16M, and ranges of them as 4K:1M)",
            BAD_USE,
        )
    return [size for size in SIZES if asked is None or size in asked]


def tunable(layout: Layout, names: list[str]) -> list[Collective]:
    """
    Returns the named collectives, or all tunable collectives if there are no names.  The choice of
    a tunable collective depends only on sizes that all ranks know.
    """
    known = {c.name: c for c in known_collectives.known(layout) if c.sized or not c.moves}
    for name in names:
        if name not in known:
            raise CliError(
                f"tune {validators.shown(name)}: not a collective that can be tuned"
                f" (accepted: {', '.join(sorted(known))})",
                BAD_USE,
            )
    return [known[name] for name in dict.fromkeys(names or known)]


def cells_of(ranks: int, collective: Collective, sizes: list[int]) -> list[Cell]:
    """Returns the cells of a collective, by kinds of elements and then by sizes."""
    fit = [
        size for size in sizes if ranks * size * (ranks if collective.blocks else 1) <= TOTAL_BYTES
    ]
    kinds = (INEXACT, EXACT) if collective.reduces else (MOVES,)
    return [
        Cell(collective.name, kind, ranks, size)
        for kind in kinds
        for size in (fit if collective.moves else [0])
    ]


def cell_of(line: Line) -> Cell | None:
    """Returns the cell of a line of a wisdom file, or None if the cell is not tried here."""
    about, size = line.conditions, sizes_of_line(line)
    if "nodes" in about or not about.get("ranks", "").isdecimal():
        return None
    high = size.high if size else 0
    if high is None:
        return None
    return Cell(line.name, about.get("reduction", MOVES), int(about["ranks"]), high)
