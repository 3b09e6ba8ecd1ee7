# SPDX-License-Identifier: BSD-3-Clause
"""What rows of the built-in table rest on: the series of docs/evidence, as data and plots."""

import csv
import os

DATA, PLOT = ".csv", ".svg"
RANGE = "gap, serve a third to three times"  # what docs/evidence/table.py simulates
HOLDS = "holds"
NO_MACHINE = "a machine that was not recorded"


def read(layout, number):
    """
    {"kind": "measured" or "simulated", "title", "data", "plot", "machines"} of a number like E7;
    a value is None where the installation has no such series.
    """
    base = os.path.join(layout.evidence, number)
    found = {"kind": None, "title": None, "data": None, "plot": None, "machines": None}
    if os.path.isfile(base + PLOT):
        found["plot"] = base + PLOT
    if os.path.isfile(base + DATA):
        with open(base + DATA, encoding="utf-8") as file:
            lines = file.read().splitlines()
        found["data"] = base + DATA
        found["title"] = lines[0].partition(": ")[2].rstrip(".")
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        found["kind"] = " and ".join(sorted({row["kind"] for row in rows})) or None
        found["machines"] = sorted({row["machine"] for row in rows})
    return found


def order(item):
    """E7 before E12; item: of what of_pieces() gives."""
    return int(item[0][1:])


def of_pieces(layout, pieces):
    """{number: what read() gives} of all numbers that pieces of a choice name."""
    numbers = {n for piece in pieces for n in piece["why"].get("evidence", "").split()}
    return dict(sorted(((n, read(layout, n)) for n in numbers), key=order))


def kinds_of(why, series):
    """{"measured": [numbers], "simulated": [numbers]} of what a row rests on."""
    kinds = {}
    for number in why["evidence"].split():
        kinds.setdefault(series[number]["kind"] or "", []).append(number)
    if why["holds"]:
        kinds.setdefault("simulated", [])
    return kinds


def short_text(why, series):
    """'E7 simulated 1.12'; '' where it rests on nothing."""
    if why["like"]:
        return f"as {why['evidence']}, not measured"
    parts = []
    for kind, numbers in kinds_of(why, series).items():
        holds = short_holds(why["holds"]) if kind == "simulated" else ""
        parts.append(" ".join(word for word in (*numbers, kind, holds) if word))
    return ", ".join(parts)


def short_holds(holds):
    if not holds:
        return ""
    return HOLDS if holds["best"] == holds["points"] else regret(holds)


def regret(holds):
    return f"{holds['regret_percent'] / 100:.2f}"


def holds_text(holds):
    if not holds:
        return "simulated"
    if holds["best"] == holds["points"]:
        return f"simulated, holds for {RANGE}"
    best = f"best at {holds['best']} of {holds['points']} points"
    return f"simulated, least regret {regret(holds)} for {RANGE}, {best}"


def machines_text(numbers, series):
    names = {name for number in numbers for name in series[number]["machines"] or ()}
    return " and ".join(sorted(NO_MACHINE if name == "not recorded" else name for name in names))


def long_text(why, series):
    """'E10: measured on AMD EPYC, 4 cores; E7: simulated, holds for ...'"""
    if why["like"]:
        return f"as in {why['evidence']}, which has no measured time of such a call"
    parts = []
    for kind, numbers in kinds_of(why, series).items():
        said = f"measured on {machines_text(numbers, series)}" if kind == "measured" else kind
        said = holds_text(why["holds"]) if kind == "simulated" else said
        parts.append(": ".join(part for part in (" ".join(numbers), said) if part))
    return "; ".join(parts)


def legend(whys, series):
    """What short_text()'s words mean."""
    lines, machines = [], {}
    for number, about in series.items():
        if about["kind"] == "measured":
            machines.setdefault(machines_text([number], series), []).append(number)
    lines += [f"measured on {name}: {' '.join(numbers)}" for name, numbers in machines.items()]
    words = {short_holds(why["holds"]) for why in whys if why.get("holds")}
    if HOLDS in words:
        lines.append(f"simulated {HOLDS}: as fast as any candidate for {RANGE}")
    if words - {HOLDS}:
        said = "at most so many times the fastest's time"
        lines.append(f"simulated {min(words - {HOLDS})}: {said} for {RANGE}")
    return lines
