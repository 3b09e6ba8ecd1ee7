# SPDX-License-Identifier: BSD-3-Clause
"""A paper's figures, published and here: a line for each row, with the range of what is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.common import pictures

if TYPE_CHECKING:
    from .rows import Row

AGREES, DIFFERS, UNJUDGED = pictures.COLOURS[2], pictures.COLOURS[3], pictures.COLOURS[7]
LONGEST = 58  # characters of a row's name
MIN_RATIO, MAX_RATIO = 1 / 8, 8  # ends of the axis


def comparable(rows: list[Row]) -> list[tuple[Row, float, float, float]]:
    """Returns [(row, here / published, its lowest, its highest)]."""
    return [(row, *ratios) for row in rows if (ratios := row.ratios())]


def name_of(row: Row) -> str:
    words = row.what
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def within(ratio: float) -> float:
    return min(max(ratio, MIN_RATIO), MAX_RATIO)


def draw(title: str, rows: list[Row], published: str = "published", dpi: int = 80) -> bytes | None:
    """
    Returns PNG bytes, or None if no row has two figures of the same sign.  Points outside the axis
    are drawn at its end.
    """
    found = comparable(rows)
    if not found:
        return None
    from matplotlib import pyplot

    canvas, axis = pyplot.subplots(figsize=(8.4, 1.1 + 0.24 * len(found)))
    axis.axvspan(1 / 1.5, 1.5, color="#f1f1f1", zorder=0)
    axis.axvline(1, color=pictures.INK, lw=0.8, zorder=1)
    for y, (row, ratio, low, high) in enumerate(found):
        colour = UNJUDGED if row.agrees is None else AGREES if row.agrees else DIFFERS
        axis.plot([within(low), within(high)], [y, y], color=colour, lw=1.6, zorder=2)
        axis.plot([within(ratio)], [y], "o", color=colour, ms=5, mec="white", zorder=3)
    axis.set_xscale("log")
    axis.set_xlim(MIN_RATIO * 0.9, MAX_RATIO * 1.1)
    axis.set_xticks([1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8], ["1/8", "1/4", "1/2", "1", "2", "4", "8"])
    axis.set_xticks([], minor=True)
    axis.set_yticks(range(len(found)), [name_of(row) for row, *_ in found], fontsize=7)
    axis.set_ylim(len(found) - 0.4, -0.6)
    axis.set_xlabel(f"here / {published}", color=pictures.INK, loc="right")
    axis.set_title(title, loc="left", fontsize=10, color=pictures.INK)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=pictures.INK, length=0)
    canvas.tight_layout()
    return pictures.png(canvas, dpi=dpi, bbox_inches="tight")
