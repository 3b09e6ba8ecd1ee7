# SPDX-License-Identifier: BSD-3-Clause
"""
Simulated calls as a picture: one call as its ranks' timeline with the critical path, several as
times over the size.
"""

from __future__ import annotations

from typing import Any

from cli.common.pictures import INK, distinct_styles, png, time_text
from cli.common.text import bytes_text

from .tables import METHODS, end_of

COLOURS = {
    "wait": "#e3e3e3",
    "queue": "#8e5ba6",
    "line": "#d08c3c",
    "copy": "#0b6fb8",
    "reduce": "#1aa6a6",
}
RED = "#b3402a"
LEGEND_INSIDE = 6  # lines; with more, the legend is outside the axes


def clean(axis: Any) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=INK, length=0)


def draw_timeline(simulation: Any, call: Any) -> Any:
    from matplotlib import patches, pyplot

    figure, axis = pyplot.subplots(figsize=(11, min(14, 2.2 + 0.16 * call["ranks"])))
    bars: dict[Any, Any] = {}
    for span in call["spans"]:
        bars.setdefault((span["rank"], span["what"]), []).append(
            (span["begin_ns"] / 1000, (span["end_ns"] - span["begin_ns"]) / 1000)
        )
    for (rank, what), runs in bars.items():
        axis.broken_barh(runs, (rank - 0.4, 0.8), color=COLOURS[what], lw=0)
    axis.plot(
        [s[key] / 1000 for s in call["path"] for key in ("begin_ns", "end_ns")],
        [s["rank"] for s in call["path"] for _ in range(2)],
        color=RED,
        lw=1.4,
    )
    axis.set_xlim(0, end_of(call) / 1000)
    axis.set_ylim(call["ranks"] - 0.4, -0.6)
    axis.xaxis.set_major_formatter(time_text)
    axis.set_ylabel("rank", color=INK)
    marks = [patches.Patch(color=colour, label=what) for what, colour in COLOURS.items()] + [
        patches.Patch(color=RED, label="critical path"),
        patches.Patch(facecolor="white", edgecolor=INK, lw=0.5, label="none of these"),
    ]
    axis.legend(
        handles=marks,
        frameon=False,
        ncols=7,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.25 / figure.get_figheight()),
        fontsize=9,
    )
    size = f"{bytes_text(call['bytes'])} " if call["bytes"] else ""
    axis.set_title(
        f"simulated {size}{simulation.collective}/{call['algorithm']}\n{simulation.words()}",
        loc="left",
        fontsize=10,
        color=INK,
    )
    clean(axis)
    figure.tight_layout()
    return png(figure)


def draw_times(simulation: Any, calls: Any) -> Any:
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8, 5))
    for name, (colour, marker) in zip(simulation.names, distinct_styles()):
        points = [
            (at, calls[name, size]["times"]["time_ns"] / 1000)
            for at, size in enumerate(simulation.sizes)
            if calls[name, size]
        ]
        axis.plot(
            [x for x, _ in points],
            [y for _, y in points],
            marker=marker,
            ms=5,
            lw=1.6,
            color=colour,
            label=name or "huddle's choice",
        )
    axis.set_yscale("log")
    axis.set_xticks(
        range(len(simulation.sizes)),
        [bytes_text(size) if size else simulation.collective for size in simulation.sizes],
        rotation=0 if len(simulation.sizes) <= 8 else 60,
    )
    axis.yaxis.set_major_formatter(time_text)
    axis.yaxis.set_minor_formatter("")
    axis.grid(axis="y", color="#ececec", zorder=0)
    placement: dict[str, Any] = (
        {"loc": "upper left", "bbox_to_anchor": (1, 1)}
        if len(simulation.names) > LEGEND_INSIDE
        else {}
    )
    axis.legend(frameon=False, fontsize=9, **placement)
    axis.set_title(
        f"simulated {simulation.collective}, {simulation.words()}\n"
        f"{METHODS[simulation.options.method]}",
        loc="left",
        fontsize=10,
        color=INK,
    )
    clean(axis)
    figure.tight_layout()
    return png(figure)


def draw(simulation: Any, calls: Any) -> Any:
    """Returns PNG bytes.  Needs matplotlib (see missing())."""
    return (
        draw_timeline(simulation, next(iter(calls.values())))
        if len(calls) == 1
        else draw_times(simulation, calls)
    )
