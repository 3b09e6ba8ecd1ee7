# SPDX-License-Identifier: BSD-3-Clause
"""
Recorded figures: NAME.csv next to NAME.toml, the description of the machine on which they were
measured.  Each row is one algorithm's time for one call: collective, ranks, algorithm, bytes, us.
"""

import csv
import os
from collections import namedtuple

from ..common.layout import Trouble
from ..common.machines import names_in

COLUMNS = ("collective", "ranks", "algorithm", "bytes", "us")
MAX_BYTES = 16 << 20  # of a file

# cells: (collective, ranks) -> {(algorithm, bytes): us}
Record = namedtuple("Record", "name machine cells")


def folder(layout):
    return os.path.join(layout.machines, "recorded")


def names(layout):
    return names_in(folder(layout), ".csv")


def path_of(layout, data):
    """The CSV file of a recorded machine's name, or of a path."""
    if data.endswith(".csv"):
        return data
    if data not in names(layout):
        raise Trouble(
            f"--data {data}: not recorded (accepted: {', '.join(names(layout))}, or a file"
            " NAME.csv next to NAME.toml)",
            2,
        )
    return os.path.join(folder(layout), data + ".csv")


def lines_of(path):
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise Trouble(f"--data {path}: longer than any record (accepted: up to 16 MB)", 2)
        with open(path, encoding="utf-8") as file:
            return [line for line in file if not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise Trouble(f"--data {path}: {getattr(error, 'strerror', None) or error}", 2) from error


def figure_of(row):
    """((collective, ranks), (algorithm, bytes), us)."""
    ranks, size, us = int(row["ranks"]), int(row["bytes"]), float(row["us"])
    if not (2 <= ranks <= 1 << 15 and size >= 0 and 0 < us < 1e9):
        raise ValueError
    return (row["collective"], ranks), (row["algorithm"], size), us


def read(layout, data):
    path, cells = path_of(layout, data), {}
    rows = csv.DictReader(lines_of(path))
    if not set(COLUMNS) <= set(rows.fieldnames or ()):
        raise Trouble(
            f"--data {path}: no figures (accepted: a CSV file with {', '.join(COLUMNS)})", 2
        )
    for row in rows:
        try:
            cell, figure, us = figure_of(row)
        except (TypeError, ValueError):
            raise Trouble(
                f"--data {path}: line {rows.line_num} below the remarks is not a figure (accepted:"
                f" {', '.join(COLUMNS)})",
                2,
            ) from None
        cells.setdefault(cell, {})[figure] = us
    machine = path[: -len(".csv")] + ".toml"
    if not os.path.isfile(machine):
        raise Trouble(f"--data {path}: there is no {machine}, which describes the machine", 2)
    return Record(os.path.basename(path)[: -len(".csv")], machine, cells)
