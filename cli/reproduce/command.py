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
from concurrent.futures import ThreadPoolExecutor, as_completed

from ..common import machines, pictures, places, simulated
from ..common.layout import Trouble
from ..common.progress import Progress
from ..common.text import heading, table
from . import holdout, measured, own, paper_01, paper_02, paper_03, paper_04, paper_05, recorded
from .page import Page
from .rows import summary, table_of

# number -> module: TITLE, and reproduce(lab) -> Result
PAPERS = {
    "01": paper_01,
    "02": paper_02,
    "03": paper_03,
    "04": paper_04,
    "05": paper_05,
    "held-out": holdout,
    "recorded": recorded,
    "own": own,
    "measured": measured,
}
BY_NAME = ("measured",)  # alone, on a quiet machine
LONGEST_FIRST = ("01", "05", "own", "held-out", "02", "03", "04", "recorded")

NEEDS = (
    "All together take about two minutes of two cores, most of it for own. The"
    " simulator must have been built (Boost's context). Figures need matplotlib."
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
    part = f"Paper {paper}" if paper.isdigit() else PAPERS[paper].PART
    return f"{part}: {PAPERS[paper].TITLE}"


def published_of(paper):
    """What the rows are compared with."""
    return getattr(PAPERS[paper], "PRINTED", "published")


def show(paper, result, notes, seconds):
    heading(heading_of(paper))
    head, lines = table_of(result.rows, published_of(paper))
    table(head, lines, right=(1, 2, 3))
    for line in [*summary(result.rows), *notes]:
        print(f"  {line}")
    print(f"  {seconds:.1f} s")


def reproduced(paper, layout, options):
    """(result, notes, seconds)"""
    lab, begin = Lab(layout, options.brief, options.measure), time.monotonic()
    result = PAPERS[paper].reproduce(lab)
    return result, lab.notes, time.monotonic() - begin


def all_of(papers, layout, options):
    """
    paper -> its result; as many papers at a time as there are processors, but those that measure
    alone.
    """
    begin = time.monotonic()
    at_once = sorted(set(papers) - set(BY_NAME), key=LONGEST_FIRST.index)
    with (
        Progress(len(papers), "papers") as progress,
        ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool,
    ):
        futures = {pool.submit(reproduced, paper, layout, options): paper for paper in at_once}
        try:
            found = {}
            for future in as_completed(futures):
                found[futures[future]] = future.result()
                progress.step()
        finally:
            pool.shutdown(cancel_futures=True)
        for paper in papers:
            if paper in BY_NAME:
                found[paper] = reproduced(paper, layout, options)
                progress.step()
    return found, time.monotonic() - begin


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
    found, seconds = all_of(papers, layout, options)
    answers = {}
    for paper in papers:
        result, notes, took = found[paper]
        answers[paper] = {
            "title": PAPERS[paper].TITLE,
            "rows": [row._asdict() for row in result.rows],
            "notes": notes,
            "seconds": took,
            "figures": [figure._asdict() for figure in result.figures],
        }
        if not options.json:
            show(paper, result, notes, took)
        if page:
            about = PAPERS[paper].__doc__
            page.add(paper, heading_of(paper), about, published_of(paper), result, notes)
        for figure in result.figures if options.figures else ():
            path = os.path.join(options.figures, f"{paper}-{figure.name}.png")
            places.write(path, pictures.draw(figure))
            if not options.json:
                print(f"  {path}")
    if page:
        page.seconds = seconds
        page.write()
    if options.json:
        print(json.dumps(answers, indent=2))
    return 0
