# SPDX-License-Identifier: BSD-3-Clause
"""
The figures as a plot: one panel per number of ranks, class of line transfer and collective.  Above,
time over message size, one line per variant; below, the gain over the best peer.  Intervals are
drawn where there are launches enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..common.pictures import INK, distinct_styles, png, time_text
from ..common.text import bytes_text
from .stats import BARE, BARRIERS, panels
from .tables import setting_text, variants_of

if TYPE_CHECKING:
    from .stats import Ratio

BLUE, RED = "#0b6fb8", "#b3402a"
OURS = ("#0b6fb8", "#1aa6a6", "#5b4bb3", "#2c8a4b", "#0a3d62", "#7d3c98")
PEERS = ("#8a8a8a", "#d08c3c", "#b3402a", "#c9a227", "#a0522d", "#555555", "#d4a5a5")


def size_text(row: Any) -> Any:
    return "" if row.collective in BARRIERS else bytes_text(row.bytes)


def factor_text(factor: Any) -> Any:
    return f"{factor:.0f}×" if factor >= 9.95 else f"{factor:.1f}×"


def styles_of(variants: list[str]) -> dict[str, tuple[str, str, str]]:
    """
    Returns {variant: (colour, marker, line style)}. huddle's are blue and green, and the bare limit
    is dotted.
    """
    ours, peers = distinct_styles(OURS), distinct_styles(PEERS)
    return {
        name: (
            ("#444444", "o", ":")
            if name == BARE
            else (*next(ours if name.startswith("huddle") else peers), "-")
        )
        for name in variants
    }


def draw_variant(axis: Any, rows: Any, name: Any, colour: Any, marker: Any, style: Any) -> None:
    there = [i for i, row in enumerate(rows) if name in row.cells]
    cells = [rows[i].cells[name] for i in there]
    times = [cell.median_ns / 1000 for cell in cells]
    axis.plot(there, times, style, color=colour, lw=2, zorder=2)
    points = {"color": colour, "ms": 6, "mec": "white", "mew": 1, "zorder": 3, "label": name}
    axis.plot(there, times, marker, **points)
    for i, cell in zip(there, cells):
        if cell.low_ns is not None:
            ends = [cell.low_ns / 1000, cell.high_ns / 1000]
            axis.plot([i, i], ends, color=colour, lw=1, zorder=2)


def best_gains(rows: Any) -> list[tuple[int, Ratio]]:
    """
    Returns [(position, gain)] of huddle's best variant over the best peer.  A gain of 2 is 2 times
    faster, one of .5 is 2 times slower.
    """
    best = [
        (i, min(row.ratios.values(), key=lambda ratio: ratio.value))
        for i, row in enumerate(rows)
        if row.ratios
    ]
    return [(i, inverse(ratio)) for i, ratio in best]


def inverse(ratio: Ratio) -> Ratio:
    if ratio.low is None:
        return ratio._replace(value=1 / ratio.value)
    return ratio._replace(value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)


def significant(gain: Ratio) -> bool:
    """Returns whether the gain has an interval, and the interval lies on one side of 1."""
    return gain.low is not None and (gain.low > 1 or gain.high < 1)


def draw_gains(axis: Any, rows: Any) -> None:
    """
    Draws the gains: huddle is faster above 1.  Writes a factor where the interval lies on one side
    of 1.
    """
    found = best_gains(rows)
    at, values = [i for i, _ in found], [gain.value for _, gain in found]
    axis.axhline(1, color="#888888", lw=1)
    known = [(i, gain) for i, gain in found if gain.low is not None]
    if len(known) > 1:
        low, high = ([getattr(gain, end) for _, gain in known] for end in ("low", "high"))
        axis.fill_between([i for i, _ in known], low, high, color=BLUE, alpha=0.15, lw=0)
    axis.errorbar(
        [i for i, _ in known],
        [gain.value for _, gain in known],
        [
            [max(0, gain.value - gain.low) for _, gain in known],
            [max(0, gain.high - gain.value) for _, gain in known],
        ],
        fmt="none",
        ecolor=BLUE,
        lw=1,
    )
    axis.plot(at, values, "o-", color=BLUE, ms=4, lw=1.4)
    for i, gain in found:
        if significant(gain):
            faster = gain.value > 1
            words = f"{factor_text(gain.value if faster else 1 / gain.value)} " + (
                "faster" if faster else "slower"
            )
            axis.annotate(
                words,
                (i, gain.high),
                (0, 7),
                textcoords="offset points",
                ha="center",
                fontsize=7,
                color=BLUE if faster else RED,
            )
    axis.set_ylim(0, 1.3 * max([1.2, *values, *(gain.high for _, gain in known)]))
    axis.set_ylabel("times faster\nthan best peer", color=INK, fontsize=9)


def plain(axis: Any) -> None:
    axis.grid(axis="y", color="#ececec", zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=INK, length=0)


def draw_panel(axis: Any, below: Any, rows: Any, title: Any, shown: Any) -> None:
    for name in variants_of(rows):
        draw_variant(axis, rows, name, *shown[name])
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.set_ylim(low / 1.6, high * 2.2)
    axis.set_title(f"{rows[0].collective}, {title}", loc="left", fontsize=10, color=INK, pad=10)
    axis.yaxis.set_major_formatter(time_text)
    axis.yaxis.set_minor_formatter(time_text if high < 10 * low else "")
    axis.set_ylabel("time of a call", color=INK, fontsize=9)
    draw_gains(below, rows)
    for one, labels in ((axis, [""] * len(rows)), (below, [size_text(row) for row in rows])):
        one.set_xticks(range(len(rows)), labels, fontsize=8)
        one.set_xlim(-0.6, len(rows) - 0.4)
        plain(one)
    axis.legend(frameon=False, loc="upper left", fontsize=9, ncols=1 if len(shown) <= 5 else 2)


def panels_of(rows: Any) -> Any:
    """
    Returns [(title, rows)] with a panel for each collective, so that no line joins two collectives.
    """
    return [
        (setting_text(ranks, bind, line, some).replace("; ", "\n"), some)
        for (ranks, bind, line), mine in panels(rows)
        for collective in dict.fromkeys(row.collective for row in mine)
        if (some := [row for row in mine if row.collective == collective])
    ]


def draw(rows: Any, title: Any) -> Any:
    """Returns the chart as PNG bytes.  Needs matplotlib (see missing()) and at least one row."""
    from matplotlib import pyplot

    drawn, shown = panels_of(rows), styles_of(variants_of(rows))
    across = min(2, len(drawn))
    down = -(-len(drawn) // across)
    figure = pyplot.figure(figsize=(6.8 * across, 5.4 * down + 0.6))
    known = any(cell.low_ns is not None for row in rows for cell in row.cells.values())
    figure.suptitle(
        f"{title}: slowest rank's time of one call,{chr(10) if across == 1 else ' '}median"
        f"{' and interval' if known else ''}",
        x=0.012,
        ha="left",
        fontsize=12,
        color=INK,
    )
    top = 1 - (1.2 if across == 1 else 0.95) / (5.4 * down + 0.6)
    outer: Any = figure.add_gridspec(down, across, hspace=0.3, top=top, bottom=0.05)
    for cell, (words, mine) in zip(outer, drawn):
        above, below = cell.subgridspec(2, 1, height_ratios=(3, 1), hspace=0.06).subplots()
        draw_panel(above, below, mine, words, shown)
    return png(figure, bbox_inches="tight")
