# SPDX-License-Identifier: BSD-3-Clause
"""huddle reproduce: what the papers print, beside what the same thing gives here: by their time models, on a simulated machine, on a simulated network."""
import json
import os
import time

from . import bench_chart, machines, reproduce_01, reproduce_02, reproduce_03, reproduce_04, reproduce_05, reproduce_figures, simulated
from .layout import Trouble
from .text import heading, table

# number -> module: TITLE, and reproduce(lab) -> Result
PAPERS = {"01": reproduce_01, "02": reproduce_02, "03": reproduce_03, "04": reproduce_04, "05": reproduce_05}


class Lab:
    """What a paper's module works with."""

    def __init__(self, layout, brief):
        self.layout, self.brief = layout, brief
        self.notes = []

    def model(self, question, **more):
        return self.layout.question("model", {"ask": question, **more})

    def machine(self, name):
        return machines.load(self.layout, name)

    def simulate(self, machine, collective, algorithm, size=0, **more):
        """ns of a call; machine: its name."""
        return simulated.call_ns(self.layout, self.machine(machine), collective, algorithm, size, **more)

    def note(self, words):
        """A line for the reader: what could not be done, and why."""
        if words not in self.notes:
            self.notes.append(words)


def add_arguments(parser):
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=f"{', '.join(PAPERS)} (default: all)")
    parser.add_argument("--figures", metavar="DIR", help="draw the figures there, too")
    parser.add_argument("--brief", action="store_true", help="fewer points, and smaller: does it work?")
    parser.add_argument("--json", action="store_true", help="rows and figures as JSON")


def show(paper, result, lab, seconds):
    heading(f"Paper {paper}: {PAPERS[paper].TITLE}")
    table(["what", "published", "here", "deviation", "by"], [row.words() for row in result.rows], right=(1, 2, 3))
    for line in lab.notes:
        print(f"  {line}")
    print(f"  {seconds:.1f} s")


def main(options, _command, layout):
    papers = options.papers or list(PAPERS)
    for paper in papers:
        if paper not in PAPERS:
            raise Trouble(f"reproduce {paper}: no such paper (accepted: {', '.join(PAPERS)})", 2)
    if options.figures and bench_chart.missing():
        raise Trouble(bench_chart.missing())
    if options.figures:
        os.makedirs(options.figures, exist_ok=True)
    answers = {}
    for paper in papers:
        lab, begin = Lab(layout, options.brief), time.monotonic()
        result = PAPERS[paper].reproduce(lab)
        seconds = time.monotonic() - begin
        answers[paper] = {"title": PAPERS[paper].TITLE, "rows": [row._asdict() for row in result.rows], "notes": lab.notes, "seconds": seconds,
                          "figures": [figure._asdict() for figure in result.figures]}
        if not options.json:
            show(paper, result, lab, seconds)
        for figure in result.figures if options.figures else ():
            path = os.path.join(options.figures, f"{paper}-{figure.name}.png")
            reproduce_figures.draw(figure, path)
            print(f"  {path}") if not options.json else None
    if options.json:
        print(json.dumps(answers, indent=2))
    return 0
