# SPDX-License-Identifier: BSD-3-Clause
"""The plot of `huddle model`."""

from ..common import places
from ..common.pictures import Figure, draw as draw_figure


def draw(p, path):
    if p.options.collective == "bcast":
        lines = [
            ("queue, predicted", p.sizes, [row["queue_ns"] / 1000 for row in p.rows], False),
            ("messages, predicted", p.sizes, [row["messages_ns"] / 1000 for row in p.rows], False),
        ]
    else:
        lines = []
    for name, times in p.compared.items():
        there = [(size, ns / 1000) for size, ns in zip(p.sizes, times) if ns is not None]
        lines.append(
            (
                f"huddle's choice, {name}",
                [size for size, _ in there],
                [time for _, time in there],
                True,
            )
        )
    lines.append(("limit", p.sizes, [limit["ns"] / 1000 for limit in p.limits], False))
    places.write(
        path,
        draw_figure(
            Figure(
                "model",
                f"{p.options.collective}, {p.ranks} ranks by {p.options.map}, {p.name}",
                "message, bytes",
                "us",
                "xy",
                lines,
            )
        ),
    )
