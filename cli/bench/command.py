# SPDX-License-Identifier: BSD-3-Clause
"""
huddle bench: how long collectives take, huddle's and its peers', in turn and under the same
conditions.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..common import launching, stability, stop
from ..common.command_line import Command
from ..common.exit_status import DONE, FAILED
from ..common.layout import Layout
from ..common.progress import Progress
from ..common.text import heading, table
from ..common.types import Options
from . import arguments, compare, report, stats, summary
from .arguments import EXAMPLES, PARAMETERS
from .campaign import Campaign
from .rounds import Rounds, parts_of
from .tables import bare_lines, missing_lines, summary_lines, tables
from .variants import choose, program

if TYPE_CHECKING:
    from .stats import Row
    from .variants import Variant

NO_FIGURE = (
    "no figure is shown: the line transfer changed its class during each of them"
    " (more --launches; or --bind none, which asks for no class where there are enough cores)"
)


def known_collectives(layout: Layout) -> list[str]:
    """Returns the names of the collectives in the library's order."""
    return list(dict.fromkeys(row["collective"] for row in layout.ask("info", "algorithms")))


def warn(line: str) -> None:
    print(f"huddle: bench: {line}", file=sys.stderr)


def show(
    rows: list[Row], unlabelled: int, others: str | None, missing: list[Any], options: Options
) -> None:
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


def about_of(
    layout: Layout,
    variants: list[Variant],
    missing: list[Any],
    campaign: Campaign | Rounds,
    command: list[str],
) -> dict[str, Any]:
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


def prepare(options: Options, layout: Layout) -> tuple[Any, list[Any], list[str]]:
    """Returns (campaign, variants, MPIs that are missing)."""
    if options.compare:
        compare.check(options)
        return compare.Comparison(options, layout), compare.variants_of(options), []
    if options.summary and options.minutes == 0:  # a summary of earlier figures alone
        return Rounds(options, []), [], []
    launching.check_launcher(layout)
    variants, missing = choose(options, layout, warn)
    for variant in variants:
        program(layout, variant)
    if options.summary:
        return Rounds(options, parts_of(options, layout, variants)), variants, missing
    return Campaign(options, layout, variants), variants, missing


def show_summary(campaign: Rounds, others: Any, missing: list[Any]) -> list[Any]:
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


def show_rows(
    campaign: Campaign,
    variants: list[Variant],
    others: str | None,
    missing: list[Any],
    options: Options,
) -> list[Row]:
    """Returns the rows."""
    ours, peers = ([v.name for v in variants if v.kind == kind] for kind in ("huddle", "peer"))
    rows, unlabelled = stats.rows_of(campaign.samples, ours, peers)
    show(rows, unlabelled, others, missing, options)
    return rows


def failures(campaign: Campaign | Rounds | compare.Comparison) -> list[str]:
    """
    Returns why some figures are missing or not right.  The list is empty if all are there and
    right.
    """
    return [
        *([f"{campaign.wrong} bytes were wrong"] if campaign.wrong else []),
        *(["launches failed or did not end, as the notes say"] if campaign.left_out else []),
    ]


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    options = arguments.settle(options, known_collectives(layout))
    report.check_files(options, warn)
    campaign, variants, missing = prepare(options, layout)
    others = stability.others() if campaign.turns() else None
    if options.summary and campaign.parts:
        warn(campaign.plan_text())
    with Progress(len(campaign.turns()), "measuring") as progress:
        interrupt = campaign.run(progress)
    rows: list[Any]
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
    found = failures(campaign)
    if found and rows:
        warn(f"the exit status is 1: {' and '.join(found)}")
    return FAILED if found or missing or not rows else DONE


COMMAND = Command(main, PARAMETERS, EXAMPLES, laid_out=True)
