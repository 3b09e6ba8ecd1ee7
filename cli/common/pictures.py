# SPDX-License-Identifier: BSD-3-Clause
"""Plots: their common style, and a figure of lines.  They need matplotlib: see missing()."""

from __future__ import annotations

import io
import itertools
from collections import namedtuple
from typing import Any

INK = "#222222"
COLOURS = (
    "#0b6fb8",
    "#d08c3c",
    "#2c8a4b",
    "#b3402a",
    "#7d3c98",
    "#1aa6a6",
    "#8a5a2b",
    "#777777",
)  # far from each other
MARKERS = "osD^vPX*"
LEGEND_INSIDE = 6  # lines; with more, the legend is outside the axes

# lines: (label, x, y, marks): marks are points, else a line; x are numbers, or words.  log: the
# axes that are logarithmic, "", "x", "y" or "xy".
Figure = namedtuple("Figure", "name title x y log lines")


def missing() -> str | None:
    """Returns the reason why no plot can be drawn, or None."""
    try:
        import matplotlib

        matplotlib.use("Agg")
    except ImportError:
        return "pictures need matplotlib: Debian's python3-matplotlib, or 'pip install matplotlib'"
    return None


def png(figure: Any, **options: Any) -> bytes:
    """Returns a figure of matplotlib as PNG bytes."""
    from matplotlib import pyplot

    out = io.BytesIO()
    figure.savefig(out, format="png", **{"dpi": 130, **options})
    pyplot.close(figure)
    return out.getvalue()


def time_text(us: Any, _: Any = None) -> Any:
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us:g} µs"


def distinct_styles(colours: tuple[str, ...] = COLOURS) -> Any:
    """Yields distinct (colour, marker): all colours with one marker, then all with the next."""
    return itertools.chain.from_iterable(
        zip(colours, itertools.repeat(marker)) for marker in itertools.cycle(MARKERS)
    )


def draw(figure: Figure, dpi: int = 130) -> bytes:
    """Returns a Figure as PNG bytes."""
    from matplotlib import pyplot

    canvas, axis = pyplot.subplots(figsize=(6.8, 4.4))
    styles = distinct_styles()
    shown: dict[str, tuple[str, str]] = {}
    for label, x, y, marks in figure.lines:
        name = label.split(":")[0]  # "chain" and "chain: SimGrid" have one style
        shown[name] = shown.get(name) or next(styles)
        colour, marker = shown[name]
        axis.plot(
            x,
            y,
            marker,
            ls="" if marks else "-",
            color=colour,
            lw=1.6,
            ms=5,
            markevery=1 if marks else max(1, len(x) // 12),
            mec="white",
            mew=0.8,
            zorder=3 if marks else 2,
            label=label,
        )
    if "x" in figure.log:
        axis.set_xscale("log", base=10 if figure.x.startswith("us") else 2)
    if "y" in figure.log:
        axis.set_yscale("log")
    axis.set_title(figure.title, loc="left", fontsize=10, color=INK, pad=10)
    axis.set_xlabel(figure.x, color=INK, loc="right")
    axis.set_ylabel(figure.y, color=INK)
    axis.grid(color="#ececec", zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(which="both", colors=INK, length=0)
    if len(figure.lines) > LEGEND_INSIDE:
        axis.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    else:
        axis.legend(frameon=False, fontsize=9)
    canvas.tight_layout()
    return png(canvas, dpi=dpi, bbox_inches="tight")
