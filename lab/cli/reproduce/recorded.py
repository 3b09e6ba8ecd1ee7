# SPDX-License-Identifier: BSD-3-Clause
"""
Papers 01 and 05 measured: huddle against Open MPI 4.1.4's coll/tuned and coll/sm, as recorded on
two machines.

The rows are those of `lab/evidence/papers-16-cores.csv` and `papers-2-cores-epyc.csv`, whose first
lines tell how they were measured.  On 16 cores huddle ran under Open MPI 5.0.11.  There the MPI
changes, too, and not only the collectives.  On 2 cores all ran under Open MPI 4.1.4.  There the
line transfer had two classes.  Each has its own rows.

The papers measured on two sockets, so that only orders can be compared, and their factors have no
criterion here. huddle's own goal is a check of its own. `huddle lab reproduce measured` measures
the rows again.
"""

from __future__ import annotations

import csv
import os
import re
from typing import TYPE_CHECKING

from .rows import Result, Row

if TYPE_CHECKING:
    from .command import Lab

PART, TITLE = "Measured", "papers 01 and 05 against Open MPI"
RECORDED = "recorded"
FILES = ("papers-16-cores.csv", "papers-2-cores-epyc.csv")
TIMES = re.compile(r"([0-9.]+) times")


def value_of(cell: str) -> float | str | None:
    """Returns the number of a cell of times, the text of any other, or None if it is empty."""
    times = TIMES.fullmatch(cell)
    return float(times[1]) if times else cell or None


def row_of(line: dict[str, str]) -> Row:
    answer, _, when = line["agrees"].partition(": ")
    here = value_of(line["here"])
    return Row(
        f"{line['machine']}, {line['ranks']} ranks: {line['what']}",
        "times" if isinstance(here, float) else "",
        value_of(line["published"]),
        here,
        RECORDED,
        {"yes": True, "no": False, "": None}[answer],
        when,
    )


def rows_of(path: str) -> list[Row]:
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [row_of(line) for line in csv.DictReader(lines)]


def reproduce(lab: Lab) -> Result:
    rows = []
    for name in FILES:
        path = os.path.join(lab.layout.evidence, name)
        if os.path.exists(path):
            rows += rows_of(path)
        else:
            lab.note(f"{path} is not installed: none of its rows are here")
    return Result(rows, [])
