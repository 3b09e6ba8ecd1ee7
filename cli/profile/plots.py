# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a profile as SVG.  Colours are those of the page's style, so they follow its theme."""

from __future__ import annotations

import html
import math
from typing import Any

WIDTH, LABEL, BAR, GAP = 880, 190, 20, 8
CELL, CELL_HEIGHT = 44, 24


def time_text(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def svg(height: int, parts: list[str], title: str, width: int = WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}">'
        + "".join(parts)
        + "</svg>"
    )


def text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{html.escape(str(words))}</text>'


def box(x: float, y: int, width: float, height: int, style: str, words: str, more: str = "") -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height}"'
        f' class="{style}"{more}><title>{html.escape(words)}</title></rect>'
    )


def bars(rows: list[tuple[str, list[Any]]], title: str) -> str:
    """Draws stacked bars, in seconds, from rows of (label, [(style, seconds, words)])."""
    longest = max((sum(part[1] for part in parts) for _, parts in rows), default=0) or 1
    scale, y, drawn = (WIDTH - LABEL - 90) / longest, 4, []
    for label, parts in rows:
        x = LABEL
        drawn.append(text(LABEL - 8, y + BAR - 5, label, "end"))
        for style, seconds, words in parts:
            if seconds > 0:
                label_text = f"{label}: {words} {time_text(seconds)}"
                drawn.append(box(x, y, seconds * scale, BAR, style, label_text))
                x += seconds * scale
        whole = sum(part[1] for part in parts)
        drawn.append(text(x + 6, y + BAR - 5, time_text(whole), "soft"))
        y += BAR + GAP
    return svg(y + 4, drawn, title)


def collectives(facts: dict[str, Any]) -> str:
    rows = []
    for row in facts["collectives"][:24]:
        if row["waiting_seconds"] is None:
            parts = [("unknown", row["seconds"], "not split")]
        else:
            parts = [
                ("waiting", row["waiting_seconds"], "waiting"),
                ("moving", row["moving_seconds"], "moving"),
            ]
        rows.append((row["collective"], parts))
    return bars(rows, "Seconds in each collective, waiting and moving")


def lateness(facts: dict[str, Any]) -> str:
    """
    Draws each rank's mean lateness after the first rank.  Shows the 128 ranks that cause the most
    waiting.
    """
    rows = sorted(facts["lateness"], key=lambda row: -row["caused_seconds"])[:128]
    rows.sort(key=lambda row: row["rank"])
    return bars(
        [
            (f"rank {row['rank']}", [("waiting", row["mean_late_seconds"], "late by")])
            for row in rows
        ],
        "Mean time by which each rank comes after the first",
    )


def heat(facts: dict[str, Any]) -> str:
    """
    Draws collectives by size class.  The colour is the share of the time, on a logarithmic scale.
    """
    rows = facts["sizes"]
    names = list(dict.fromkeys(row["collective"] for row in facts["collectives"]))
    classes = sorted({row["class"] for row in rows})
    labels = {row["class"]: row["sizes"] for row in rows}
    most = max((row["seconds"] for row in rows), default=0) or 1
    width = max(WIDTH, LABEL + CELL * len(classes) + 10)
    drawn = [
        text(LABEL + CELL * (i + 0.5), 14, labels[one], "middle soft")
        for i, one in enumerate(classes)
    ]
    for row in rows:
        x = LABEL + CELL * classes.index(row["class"])
        y = 22 + CELL_HEIGHT * names.index(row["collective"])
        share = row["seconds"] / most
        shade = max(0.06, 1 + math.log10(share) / 4) if share > 0 else 0.03
        label_text = (
            f"{row['collective']}, {row['sizes']} B: {row['calls']} calls,"
            f" {time_text(row['seconds'])}"
        )
        more = f' fill-opacity="{min(1, max(0.06, shade)):.2f}"'
        drawn.append(box(x + 1, y + 1, CELL - 2, CELL_HEIGHT - 2, "heat", label_text, more))
    for i, name in enumerate(names):
        drawn.append(text(LABEL - 8, 22 + CELL_HEIGHT * (i + 0.7), name, "end"))
    return svg(28 + CELL_HEIGHT * len(names), drawn, "Time by collective and size", width)
