# SPDX-License-Identifier: BSD-3-Clause
"""What `huddle reproduce` found, as a page: a table for each paper, its notes, its figures beside it in a folder."""
import os

from . import places, reproduce_figures

FOLDER = "figures"
HEAD = """# What the papers print, and what comes out here

Written by `huddle reproduce --page docs/reproduced.md`. "Function": the paper's own formulas, as `src/cost` has them. "Simulated": huddle's algorithms on a described machine
(`machines/`), every number of which has its source there; none is tuned to a printed result. "SimGrid": send and receive of `bench/messages.c` on a simulated network. No time on this
page was measured.
"""


def table(headers, rows, right):
    cells = [headers, [":-" if i not in right else "-:" for i in range(len(headers))], *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in cells)


class Page:
    def __init__(self, path):
        self.path, self.parts = path, [HEAD]
        self.folder = os.path.join(os.path.dirname(os.path.abspath(path)), FOLDER)
        places.make_folder(self.folder)

    def add(self, paper, heading, headers, result, notes, seconds):
        self.parts.append(f"## {heading}\n\n{table(headers, [row.words() for row in result.rows], (1, 2, 3))}\n")
        self.parts.append("".join(f"* {note}\n" for note in [*notes, f"`huddle reproduce {paper}` took {seconds:.0f} s"]))
        for figure in result.figures:
            name = f"{paper}-{figure.name}.png"
            reproduce_figures.draw(figure, os.path.join(self.folder, name), dpi=80)
            self.parts.append(f"![{figure.title}]({FOLDER}/{name})\n")

    def write(self):
        places.write(self.path, "\n".join(self.parts))
