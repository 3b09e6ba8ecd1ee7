# SPDX-License-Identifier: BSD-3-Clause
"""
What `huddle reproduce` found, as a page: a table for each paper, its notes, its figures beside it
in a folder.  All of it is written at the end.
"""

import contextlib
import os
import shlex
import time

from ..common import pictures, places
from .rows import summary

FOLDER = "figures"
OWN, MEASURES = "own", "this"  # what is no paper
MEANS = {  # who gives a figure, as rows name it
    "function": "the paper's own formulas, as `src/cost` has them",
    "simulated": (
        "huddle's algorithms, and those they are compared with, on a described machine"
        " (`machines/`), every number of which has its source there; none is tuned to a printed"
        " result"
    ),
    "SimGrid": "send and receive of `bench/messages.c` on a simulated network",
}
AGREES = """*Agrees* says by which criterion: of formulas within so many per cent; of simulated figures the same for all papers: a time within a factor of 1.5, a ratio of two times on the same side of 1 and within 1.25, a gain in per cent
of the same sign and within a factor of 2; of a best parameter that the printed one is as good here, within 2 %, where not all that were tried are; of an order the same. A row without it is compared with nothing, or all that were
tried are as good. A row with nothing printed beside it that has one is a check of our own, counted apart. Below a table stands what does not come out, by how much, and what in the model would explain it.
"""


def head_of(papers, rows, brief):
    """What a page opens with: of what is on it."""
    printed = [paper for paper in papers if paper.isdigit()]
    lines = [
        (
            "# What the papers print, and what comes out here\n"
            if printed
            else "# The fastest that huddle can build\n"
        )
    ]
    if printed:
        lines.append(
            f"{'Papers' if len(printed) > 1 else 'Paper'} {', '.join(printed)}: times, ratios and"
            " best parameters of collectives in shared memory, and beside each what the same thing"
            " gives here."
        )
    if OWN in papers:
        lines.append(
            f"{'What no paper has stands apart: the' if printed else 'The'} fastest barrier,"
            " broadcast and reduction to all that huddle can build on two large machines, beside"
            " their limits."
        )
    lines.append(
        "Only what stands under *this machine* was measured here."
        if MEASURES in papers
        else "No time in the column *here* was measured."
    )
    if brief:
        lines.append("It is a brief page (`--brief`): fewer points, and smaller ones than printed.")
    lines += [
        "",
        *(
            f"* *{who}*: {words}."
            for who, words in MEANS.items()
            if any(row.by == who for row in rows)
        ),
        "",
    ]
    return "\n".join(lines + ([AGREES] if any(row.agrees is not None for row in rows) else []))


def table(headers, rows, right):
    cells = [headers, [":-" if i not in right else "-:" for i in range(len(headers))], *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells
    )


class Page:
    """head: None: of what is on it."""

    def __init__(self, path, papers, brief, head=None):
        self.path, self.papers, self.brief, self.head = path, papers, brief, head
        self.parts, self.rows, self.pictures, self.seconds = [], [], {}, 0
        self.folder = os.path.join(os.path.dirname(os.path.abspath(path)), FOLDER)
        if os.path.lexists(self.folder):
            places.check_folder("--page", self.folder)

    def add(self, paper, heading, about, headers, result, notes, seconds):
        """about: what it is, paragraphs."""
        rows = table(headers, [row.words() for row in result.rows], (1, 2, 3))
        self.parts.append(f"## {heading}\n\n{about.strip()}\n\n{rows}\n")
        self.parts.append(
            "".join(
                f"* {note}\n"
                for note in [
                    *summary(result.rows),
                    *notes,
                    f"`{self.command(paper)}` took {seconds:.0f} s",
                ]
            )
        )
        self.rows += result.rows
        self.seconds += seconds
        for figure in result.figures:
            name = f"{paper}-{figure.name}.png"
            self.pictures[name] = pictures.draw(figure, dpi=80)
            self.parts.append(f"![{figure.title}]({FOLDER}/{name})\n")

    def command(self, *papers):
        return shlex.join(["huddle", "reproduce", *papers, *(["--brief"] if self.brief else [])])

    def write(self):
        made = (
            f"Written by `{self.command(*self.papers)} --page"
            f" {shlex.quote(os.path.basename(self.path))}` on {time.strftime('%Y-%m-%d')}, in"
            f" {self.seconds:.0f} s.\n"
        )
        head = self.head or head_of(self.papers, self.rows, self.brief)
        there = os.path.isdir(self.folder)
        places.make_folder(self.folder)
        try:
            for name, picture in self.pictures.items():
                places.write(os.path.join(self.folder, name), picture)
            places.write(self.path, "\n".join([head, made, *self.parts]))
        except BaseException:
            if not there:
                with contextlib.suppress(OSError):  # that holds a picture
                    os.rmdir(self.folder)
            raise
