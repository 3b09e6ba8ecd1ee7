# SPDX-License-Identifier: BSD-3-Clause
"""
Draws algorithms: the steps of each rank in a simulated call, as SVG.  The colours are those of the
site's style, light or dark.
"""

import html

WIDTH, LEFT, ROW, BAR, TOP = 760, 46, 18, 13, 6
LEGEND = {
    "copy": "copies",
    "reduce": "reduces",
    "line": "line transfer",
    "queue": "queues for a line or a link",
    "wait": "waits for another rank",
    "path": "critical path",
}
JOINED_NS = 0.5  # spans of one kind with a smaller gap are drawn as one


def legend():
    marks = (f'<span><i class="{name}"></i>{words}</span>' for name, words in LEGEND.items())
    return f'<p class="legend">{"".join(marks)}</p>'


def joined(spans):
    """Joins neighbouring spans of the same rank and the same kind."""
    last, found = {}, []
    for span in sorted(spans, key=lambda span: (span["rank"], span["begin_ns"])):
        before = last.get(span["rank"])
        if (
            before
            and before["what"] == span["what"]
            and span["begin_ns"] - before["end_ns"] < JOINED_NS
        ):
            before["end_ns"] = span["end_ns"]
        else:
            found.append(dict(span))
            last[span["rank"]] = found[-1]
    return found


def step_of(end_ns):
    """
    Returns the distance of marks on the axis: 1, 2 or 5 times a power of ten, for five to ten
    marks.
    """
    step = 1
    while end_ns / step > 10:
        step *= 2.5 if str(step).startswith("2") else 2
    return step


def time_text(ns):
    return f"{ns / 1000:g} us" if ns >= 1000 else f"{ns:g} ns"


def svg(call, title):
    """Draws a call, as printed by `huddle lab simulate --timeline --json`."""
    spans, ranks = joined(call["spans"]), call["ranks"]
    end = max(span["end_ns"] for span in spans) or 1
    scale, bottom = (WIDTH - LEFT - 30) / end, TOP + ROW * ranks
    parts = [
        f'<text x="{LEFT - 6}" y="{TOP + ROW * r + 11}" text-anchor="end">{r}</text>'
        for r in range(ranks)
    ]
    parts += [
        f'<rect class="{span["what"]}" x="{LEFT + span["begin_ns"] * scale:.1f}"'
        f' y="{TOP + ROW * span["rank"] + 1}" height="{BAR}"'
        f' width="{max(0.4, (span["end_ns"] - span["begin_ns"]) * scale):.1f}"/>'
        for span in spans
    ]
    points = " ".join(
        f'{LEFT + one[key] * scale:.1f},{TOP + ROW * one["rank"] + 7}'
        for one in call["path"]
        for key in ("begin_ns", "end_ns")
    )
    parts.append(f'<polyline class="path" points="{points}"/>')
    parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{WIDTH - 10}"/>')
    step = step_of(end)
    parts += [
        f'<text class="soft" x="{LEFT + mark * step * scale:.1f}" y="{bottom + 14}"'
        f' text-anchor="middle">{time_text(mark * step)}</text>'
        for mark in range(int(end / step) + 1)
    ]
    return (
        f'<svg class="timeline" viewBox="0 0 {WIDTH} {bottom + 20}" role="img"'
        f' aria-label="{html.escape(title)}">{"".join(parts)}</svg>'
    )
