# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab reproduce: compares the papers' results with those of their time models, of a simulated
machine and of a simulated network.
"""

from __future__ import annotations

import functools
import json
import os
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, NamedTuple

from cli.common import machines, output_files, pictures
from cli.common.command_line import Argument, Command, Option
from cli.common.exit_status import BAD_USE, DONE
from cli.common.layout import CliError, Layout
from cli.common.progress import Progress
from cli.common.text import heading, table
from cli.common.types import Options

from . import engine, extra_rows, measured, paper_04_measured, picture, recorded
from .page import Page
from .rows import Result, summary, table_of

FILES = ("01", "02", "03", "04", "05", "held-out")  # files of papers/
MODULES = {"recorded": recorded, "own": extra_rows, "measured": measured}
PAPERS = (*FILES, *MODULES)
BY_NAME = ("measured",)  # alone, on a quiet machine
LONGEST_FIRST = ("01", "05", "own", "held-out", "02", "03", "04", "recorded")


class Part(NamedTuple):
    """A paper's file, or a module.  published: the name of the figures compared with."""

    title: str
    heading: str
    about: str
    published: str


@functools.cache
def part(paper: str) -> Part:
    if paper in MODULES:
        module = MODULES[paper]
        title, name = module.TITLE, module.PART
        about, published = module.__doc__ or "", getattr(module, "PRINTED", "published")
    else:
        contents = engine.contents(paper)
        title, name = contents["title"], contents.get("heading", f"Paper {paper}")
        about, published = contents["about"], "published"
    return Part(title, f"{name}: {title}", about, published)


NEEDS = (
    "All together take about two minutes of two cores, most of it for own. The"
    " simulator must have been built (Boost's context). Figures need matplotlib. The picture of a"
    " table has a point for each row, green if the row agrees, and a line for its range. The grey"
    " band is a factor of 1.5, and points outside the picture are drawn at its edge."
    " SimGrid's figures of 04 need"
    " Debian's libsimgrid-dev when huddle is built (smpicc) and when it runs (smpirun); without it"
    " 04 has only its formulas."
)


class Lab:
    """The means to compute a paper: the model, the simulator and the machines."""

    def __init__(self, layout: Layout, brief: bool, measure: str | None = None) -> None:
        self.layout, self.brief, self.measure = layout, brief, measure
        self.notes: list[str] = []

    def model(self, question: str, **more: Any) -> dict[str, Any]:
        return self.layout.question("model", {"ask": question, **more})

    def machine(self, name: str) -> dict[str, Any]:
        """Reads a description by its name, or by its file in the folder of descriptions."""
        path = os.path.join(self.layout.machines, name)
        return machines.read(path if name.endswith(".toml") else machines.files(self.layout)[name])

    def note(self, words: str) -> None:
        """Adds a line for the reader."""
        if words not in self.notes:
            self.notes.append(words)


def epilog() -> str:
    """Returns the first paragraph about each paper, then the time and packages needed."""
    known = PAPERS if machines.tomllib else tuple(MODULES)
    first = {paper: part(paper).about.strip().split("\n\n")[0] for paper in known}
    about = [f"{paper}: {' '.join(words.split())}" for paper, words in first.items()]
    about += [output_files.HELP, NEEDS]
    return "\n".join(textwrap.fill(line, 120, subsequent_indent="    ") for line in about)


PARAMETERS = (
    Argument(
        "papers",
        nargs=-1,
        metavar="PAPER",
        help=f"{', '.join(PAPERS)} (default: all but {', '.join(BY_NAME)})",
    ),
    Option(
        "--figures",
        metavar="DIR",
        help="also draw the tables and the papers' figures, into an existing directory",
    ),
    Option("--page", metavar="FILE", help="also write the tables as a Markdown page"),
    Option("--brief", is_flag=True, help="compute fewer and smaller points, as a quick check"),
    Option(
        "--measure",
        metavar="COMMAND",
        help="04: also measure huddle's trees on nodes; COMMAND starts ranks there with Open MPI,"
        " for example 'mpirun -H a:8,b:8 -np 16'",
    ),
    Option("--json", is_flag=True, help="print rows and figures as JSON"),
)


def show(paper: str, result: Result, notes: list[str], seconds: float) -> None:
    heading(part(paper).heading)
    head, lines = table_of(result.rows, part(paper).published)
    table(head, lines, right=(1, 2, 3))
    for line in [*summary(result.rows), *notes]:
        print(f"  {line}")
    print(f"  {seconds:.1f} s")


def draw(paper: str, result: Result, folder: str) -> Iterator[str]:
    """Draws the rows and the figures of a paper.  Yields the paths of the pictures."""
    drawn = {
        "rows": picture.draw(part(paper).heading, result.rows, part(paper).published),
        **{figure.name: pictures.draw(figure) for figure in result.figures},
    }
    for name, data in drawn.items():
        if data:
            path = os.path.join(folder, f"{paper}-{name}.png")
            output_files.write(path, data)
            yield path


def reproduced(paper: str, layout: Layout, options: Options) -> tuple[Result, list[str], float]:
    """Returns (result, notes, seconds)."""
    lab, begin = Lab(layout, options.brief, options.measure), time.monotonic()
    if paper in MODULES:
        rows, figures = MODULES[paper].reproduce(lab)
    else:
        rows, figures = engine.reproduce(lab, paper)
    if options.measure:
        more, drawn = paper_04_measured.measure(lab)
        rows, figures = rows + more, figures + drawn
    return Result(rows, figures), lab.notes, time.monotonic() - begin


def all_of(
    papers: list[str], layout: Layout, options: Options
) -> tuple[dict[str, tuple[Result, Any, float]], float]:
    """
    Returns {paper: its result}. Runs as many papers concurrently as there are processors, except
    papers that measure.
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


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    papers = list(dict.fromkeys(options.papers)) or [
        paper for paper in PAPERS if paper not in BY_NAME
    ]
    for paper in papers:
        if paper not in PAPERS:
            raise CliError(
                f"reproduce {paper}: no such paper (accepted: {', '.join(PAPERS)})", BAD_USE
            )
    if options.measure and (papers != ["04"] or options.page):
        raise CliError("--measure: of paper 04 (accepted: reproduce 04 --measure)", BAD_USE)
    output_files.check("--page", options.page)
    output_files.check_folder("--figures", options.figures)
    if options.figures and pictures.missing():
        raise CliError(str(pictures.missing()))
    page = Page(options.page, papers, options.brief) if options.page else None
    found, seconds = all_of(papers, layout, options)
    answers = {}
    for paper in papers:
        result, notes, took = found[paper]
        answers[paper] = {
            "title": part(paper).title,
            "rows": [row._asdict() for row in result.rows],
            "notes": notes,
            "seconds": took,
            "figures": [figure._asdict() for figure in result.figures],
        }
        if not options.json:
            show(paper, result, notes, took)
        if page:
            page.add(*part(paper)[1:], result, notes)
        if options.figures:
            for path in draw(paper, result, options.figures):
                if not options.json:
                    print(f"  {path}")
    if page:
        page.seconds = seconds
        page.write()
    if options.json:
        print(json.dumps(answers, indent=2))
    return DONE


COMMAND = Command(main, PARAMETERS, epilog(), laid_out=True)
