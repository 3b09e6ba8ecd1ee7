# SPDX-License-Identifier: BSD-3-Clause
"""
huddle bench: how long collectives take, huddle's and its peers', in turn and under the same
conditions.
"""

import sys

from ..common import launching, steady, stop
from ..common.progress import Progress
from ..common.text import heading, table
from . import arguments, compare, report, stats, summary
from .arguments import add_arguments  # noqa: F401  (of every command)
from .campaign import Campaign
from .rounds import Rounds, parts_of
from .tables import bare_lines, missing_lines, summary_lines, tables
from .variants import choose, program

NO_FIGURE = (
    "no figure is shown: the line transfer changed its class during each of them"
    " (more --launches; or --bind none, which asks for no class where there are enough cores)"
)


def known_collectives(layout):
    """In the library's order."""
    return list(dict.fromkeys(row["collective"] for row in layout.ask("info", "algorithms")))


def warn(line):
    print(f"huddle: bench: {line}", file=sys.stderr)


def show(rows, unlabelled, others, missing, options):
    for title, headers, lines, right in tables(rows, options.details):
        heading(title)
        table(headers, lines, right)
    lines = summary_lines(rows) + bare_lines(rows) + missing_lines(missing)
    if lines:
        print()
    for line in lines:
        print(f"  {line}")
    if others:
        print(f"  {others}: times may be those of a busy machine")
    if unlabelled:
        print(
            f"  {unlabelled} figure(s) left out: the line transfer could not be measured, or"
            " changed its class meanwhile"
        )


def about_of(layout, variants, missing, campaign, command):
    first = next((v.mpi for v in variants if v.mpi), None)
    return {
        "command": command,
        "mpi": first.version if first else "no MPI",
        "machine": report.machine_of(layout),
        "notes": missing_lines(missing) + campaign.notes,
        "variants": [
            {
                "name": v.name,
                "kind": v.kind,
                "mpi": v.mpi.version if v.mpi else None,
                "parameters": v.parameters,
                "settings": v.settings,
            }
            for v in variants
        ],
    }


def prepare(options, layout):
    """(campaign, variants, MPIs that are missing)"""
    if options.compare:
        compare.check(options)
        return compare.Comparison(options, layout), compare.variants_of(options), []
    if options.summary and options.minutes == 0:  # of earlier figures alone
        return Rounds(options, []), [], []
    launching.check_launcher(layout)
    variants, missing = choose(options, layout, warn)
    for variant in variants:
        program(layout, variant)
    if options.summary:
        return Rounds(options, parts_of(options, layout, variants)), variants, missing
    return Campaign(options, layout, variants), variants, missing


def show_summary(campaign, others, missing):
    """Returns the cases."""
    cases = summary.cases_of(campaign.samples)
    for title, headers, lines, right in summary.tables(cases):
        heading(title)
        table(headers, lines, right)
    busy = [f"{others}: times may be those of a busy machine"] if others else []
    print()
    for line in summary.last_lines(cases, campaign.samples) + missing_lines(missing) + busy:
        print(f"  {line}")
    return cases


def show_rows(campaign, variants, others, missing, options):
    """Returns the rows."""
    ours, peers = ([v.name for v in variants if v.kind == kind] for kind in ("huddle", "peer"))
    rows, unlabelled = stats.rows_of(campaign.samples, ours, peers)
    show(rows, unlabelled, others, missing, options)
    return rows


def main(options, _command, layout):
    options = arguments.settle(options, known_collectives(layout))
    report.check_files(options, warn)
    campaign, variants, missing = prepare(options, layout)
    others = steady.others() if campaign.turns() else None
    if options.summary and campaign.parts:
        warn(campaign.plan_text())
    with Progress(len(campaign.turns()), "measuring") as progress:
        interrupt = campaign.run(progress)
    if options.summary:
        rows = show_summary(campaign, others, missing)
    else:
        rows = show_rows(campaign, variants, others, missing, options)
    for note in campaign.notes + ([] if rows else [NO_FIGURE]):
        warn(note)
    report.write_files(
        options,
        rows,
        campaign.samples,
        about_of(layout, variants, missing, campaign, ["huddle", *sys.argv[1:]]),
        lambda line: print(f"  {line}"),
    )
    if interrupt:
        warn(f"ended by {stop.name_of(interrupt)}: the figures are those of the launches before")
        return stop.status_of(interrupt)
    return 1 if campaign.wrong or campaign.left_out or missing or not rows else 0
