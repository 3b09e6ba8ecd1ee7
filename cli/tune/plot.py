# SPDX-License-Identifier: BSD-3-Clause
"""
The result of huddle tune as a plot: the time after, and of the best peer, relative to that before.

Times span six orders of magnitude, so that times themselves would show no difference.
"""

import io

from ..common import pictures
from ..common.sizes import written
from .results import grouped, means
from .show import ranks_text
from .tuning_file import MARK

LOOKS = {"before": ("#8a8a8a", "s"), "after": ("#0b6fb8", "o"), "best peer": ("#d08c3c", "^")}
TICKS = 5  # of the sizes
RATIOS = [2 ** (n / 2) for n in range(-12, 13)]
LEAST = 1.45  # an axis shows at least from 1 / LEAST to LEAST
TOP_IN = 0.55  # inches for the title


def series(some):
    """{name: (positions, ratios to before)}; a size's position is its place among the sizes."""
    lines = {"before": [1.0 for _ in some]}
    if any(r.peer_ns for r in some):
        lines["best peer"] = [r.peer_ns and r.peer_ns / r.before for r in some]
    lines["after"] = [r.after / r.before for r in some]
    return {
        name: list(zip(*[(i, ratio) for i, ratio in enumerate(ratios) if ratio]))
        for name, ratios in lines.items()
    }


def draw_panel(axis, collective, team, some):
    lines = series(some)
    for name, (at, ratios) in lines.items():
        colour, marker = LOOKS[name]
        size = 3 if len(at) > 1 else 6
        axis.plot(at, ratios, marker + "-", color=colour, lw=1.4, ms=size, label=name)
    axis.set_yscale("log", base=2)
    seen = [ratio for _, ratios in lines.values() for ratio in ratios]
    axis.set_ylim(min(0.9 * min(seen), 1 / LEAST), max(1.1 * max(seen), LEAST))
    low, high = axis.get_ylim()
    shown = [ratio for ratio in RATIOS if low <= ratio <= high]
    axis.set_yticks(shown, [f"{ratio:.2g}" for ratio in shown])
    places = range(0, len(some), max(1, -(-len(some) // TICKS)))
    words = [written(some[i].cell.size) if some[i].cell.size else "" for i in places]
    axis.set_xticks(list(places), words)
    own, peer = means(some)
    words = f"{collective}, {ranks_text(team)}: {own:.2f} of before"
    words += f", {peer:.2f} of peer" if peer else ""
    axis.set_title(words, loc="left", fontsize=8, color=pictures.INK)
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
        down, across, figsize=(4.2 * across, 1.9 * down + TOP_IN), squeeze=False
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
    figure.tight_layout(rect=(0, 0, 1, 1 - TOP_IN / figure.get_figheight()))
    if form == "png":
        return pictures.png(figure)
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Title": MARK.lstrip("# ") + "'", "Date": None})
    pyplot.close(figure)
    return out.getvalue()
