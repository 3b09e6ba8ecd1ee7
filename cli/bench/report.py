# SPDX-License-Identifier: BSD-3-Clause
"""Writes the figures as CSV, JSON, PNG and one HTML file."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import math
import platform
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..common import output_files, pictures
from ..common.layout import CliError, Layout
from ..common.text import bytes_text, gain_text
from ..common.transfers import class_of
from ..common.types import Options
from . import chart, columns
from .stats import panels
from .tables import bare_lines, setting_text, summary_lines, tables

if TYPE_CHECKING:
    from .stats import Row
    from .summary import Case

COLUMNS = (
    "ranks",
    "bind",
    "variant",
    "mpi",
    "host",
    "ring",
    "launch",
    "root",
    "loop",
    "collective",
    "bytes",
    "class",
    "line_before_ns",
    "line_after_ns",
    "median_ns",
    "p99_ns",
    "min_ns",
    "mean_ns",
    "max_ns",
    "cpu_ns",
    "shots",
    "late",
    "refused",
    "wrong",
)
STYLE = """:root{color-scheme:light dark;--ink:#1d2330;--soft:#5b6474;--paper:#fff;--line:#dfe3ea;
--code:#f3f4f6;--good:#0b6fb8;--bad:#b3402a}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8f0;--soft:#9aa5b8;--paper:#14181f;--line:#2c3442;
--code:#1d232d;--good:#63a4e8;--bad:#ff7a66}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:76rem;
margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto;margin:.5rem 0 1.5rem}td,th{padding:.15rem .7rem;text-align:left;
border-bottom:1px solid var(--line);white-space:nowrap}td.n,th.n{text-align:right}
td[style]{border-radius:3px}h2{font-size:1.05rem;margin:1.5rem 0 .2rem}
img{max-width:100%;background:#fff;border-radius:4px}.s{color:var(--soft)}
code{background:var(--code);padding:.1rem .3rem;overflow-wrap:anywhere}"""
METHOD = """Single shots: all ranks wait for the same moment of the clock and make one call; the end of the slowest rank counts. Data is fresh in each call, and every byte is verified.
Figures are medians of the launches' medians, with 95 % intervals by bootstrap over the launches where there are five or more. The line transfer between the ranks' processors is measured before and after each figure,
and only figures of one class are compared (nearest: below 40 ns, near: below 150 ns, far)."""


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next(
                line.partition(":")[2].strip()
                for line in file
                if line.lower().startswith(("model name", "cpu part"))
            )
    except (OSError, StopIteration):
        return platform.machine()


def machine_of(layout: Layout) -> dict[str, Any]:
    """Returns facts about the machine that a reader of the figures needs."""
    seen = layout.ask("info", "machine")
    return {
        "processor": processor(),
        "sockets": seen["sockets"],
        "cores": seen["cores"],
        "processors": seen["processors"],
        "numa_nodes": len(seen["numa_nodes"]),
        "kernel": platform.release(),
        "huddle": layout.ask("version"),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
    }


def as_csv(samples: list[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows({**sample, "class": class_of(sample) or ""} for sample in samples)
    return text.getvalue()


def plain(value: Any) -> Any:
    """Returns a row with dictionaries instead of named tuples."""
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value


def as_json(rows: list[Row | Case], samples: list[dict[str, Any]], about: dict[str, Any]) -> str:
    return (
        json.dumps({**about, "rows": [plain(row) for row in rows], "samples": samples}, indent=1)
        + "\n"
    )


def html_table(
    title: str, headers: list[str], rows: list[list[str]], right: tuple[int, ...]
) -> str:
    def line(cells: list[str], tag: str) -> str:
        return (
            "<tr>"
            + "".join(
                f"<{tag}{' class=n' if i in right else ''}>{html.escape(str(cell))}</{tag}>"
                for i, cell in enumerate(cells)
            )
            + "</tr>"
        )

    return (
        f"<h2>{html.escape(title)}</h2>\n<div class=scroll><table>\n"
        + "\n".join([line(headers, "th"), *(line(row, "td") for row in rows)])
        + "\n</table></div>\n"
    )


def heat_map(rows: list[Row]) -> str:
    """Draws the gains over the best peer, collectives by sizes.  A strong colour is far from 1."""
    parts = []
    for (ranks, bind, line), mine in panels(rows):
        found = {
            (row.collective, row.bytes): min(ratio.value for ratio in row.ratios.values())
            for row in mine
            if row.ratios
        }
        sizes = sorted({size for _, size in found})
        names = dict.fromkeys(name for name, _ in found)
        if len(found) < 2:
            continue
        lines = [
            f"<tr><th>{name}" + "".join(heat_cell(found.get((name, size))) for size in sizes)
            for name in names
        ]
        heads = "".join(f"<th class=n>{bytes_text(size) if size else ''}" for size in sizes)
        title = f"Compared with the best peer, {setting_text(ranks, bind, line, mine)}"
        parts.append(
            f"<h2>{html.escape(title)}</h2>\n"
            f"<div class=scroll><table><tr><th>{heads}{''.join(lines)}</table></div>\n"
        )
    return "".join(parts)


def heat_cell(ratio: float | None) -> str:
    if ratio is None:
        return "<td>"
    share = min(80, 100 * abs(math.log2(ratio)) / 2)
    colour = f"color-mix(in srgb,var(--{'good' if ratio < 1 else 'bad'}) {share:.0f}%,transparent)"
    return f'<td class=n style="background:{colour}">{gain_text(ratio)}'


def as_html(rows: list[Row], about: dict[str, Any], picture: bytes | None) -> str:
    """Returns the page.  `picture` is PNG bytes or None."""
    machine = ", ".join(f"{name} {value}" for name, value in about["machine"].items())
    parts = [
        (
            "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport"
            " content=\"width=device-width\"><title>huddle"
            f" bench</title><style>{STYLE}</style><body><h1>huddle bench</h1>"
        ),
        (
            f"<p><code>{html.escape(' '.join(about['command']))}</code></p><p"
            f" class=s>{html.escape(machine)}</p><p class=s>{html.escape(METHOD)}</p>"
        ),
        "".join(
            f"<p>{html.escape(line)}</p>"
            for line in summary_lines(rows) + bare_lines(rows) + about["notes"]
        ),
    ]
    parts.append(heat_map(rows))
    if picture:
        parts.append(
            '<img alt="time over message size"'
            f' src="data:image/png;base64,{base64.b64encode(picture).decode()}">'
        )
    parts += [html_table(*table) for table in tables(rows)]
    parts += [
        "<details open><summary>Intervals, p99, launches</summary>",
        *(html_table(*table) for table in tables(rows, details=True)),
        "</details></body></html>\n",
    ]
    return "\n".join(parts)


def check_files(options: Options, say: Callable[..., Any]) -> None:
    """
    Checks, before the measurement, that all files can be written and a picture drawn.  Reports by
    say(line) if the page will have no pictures.
    """
    for kind in ("csv", "json", "columns", "png", "html"):
        output_files.check(f"--{kind}", getattr(options, kind))
    why = pictures.missing() if options.png or options.html else None
    if why and options.png:
        raise CliError(f"--png {options.png}: {why}")
    if why:
        say(f"--html {options.html}: without pictures: {why}")


def write_files(
    options: Options,
    rows: list[Any],
    samples: list[dict[str, Any]],
    about: dict[str, Any],
    say: Callable[..., Any],
) -> None:
    """Writes the requested files; say(line) reports each, or why it was not written."""
    picture = None
    if options.png or options.html:
        if not rows:
            say("no picture: nothing to compare")
        elif not pictures.missing():
            picture = chart.draw(rows, f"{about['mpi']}, {about['machine']['processor']}")
    if options.png and picture:
        output_files.write(options.png, picture)
    if options.html:
        output_files.write(options.html, as_html(rows, about, picture))
    if options.csv:
        output_files.write(options.csv, as_csv(samples))
    if options.columns:
        output_files.write(options.columns, columns.text(rows))
    if options.json:
        output_files.write(options.json, as_json(rows, samples, about))
    for name, path in (
        ("picture", options.png if picture else None),
        ("page", options.html),
        ("table", options.csv),
        ("columns", options.columns),
        ("JSON", options.json),
    ):
        if path:
            say(f"{name}: {path}")
