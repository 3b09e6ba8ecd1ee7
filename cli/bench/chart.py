# SPDX-License-Identifier: BSD-3-Clause
"""
The figures as a plot: one panel per number of ranks and class of line transfer, time over message
size, one line per variant.
"""

from ..common.pictures import INK, look, png, time_text
from .stats import BARE, BARRIERS, panels
from .tables import setting_text, variants_of

BLUE, RED = "#0b6fb8", "#b3402a"
OURS = ("#0b6fb8", "#1aa6a6", "#5b4bb3", "#2c8a4b", "#0a3d62", "#7d3c98")
PEERS = ("#8a8a8a", "#d08c3c", "#b3402a", "#c9a227", "#a0522d", "#555555", "#d4a5a5")


def size_text(row):
    if row.collective in BARRIERS:
        return row.collective
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if row.bytes >= scale:
            return f"{row.bytes / scale:g}{unit}"
    return f"{row.bytes}"


def factor_text(factor):
    return f"{factor:.0f}×" if factor >= 9.95 else f"{factor:.1f}×"


def looks(variants):
    """
    variant -> (colour, marker, line style); huddle's are blue and green, peers are not, the bare
    limit is dotted.
    """
    ours, peers = look(OURS), look(PEERS)
    return {
        name: (
            ("#444444", "o", ":")
            if name == BARE
            else (*next(ours if name.startswith("huddle") else peers), "-")
        )
        for name in variants
    }


def draw_variant(axis, rows, name, colour, marker, style):
    """The barrier is a single point at the left; collectives with sizes are lines."""
    there = [i for i, row in enumerate(rows) if name in row.cells]
    line = [i for i in there if rows[i].collective not in BARRIERS]

    def time(i):
        return rows[i].cells[name].median_ns / 1000

    axis.plot(line, [time(i) for i in line], style, color=colour, lw=2, zorder=2)
    axis.plot(
        there,
        [time(i) for i in there],
        marker,
        color=colour,
        ms=6,
        mec="white",
        mew=1,
        zorder=3,
        label=name,
    )
    for i in there:
        low, high = rows[i].cells[name].low_ns, rows[i].cells[name].high_ns
        if low is not None:
            axis.plot([i, i], [low / 1000, high / 1000], color=colour, lw=1, zorder=2)


def annotate(axis, rows):
    """The speedup of huddle's best variant over the best peer."""
    for i, row in enumerate(rows):
        if row.ratios:
            factor = 1 / min(ratio.value for ratio in row.ratios.values())
            top = max(cell.median_ns for cell in row.cells.values()) / 1000
            axis.annotate(
                factor_text(factor),
                (i, top),
                (-4, 9),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                fontweight="bold",
                color=BLUE if factor >= 1 else RED,
            )


def draw_panel(axis, rows, title, shown):
    for name in variants_of(rows):
        draw_variant(axis, rows, name, *shown[name])
    axis.set_yscale("log")
    low, high = axis.get_ylim()
    axis.set_ylim(low / 1.6, high * 2.2)
    annotate(axis, rows)
    axis.set_xticks(
        range(len(rows)), [size_text(row) for row in rows], rotation=0 if len(rows) <= 12 else 60
    )
    if rows[0].collective in BARRIERS and len(rows) > 1:
        axis.axvline(0.5, color="#dddddd", lw=1)
    axis.set_title(title, loc="left", fontsize=10, color=INK, pad=10)
    axis.set_xlabel(
        ", ".join(dict.fromkeys(row.collective for row in rows if row.collective not in BARRIERS))
        + ", bytes",
        color=INK,
        loc="right",
    )
    axis.yaxis.set_major_formatter(time_text)
    axis.yaxis.set_minor_formatter("")
    axis.grid(axis="y", color="#ececec", zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=INK, length=0)
    axis.legend(frameon=False, loc="upper left", fontsize=9, ncols=1 if len(shown) <= 5 else 2)


def draw(rows, title):
    """PNG, as bytes.  Needs matplotlib (see missing()) and at least one row."""
    from matplotlib import pyplot

    drawn, shown = panels(rows), looks(variants_of(rows))
    across = min(2, len(drawn))
    down = -(-len(drawn) // across)
    figure, axes = pyplot.subplots(
        down, across, figsize=(6.8 * across, 4.6 * down + 0.5), squeeze=False
    )
    for axis in axes.flat[len(drawn) :]:
        axis.set_visible(False)
    for axis, ((ranks, bind, line), mine) in zip(axes.flat, drawn):
        draw_panel(axis, mine, setting_text(ranks, bind, line, mine).replace("; ", "\n"), shown)
    figure.suptitle(
        f"{title}: slowest rank's time of one call,{chr(10) if across == 1 else ' '}median and"
        " interval (blue: times faster than the best peer)",
        x=0.012,
        ha="left",
        fontsize=12,
        color=INK,
    )
    figure.tight_layout(rect=(0, 0, 1, 0.99))
    return png(figure)
