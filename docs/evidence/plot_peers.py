# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/figures/peers.png from docs/evidence/peers.csv.

usage: build/venv/bin/python docs/evidence/plot_peers.py
"""

import csv
import pathlib

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

DOCS = pathlib.Path(__file__).resolve().parents[1]
UNITS = ((1 << 20, "MB"), (1 << 10, "KB"), (1, "B"))


def label(row):
    size = int(row["bytes"])
    for factor, unit in UNITS:
        if size >= factor:
            return f"{row['collective']} {size // factor} {unit}"
    return row["collective"]


def main():
    with open(DOCS / "evidence/peers.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    ratios = [float(row["peer_us"]) / float(row["huddle_us"]) for row in rows]
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.2 * len(rows)), layout="constrained")
    colours = ["#1b7837" if ratio >= 1 else "#b35806" for ratio in ratios]
    bars = axes.barh([label(row) for row in rows], ratios, color=colours)
    axes.bar_label(bars, [f"{row['huddle_us']} µs" for row in rows], padding=3, fontsize=8)
    axes.axvline(1, color="black", linewidth=1)
    axes.invert_yaxis()
    axes.margins(x=0.1, y=0.01)
    axes.set_xlabel("speed compared with the fastest of six other MPIs (1: equal); labels: huddle")
    axes.set_title("4 ranks on 4 cores: single calls, fresh data, slowest rank", fontsize=10)
    figure.savefig(DOCS / "figures/peers.png", dpi=120)


if __name__ == "__main__":
    main()
