# SPDX-License-Identifier: BSD-3-Clause
"""The result of huddle tune as a plot: time over size before, after, and of the best peer."""

import io

from ..common import pictures
from ..common.sizes import written
from .results import grouped, means
from .show import ranks_text
from .tuning_file import MARK

LOOKS = {"before": ("#8a8a8a", "s"), "after": ("#0b6fb8", "o"), "best peer": ("#d08c3c", "^")}
TICKS = 5


def series(some):
    """{name: (positions, us)}; a size's position is its place among the sizes."""
    lines = {"before": [r.before for r in some]}
    if any(r.peer_ns for r in some):
        lines["best peer"] = [r.peer_ns for r in some]
    lines["after"] = [r.after for r in some]
    return {
        name: zip(*[(i, ns / 1000) for i, ns in enumerate(times) if ns])
        for name, times in lines.items()
    }


def draw_panel(axis, collective, team, some):
    for name, (at, us) in series(some).items():
        colour, marker = LOOKS[name]
        size = 3 if len(at) > 1 else 6
        axis.plot(at, us, marker + "-", color=colour, lw=1.4, ms=size, label=name)
    axis.set_yscale("log")
    step = max(1, -(-len(some) // TICKS))
    shown = range(0, len(some), step)
    labels = [written(some[i].cell.size) if some[i].cell.size else "" for i in shown]
    axis.set_xticks(list(shown), labels)
    own, peer = means(some)
    words = f"{collective}, {ranks_text(team)}: {own:.2f} of before"
    words += f", {peer:.2f} of peer" if peer else ""
    axis.set_title(words, loc="left", fontsize=8, color=pictures.INK)
    axis.yaxis.set_major_formatter(pictures.time_text)
    axis.yaxis.set_minor_formatter("")
    axis.grid(axis="y", color="#ececec", zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=pictures.INK, length=0, labelsize=7)


def draw(found, title, form):
    """A picture in bytes; form: "svg" or "png"."""
    from matplotlib import pyplot

    groups = grouped(found)
    teams = list(dict.fromkeys(team for team, _ in groups))
    names = list(dict.fromkeys(collective for _, collective in groups))
    across, down = (len(teams), len(names)) if len(teams) > 1 else (min(4, len(names)), None)
    down = down or -(-len(names) // across)
    figure, axes = pyplot.subplots(
        down, across, figsize=(3.8 * across, 2.3 * down + 0.8), squeeze=False
    )
    order = [(team, name) for name in names for team in teams]
    for axis in axes.flat[len(order) :]:
        axis.set_visible(False)
    for axis, key in zip(axes.flat, order):
        if key in groups:
            draw_panel(axis, key[1], key[0], groups[key])
        else:
            axis.set_visible(False)
    shown = {}
    for axis in axes.flat:
        shown.update(dict(zip(*reversed(axis.get_legend_handles_labels()))))
    figure.legend(
        shown.values(), shown.keys(), frameon=False, fontsize=8, ncols=3, loc="upper right"
    )
    figure.suptitle(title, x=0.012, ha="left", fontsize=10, color=pictures.INK)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    if form == "png":
        return pictures.png(figure)
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Title": MARK.lstrip("# ") + "'", "Date": None})
    pyplot.close(figure)
    return out.getvalue()
