# SPDX-License-Identifier: BSD-3-Clause
"""The plot of `huddle lab model`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.common import output_files
from cli.common.pictures import Figure
from cli.common.pictures import draw as draw_figure

if TYPE_CHECKING:
    from .predict import Prediction


def draw(p: Prediction, path: str) -> None:
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
    output_files.write(
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
