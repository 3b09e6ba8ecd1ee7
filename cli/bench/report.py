# SPDX-License-Identifier: BSD-3-Clause
"""Writes the figures as CSV, JSON, PNG and one HTML file."""

import base64
import csv
import html
import io
import json
import platform
import time

from ..common import pictures, places
from ..common.layout import Trouble
from ..common.transfers import class_of
from . import chart
from .tables import bare_lines, summary_lines, tables

COLUMNS = (
    "ranks",
    "bind",
    "variant",
    "mpi",
    "ring",
    "launch",
    "collective",
    "bytes",
    "class",
    "line_before_ns",
    "line_after_ns",
    "median_ns",
    "p99_ns",
    "min_ns",
    "mean_ns",
    "cpu_ns",
    "shots",
    "late",
    "refused",
    "wrong",
)
STYLE = """body{font:15px/1.5 system-ui,sans-serif;color:#222;max-width:76rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;margin:.5rem 0 1.5rem;font-variant-numeric:tabular-nums}td,th{padding:.15rem .7rem;border-bottom:1px solid #eee;text-align:left;white-space:nowrap}
td.n,th.n{text-align:right}h2{font-size:1.05rem;margin:1.5rem 0 .2rem}img{max-width:100%}code,pre{background:#f6f6f6;padding:.1rem .3rem;white-space:pre-wrap}.s{color:#666}"""
METHOD = """Single shots: all ranks wait for the same moment of the clock and make one call; the end of the slowest rank counts. Data is fresh in each call, and every byte is verified.
Figures are medians of the launches' medians, with 95 % intervals by bootstrap over the launches. The line transfer between the ranks' processors is measured before and after each figure,
and only figures of one class are compared (nearest: below 40 ns, near: below 150 ns, far)."""


def processor():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next(
                line.partition(":")[2].strip()
                for line in file
                if line.lower().startswith(("model name", "cpu part"))
            )
    except (OSError, StopIteration):
        return platform.machine()


def machine_of(layout):
    """Facts about the machine that a reader of the figures needs."""
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


def as_csv(samples):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows({**sample, "class": class_of(sample) or ""} for sample in samples)
    return text.getvalue()


def row_json(row):
    return {
        **row._asdict(),
        "cells": {name: cell._asdict() for name, cell in row.cells.items()},
        "ratios": {name: ratio._asdict() for name, ratio in row.ratios.items()},
    }


def as_json(rows, samples, about):
    return (
        json.dumps({**about, "rows": [row_json(row) for row in rows], "samples": samples}, indent=1)
        + "\n"
    )


def html_table(title, headers, rows, right):
    def line(cells, tag):
        return (
            "<tr>"
            + "".join(
                f"<{tag}{' class=n' if i in right else ''}>{html.escape(str(cell))}</{tag}>"
                for i, cell in enumerate(cells)
            )
            + "</tr>"
        )

    return (
        f"<h2>{html.escape(title)}</h2>\n<table>\n"
        + "\n".join([line(headers, "th"), *(line(row, "td") for row in rows)])
        + "\n</table>\n"
    )


def as_html(rows, about, picture):
    """picture: PNG bytes or None."""
    machine = ", ".join(f"{name} {value}" for name, value in about["machine"].items())
    parts = [
        (
            "<!doctype html><html lang=en><meta charset=utf-8><title>huddle"
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


def check_files(options, say):
    """
    Before anything is measured: all can be written, and a picture drawn; say(line): of a page that
    will have none.
    """
    for kind in ("csv", "json", "png", "html"):
        places.check(f"--{kind}", getattr(options, kind))
    why = pictures.missing() if options.png or options.html else None
    if why and options.png:
        raise Trouble(f"--png {options.png}: {why}")
    if why:
        say(f"--html {options.html}: without pictures: {why}")


def write_files(options, rows, samples, about, say):
    """Writes the requested files; say(line) reports each, or why it was not written."""
    picture = None
    if options.png or options.html:
        if not rows:
            say("no picture: nothing to compare")
        elif not pictures.missing():
            picture = chart.draw(rows, f"{about['mpi']}, {about['machine']['processor']}")
    if options.png and picture:
        places.write(options.png, picture)
    if options.html:
        places.write(options.html, as_html(rows, about, picture))
    if options.csv:
        places.write(options.csv, as_csv(samples))
    if options.json:
        places.write(options.json, as_json(rows, samples, about))
    for name, path in (
        ("picture", options.png if picture else None),
        ("page", options.html),
        ("table", options.csv),
        ("JSON", options.json),
    ):
        if path:
            say(f"{name}: {path}")
