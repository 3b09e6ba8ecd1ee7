# SPDX-License-Identifier: BSD-3-Clause
"""
Recorded figures: NAME.csv next to NAME.toml, the description of the machine on which they were
measured.  Each row is one algorithm's time for one call: collective, ranks, algorithm, bytes, us.
Where a row has line_ns, the line transfer at that time, it counts only if that is about what the
description says.
"""

from __future__ import annotations

import csv
import os
from collections import namedtuple
from collections.abc import Iterator
from typing import Any

from cli.common import machines, validators
from cli.common.exit_status import BAD_USE
from cli.common.layout import CliError, Layout
from cli.common.machines import names_in, recorded_folder

from ..described import as_described, check, hops_of, moved_text

COLUMNS = ("collective", "ranks", "algorithm", "bytes", "us")
MAX_BYTES = 16 << 20  # largest size of a file

# cells: (collective, ranks) -> {(algorithm, bytes): us}; notes: texts, what does not count.
Record = namedtuple("Record", "name machine cells notes")


def names(layout: Layout) -> list[str]:
    return names_in(recorded_folder(layout), ".csv")


def path_of(layout: Layout, data: str) -> str:
    """Returns the CSV file of a recorded machine's name, or of a path."""
    if data.endswith(".csv"):
        return data
    if data not in names(layout):
        raise CliError(
            f"--data {validators.shown(data)}: not recorded (accepted: {', '.join(names(layout))},"
            " or a file NAME.csv next to NAME.toml)",
            BAD_USE,
        )
    return os.path.join(recorded_folder(layout), data + ".csv")


def lines_of(path: str) -> list[str]:
    try:
        if os.path.getsize(path) > MAX_BYTES:
            raise CliError(
                f"--data {path}: longer than any record (accepted: up to 16 MB)", BAD_USE
            )
        with open(path, encoding="utf-8") as file:
            return [line for line in file if not line.startswith("#")]
    except (OSError, UnicodeDecodeError) as error:
        raise CliError(
            f"--data {path}: {getattr(error, 'strerror', None) or error}", BAD_USE
        ) from error


# One row; line_ns: 0, not measured.
Figure = namedtuple("Figure", "cell call us line_ns")


def figure_of(row: dict[str, Any]) -> Figure:
    ranks, size, us = int(row["ranks"]), int(row["bytes"]), float(row["us"])
    line_ns = float(row.get("line_ns") or 0)
    if not (2 <= ranks <= 1 << 15 and size >= 0 and 0 < us < 1e9 and 0 <= line_ns < 1e9):
        raise ValueError
    return Figure((row["collective"], ranks), (row["algorithm"], size), us, line_ns)


def rows_in(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (number of the line below the remarks, {column: word}) of each row."""
    rows = csv.DictReader(lines_of(path))
    try:
        if not set(COLUMNS) <= set(rows.fieldnames or ()):
            raise CliError(
                f"--data {path}: no figures (accepted: a CSV file with {', '.join(COLUMNS)})",
                BAD_USE,
            )
        for row in rows:
            yield rows.line_num, row
    except csv.Error as error:
        raise CliError(f"--data {path}: after line {rows.line_num}: {error}", BAD_USE) from error


def figures_in(path: str) -> Iterator[Figure]:
    for line, row in rows_in(path):
        try:
            yield figure_of(row)
        except (TypeError, ValueError):
            raise CliError(
                f"--data {path}: line {line} below the remarks is not a figure (accepted:"
                f" {', '.join(COLUMNS)})",
                BAD_USE,
            ) from None


def moved(layout: Layout, figures: list[Figure], path: str) -> list[Figure]:
    """Returns the figures whose line transfer differs from the description at `path`."""
    if not any(figure.line_ns for figure in figures):
        return []
    machine = machines.read(path)
    check(layout, machine, f"--machine {path}")
    hops = hops_of(machine)
    return [
        figure for figure in figures if figure.line_ns and not as_described(figure.line_ns, hops)
    ]


def read(layout: Layout, data: str) -> Record:
    path = path_of(layout, data)
    cells: dict[Any, Any] = {}
    figures = list(figures_in(path))
    machine = path[: -len(".csv")] + ".toml"
    if not os.path.isfile(machine):
        raise CliError(
            f"--data {path}: there is no {machine}, which describes the machine", BAD_USE
        )
    far = moved(layout, figures, machine)
    for figure in figures:
        if figure not in far:
            cells.setdefault(figure.cell, {})[figure.call] = figure.us
    notes = [moved_text([figure.line_ns for figure in far])] if far else []
    return Record(os.path.basename(path)[: -len(".csv")], machine, cells, notes)
