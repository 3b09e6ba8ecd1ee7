# SPDX-License-Identifier: BSD-3-Clause
"""
huddle reproduce: compares the papers' results with those of their time models, of a simulated
machine and of a simulated network.
"""

import argparse
import json
import os
import textwrap
import time

from ..common import machines, pictures, places, simulated
from ..common.layout import Trouble
from ..common.progress import Progress
from ..common.text import heading, table
from . import measured, own, paper_01, paper_02, paper_03, paper_04, paper_05
from .page import Page
from .rows import summary

# number -> module: TITLE, and reproduce(lab) -> Result
PAPERS = {
    "01": paper_01,
    "02": paper_02,
    "03": paper_03,
    "04": paper_04,
    "05": paper_05,
    "own": own,
    "measured": measured,
}
BY_NAME = ("measured",)  # on a quiet machine

NEEDS = (
    "The papers and own together take three to eight minutes of one core, most of it for 05, own"
    " and 01. The simulator must have been built (Boost's context). Figures need matplotlib."
    " SimGrid's figures of 04 need"
    " Debian's libsimgrid-dev when huddle is built (smpicc) and when it runs (smpirun); without it"
    " 04 has only its formulas."
)


class Lab:
    """The functions that a paper's module uses."""

    def __init__(self, layout, brief, measure=False):
        self.layout, self.brief, self.measure = layout, brief, measure
        self.notes = []

    def model(self, question, **more):
        return self.layout.question("model", {"ask": question, **more})

    def machine(self, name):
        return machines.load(self.layout, name)

    def simulate(self, machine, collective, algorithm, size=0, **more):
        """ns of a call; machine: its name."""
        return simulated.call_ns(
            self.layout, self.machine(machine), collective, algorithm, size, **more
        )

    def note(self, words):
        """Adds a line for the reader."""
        if words not in self.notes:
            self.notes.append(words)


def epilog():
    """The first paragraph of each paper's module; then the time and packages needed."""
    about = [
        f"{paper}: " + " ".join(module.__doc__.split("\n\n")[0].split())
        for paper, module in PAPERS.items()
    ]
    about += [places.HELP, NEEDS]
    return "\n".join(textwrap.fill(line, 120, subsequent_indent="    ") for line in about)


def add_arguments(parser):
    parser.add_argument(
        "papers",
        nargs="*",
        metavar="PAPER",
        help=f"{', '.join(PAPERS)} (default: all but {', '.join(BY_NAME)})",
    )
    parser.add_argument(
        "--figures", metavar="DIR", help="also draw the figures, into an existing directory"
    )
    parser.add_argument(
        "--page",
        metavar="FILE",
        help="write tables and figures as a Markdown page, the figures into a folder next to it",
    )
    parser.add_argument(
        "--brief", action="store_true", help="fewer and smaller points, as a quick check"
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="04: also measure huddle's trees, on nodes of network namespaces; only root can",
    )
    parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, epilog()
    parser.add_argument("--json", action="store_true", help="print rows and figures as JSON")


def heading_of(paper):
    return (
        f"Paper {paper}: {PAPERS[paper].TITLE}"
        if paper.isdigit()
        else f"{getattr(PAPERS[paper], 'PART', 'Our own')}: {PAPERS[paper].TITLE}"
    )


def headers_of(paper):
    return [
        "what",
        getattr(PAPERS[paper], "PRINTED", "published"),
        "here",
        "deviation",
        "agrees",
        "by",
    ]


def show(paper, result, lab, seconds):
    heading(heading_of(paper))
    table(headers_of(paper), [row.words() for row in result.rows], right=(1, 2, 3))
    for line in [*summary(result.rows), *lab.notes]:
        print(f"  {line}")
    print(f"  {seconds:.1f} s")


def main(options, _command, layout):
    papers = list(dict.fromkeys(options.papers)) or [
        paper for paper in PAPERS if paper not in BY_NAME
    ]
    for paper in papers:
        if paper not in PAPERS:
            raise Trouble(f"reproduce {paper}: no such paper (accepted: {', '.join(PAPERS)})", 2)
    if options.measure and (papers != ["04"] or options.page):
        raise Trouble("--measure: of paper 04 (accepted: reproduce 04 --measure)", 2)
    places.check("--page", options.page)
    places.check_folder("--figures", options.figures)
    if (options.figures or options.page) and pictures.missing():
        raise Trouble(pictures.missing())
    page = Page(options.page, papers, options.brief) if options.page else None
    answers = {}
    for done, paper in enumerate(papers):
        lab, begin = Lab(layout, options.brief, options.measure), time.monotonic()
        with Progress(len(papers), heading_of(paper), done):
            result = PAPERS[paper].reproduce(lab)
        seconds = time.monotonic() - begin
        answers[paper] = {
            "title": PAPERS[paper].TITLE,
            "rows": [row._asdict() for row in result.rows],
            "notes": lab.notes,
            "seconds": seconds,
            "figures": [figure._asdict() for figure in result.figures],
        }
        if not options.json:
            show(paper, result, lab, seconds)
        if page:
            page.add(
                paper,
                heading_of(paper),
                PAPERS[paper].__doc__,
                headers_of(paper),
                result,
                lab.notes,
                seconds,
            )
        for figure in result.figures if options.figures else ():
            path = os.path.join(options.figures, f"{paper}-{figure.name}.png")
            places.write(path, pictures.draw(figure))
            if not options.json:
                print(f"  {path}")
    if page:
        page.write()
    if options.json:
        print(json.dumps(answers, indent=2))
    return 0
