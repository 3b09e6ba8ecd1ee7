# SPDX-License-Identifier: BSD-3-Clause
"""
The result of `huddle lab reproduce` as a page: a table and notes for each paper.  The page is
written at the end.
"""

from __future__ import annotations

import os
import shlex
import time
from typing import TYPE_CHECKING

from cli.common import output_files

from .rows import counts, table_of
from .unmeasured import WORDS as UNMEASURED

if TYPE_CHECKING:
    from .rows import Result, Row

OWN, HELD_OUT = "own", "held-out"  # parts that are from no paper
MEASURED, RECORDED = "measured", "recorded"
MEANS = {  # sources of figures, by the names that rows use
    "function": "the paper's own formulas, as `src/cost` has them",
    "simulated": (
        "huddle's algorithms, and those they are compared with, on a described machine"
        " (`lab/machines/`). Each of its numbers has a source there; none is tuned to a published"
        " result"
    ),
    MEASURED: "`huddle bench` on this machine, each MPI in turn",
    RECORDED: "measured earlier by `huddle bench`, on the machine that the row names",
    "SimGrid": "send and receive of `lab/bench/messages.c` on a simulated network",
}
AGREES = """The column *agrees* has a verdict and its criterion.

* Formulas must agree within the given percentage.
* Simulated figures have the same criteria for all papers. A time, a rate or a count agrees within a
  factor of 1.5. A ratio of two times must be on the same side of 1, and within a factor of 1.25. A
  gain in per cent must have the same sign, and agree within a factor of 2.
* A published best parameter agrees if it is here within 2 % of the best. There is no verdict if all
  tried values are.
* An order must be the same.

A row without a verdict is compared with nothing, or all tried values are as good. A row with a
verdict but no published figure is a check of our own, and is counted separately.
"""
RANGES = f"""The column *range*, where a table has one, is over the unmeasured parameters of the machine:
{UNMEASURED}
It has the minimum and the maximum, or all answers of a row without a number. A row without a range
was simulated with the described values only.

The verdict of a row must be the same at all ends of its range. *Not at every end* means yes with
the described values, and no at an end. *Only at an end* means the opposite. Neither counts as a row
that agrees.
"""

GOALS = {  # goals of a part, and whether they are met
    "01": "Paper 01: 15 of 18 rows. Missed.",
    "02": (
        "Paper 02: 8 of 12 rows, and both gains of segments on all nodes within 10 points. Missed:"
        " one of the two gains is."
    ),
    "03": (
        "Paper 03: 14 of 23 rows, topo-NUMA not slower than combining, combining faster than"
        " dissemination, and the six printed times within 25 %. Missed: with the described values"
        " only combining is faster than dissemination."
    ),
    RECORDED: (
        "Paper 05, measured on four cores: bcast 4 times as fast as coll/tuned, reduce 3.3 times."
        " With 4 ranks of 16 cores bcast is missed, and reduce is met."
    ),
    HELD_OUT: "Held out: within 25 %. Missed.",
}


def goals(papers: list[str], brief: bool) -> list[str]:
    """Returns lines with the goals of these papers, and whether they are met."""
    lines = [f"* {GOALS[paper]}" for paper in papers if paper in GOALS]
    if brief or not lines:
        return []
    return [
        "Goals were set earlier, when papers 01, 02 and 03 had fewer or other rows here. So the"
        " counts under the tables are not those of the goals.",
        "",
        *lines,
        "",
    ]


def head_of(papers: list[str], rows: list[Row], brief: bool) -> str:
    """Returns the head of a page about these papers."""
    printed = [paper for paper in papers if paper.isdigit()]
    lines = [
        (
            "# The fastest that huddle can build\n"
            if papers == [OWN]
            else "# Published and reproduced results\n"
        )
    ]
    if printed:
        lines.append(
            f"{'Papers' if len(printed) > 1 else 'Paper'} {', '.join(printed)}: times, ratios and"
            " best parameters of collectives in shared memory, each compared with the result here."
        )
    if HELD_OUT in papers:
        lines.append(
            "One part has published broadcasts, simulated with a description that has no"
            " measurement of their paper."
        )
    if OWN in papers:
        lines.append(
            f"{'A last part is from no paper: the' if printed else 'The'} fastest barrier,"
            " broadcast and allreduce that huddle can build on two large machines, compared with"
            " their limits."
        )
    by = {row.by for row in rows}
    if not by & {MEASURED, RECORDED}:
        lines.append("No time in the column *here* was measured.")
    elif by - {RECORDED} and MEASURED not in by:
        lines.append("Only the part *Measured* has measured times, of two machines.")
    if brief:
        lines.append("This is a brief page (`--brief`): fewer and smaller points than published.")
    lines += [
        "",
        *(
            f"* *{who}*: {words}."
            for who, words in MEANS.items()
            if any(row.by == who for row in rows)
        ),
        "",
        *goals(papers, brief),
    ]
    judged = [AGREES] if any(row.agrees is not None for row in rows) else []
    ranged = [RANGES] if any(row.range() for row in rows) else []
    return "\n".join(lines + judged + ranged)


def table(headers: list[str], rows: list[list[str]], right: tuple[int, int, int]) -> str:
    cells = [headers, [":-" if i not in right else "-:" for i in range(len(headers))], *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells
    )


class Page:
    def __init__(self, path: str, papers: list[str], brief: bool) -> None:
        self.path, self.papers, self.brief = path, papers, brief
        self.parts: list[str] = []
        self.rows: list[Row] = []
        self.seconds: float = 0

    def add(
        self, heading: str, about: str, published: str, result: Result, notes: list[str]
    ) -> None:
        """Adds a part: paragraphs (`about`), a table and some sentences."""
        self.parts.append(f"## {heading}\n\n{about.strip()}\n")
        head, lines = table_of(result.rows, published)
        self.parts.append(table(head, lines, (1, 2, 3)) + "\n")
        self.parts.append("".join(f"* {note}\n" for note in [*counts(result.rows), *notes]))
        self.rows += result.rows

    def command(self, *papers: str) -> str:
        brief = ["--brief"] if self.brief else []
        return shlex.join(["huddle", "lab", "reproduce", *papers, *brief])

    def write(self) -> None:
        command = self.command(*self.papers)
        made = (
            f"Written by `{command} --page {shlex.quote(os.path.basename(self.path))}` on"
            f" {time.strftime('%Y-%m-%d')}, in {self.seconds:.0f} s. `{command} --figures DIR`"
            " draws each table and the papers' figures.\n"
        )
        head = head_of(self.papers, self.rows, self.brief)
        output_files.write(self.path, "\n".join([head, made, *self.parts]))
