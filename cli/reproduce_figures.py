# SPDX-License-Identifier: BSD-3-Clause
"""A figure of a paper, redrawn.  Needs matplotlib (bench_chart.missing)."""
from .bench_chart import INK, look, png

BESIDE = 6  # lines, above which their names stand beside the picture


def draw(figure, dpi=130):
    """PNG, as bytes."""
    from matplotlib import pyplot
    canvas, axis = pyplot.subplots(figsize=(6.8, 4.4))
    shown, other = {}, look()
    for label, x, y, marks in figure.lines:
        name = label.split(":")[0]  # "chain" and "chain: SimGrid" look alike
        shown[name] = shown.get(name) or next(other)
        colour, marker = shown[name]
        axis.plot(x, y, marker, ls="" if marks else "-", color=colour, lw=1.6, ms=5, markevery=1 if marks else max(1, len(x) // 12), mec="white", mew=0.8, zorder=3 if marks else 2, label=label)
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
    if len(figure.lines) > BESIDE:
        axis.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    else:
        axis.legend(frameon=False, fontsize=9)
    canvas.tight_layout()
    return png(canvas, dpi=dpi, bbox_inches="tight")
