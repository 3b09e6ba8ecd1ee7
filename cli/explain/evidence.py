# SPDX-License-Identifier: BSD-3-Clause
"""What rows of the built-in table rest on: the series of docs/evidence, as data and plots."""

import csv
import os

DATA, PLOT = ".csv", ".svg"


def read(layout, number):
    """
    {"kind": "measured" or "simulated", "title", "data", "plot"} of a number like E7; a value is
    None where the installation has no such series.
    """
    base = os.path.join(layout.evidence, number)
    found = {"kind": None, "title": None, "data": None, "plot": None}
    if os.path.isfile(base + PLOT):
        found["plot"] = base + PLOT
    if os.path.isfile(base + DATA):
        with open(base + DATA, encoding="utf-8") as file:
            lines = file.read().splitlines()
        found["data"] = base + DATA
        found["title"] = lines[0].partition(": ")[2].rstrip(".")
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        found["kind"] = " and ".join(sorted({row["kind"] for row in rows})) or None
    return found


def order(item):
    """E7 before E12; item: of what of_pieces() gives."""
    return int(item[0][1:])


def of_pieces(layout, pieces):
    """{number: what read() gives} of all numbers that pieces of a choice name."""
    numbers = {n for piece in pieces for n in piece["why"].get("evidence", "").split()}
    return dict(sorted(((n, read(layout, n)) for n in numbers), key=order))
