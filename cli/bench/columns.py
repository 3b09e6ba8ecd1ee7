# SPDX-License-Identifier: BSD-3-Clause
"""Medians as plain columns, which any plotting program reads: bytes, then each variant's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .stats import panels
from .tables import PLACED, variants_of

if TYPE_CHECKING:
    from .stats import Row


def block(collective: str, ranks: int, bind: str, line: str, rows: list[Row]) -> str:
    names = variants_of(rows)
    lines = [
        f"# {collective}, {ranks} ranks, {PLACED[bind]}, line transfer: {line}; medians, us",
        "# bytes " + " ".join(name.replace(" ", "_") for name in names),
    ]
    for row in rows:
        times = (row.cells[n].median_ns / 1000 if n in row.cells else None for n in names)
        cells = ("nan" if time is None else f"{time:.4f}" for time in times)
        lines.append(" ".join([str(row.bytes), *cells]))
    return "\n".join(lines) + "\n"


def text(rows: list[Row]) -> str:
    """
    Returns a block for each collective and number of ranks.  Two empty lines separate blocks, as
    gnuplot's index counts them.
    """
    blocks = []
    for (ranks, bind, line), mine in panels(rows):
        for name in dict.fromkeys(row.collective for row in mine):
            some = [row for row in mine if row.collective == name]
            blocks.append(block(name, ranks, bind, line, some))
    return "\n\n".join(blocks)
