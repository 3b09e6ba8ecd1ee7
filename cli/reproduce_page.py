# SPDX-License-Identifier: BSD-3-Clause
"""What `huddle reproduce` found, as a page: a table for each paper, its notes, its figures beside it in a folder."""
import os
import time

from . import places, reproduce_figures
from .reproduce_rows import summary

FOLDER = "figures"
HEAD = """# What the papers print, and what comes out here

Five papers print times, ratios and best parameters of barriers, broadcasts, reductions and exchanges in shared memory. Beside each stands what the same thing gives here. Last comes what no
paper has: the fastest that huddle can build on two large machines. No time on this page was measured.

* *function*: the paper's own formulas, as `src/cost` has them;
* *simulated*: huddle's algorithms, and those they are compared with, on a described machine (`machines/`), every number of which has its source there; none is tuned to a printed result;
* *SimGrid*: send and receive of `bench/messages.c` on a simulated network.

*Agrees* says by which criterion: of formulas within so many per cent; of simulated figures the same for all papers: a time within a factor of 1.5, a ratio of two times on the same side of 1 and within 1.25, a gain in per cent
of the same sign and within a factor of 2; of a best parameter one step of those tried at most; of an order the same. A row without it stands beside nothing that is printed. Below a table stands what does
not come out, by how much, and what in the model would explain it.
"""


def table(headers, rows, right):
    cells = [headers, [":-" if i not in right else "-:" for i in range(len(headers))], *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells)


class Page:
    def __init__(self, path, papers, head):
        self.path, self.papers, self.head, self.parts, self.seconds = path, papers, head, [], 0
        self.folder = os.path.join(os.path.dirname(os.path.abspath(path)), FOLDER)
        places.make_folder(self.folder)

    def add(self, paper, heading, headers, result, notes, seconds):
        self.parts.append(f"## {heading}\n\n{table(headers, [row.words() for row in result.rows], (1, 2, 3))}\n")
        self.parts.append("".join(f"* {note}\n" for note in [*summary(result.rows), *notes, f"`huddle reproduce {paper}` took {seconds:.0f} s"]))
        self.seconds += seconds
        for figure in result.figures:
            name = f"{paper}-{figure.name}.png"
            reproduce_figures.draw(figure, os.path.join(self.folder, name), dpi=80)
            self.parts.append(f"![{figure.title}]({FOLDER}/{name})\n")

    def write(self):
        made = f"Written by `huddle reproduce {' '.join(self.papers)} --page {os.path.basename(self.path)}` on {time.strftime('%Y-%m-%d')}, in {self.seconds:.0f} s.\n"
        places.write(self.path, "\n".join([self.head, made, *self.parts]))
