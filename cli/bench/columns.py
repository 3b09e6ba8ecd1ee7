# SPDX-License-Identifier: BSD-3-Clause
"""Medians as plain columns, which any plotting program reads: bytes, then each variant's time."""

from .stats import panels
from .tables import PLACED, variants_of


def block(collective, ranks, bind, line, rows):
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


def text(rows):
    """A block for each collective and number of ranks, two empty lines between, as gnuplot's index
    counts them."""
    blocks = []
    for (ranks, bind, line), mine in panels(rows):
        for name in dict.fromkeys(row.collective for row in mine):
            some = [row for row in mine if row.collective == name]
            blocks.append(block(name, ranks, bind, line, some))
    return "\n\n".join(blocks)
