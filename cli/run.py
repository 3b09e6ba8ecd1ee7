# SPDX-License-Identifier: BSD-3-Clause
"""
huddle run --explain: shows what src/launch would set and execute.  `huddle run` itself is done
there, without Python.  huddle run --stats: prints what the ranks have recorded.
"""

import sys

from .common import endings, mpis, records, statistics_json
from .common.text import count_text, heading, table
from .common.totals import Totals


def add_arguments(parser):
    parser.add_argument("variables", nargs="*", metavar="NAME=VALUE", help="what would be set")
    parser.add_argument("--report", metavar="FOLDER", help="print the statistics of a job")
    parser.add_argument("--to", metavar="FILE", help="where they go as JSON")
    parser.add_argument("--status", type=int, default=0, help="the job's exit status")


def said(*lines):
    for line in lines:
        print("huddle:", line, file=sys.stderr)


def passed_text(row):
    """Why calls were not handled, the most frequent reason first."""
    words = [f"{calls} {why}" for why, calls in row.passed.most_common()]
    return ", ".join(words) or "none"


def show_memory(other):
    said(
        f"memory         {count_text(other['leases'], 'lease')},"
        f" {other['leased_peak_bytes'] >> 10} KiB at most of {other['arena_bytes'] >> 10} KiB;"
        f" pages on their rank's node {other['pages_home']}, elsewhere {other['pages_elsewhere']}"
    )
    if other["messages"]:
        said(
            f"nodes          sent {count_text(other['messages'], 'message')},"
            f" {other['message_bytes']} bytes, to other nodes"
        )
    if other["tried"]:
        said(
            f"adapt          tried a second algorithm {count_text(other['tried'], 'time')}, kept"
            f" it {count_text(other['changed'], 'time')}"
        )


def show(totals):
    """Seconds of all ranks: waiting for late ranks, moving data, and those of which neither is
    known."""
    ranks = totals.ranks
    said(f"{ranks[0].mpi}; sums over {count_text(len(ranks), 'rank')}, seconds too")
    said(
        f"{'':21} {'calls':>12} {'handled':>12} {'bytes':>16} {'seconds':>12} {'waiting':>12}"
        f" {'moving':>12}  fell back"
    )
    for name, row in totals.by_collective().items():
        unknown = row.unsplit > 0.5 * row.seconds
        waiting, moving = (
            ("?", "?") if unknown else (f"{row.waiting:.6f}", f"{row.seconds - row.waiting:.6f}")
        )
        said(
            f"{name:21} {row.calls:12} {row.handled:12} {row.bytes:16} {row.seconds:12.6f}"
            f" {waiting:>12} {moving:>12}  {passed_text(row)}"
        )
    if totals.timed < totals.calls:
        said(f"times are estimated: the clock was read in {totals.timed} of {totals.calls} calls")
    if totals.core.ranks:
        show_memory(totals.core.other())


def report(options, command, layout):
    ranks = records.read(options.report)
    if ranks:
        totals = Totals(ranks, layout)
        if options.to:
            statistics_json.write(options.to, totals, options.status)
        else:
            show(totals)
    elif options.to:
        statistics_json.write_nothing(options.to, options.status)
    said(*endings.lines(ranks, command, options.report))
    return 0


def main(options, command, layout):
    if options.report:
        return report(options, command, layout)
    print("huddle run would set")
    for variable in options.variables:
        print(f"  {variable}")
    print(f"and execute\n  {' '.join(command) if command else '(the command after --)'}")
    heading("MPIs on PATH, and the front end that the loader would choose")
    table(
        ["mpi", "launcher", "front end"],
        [
            [
                m["mpi"],
                m["command"],
                m["path"] or f"none built ({m['front_end']}): runs without huddle",
            ]
            for m in mpis.on_path(layout)
        ],
    )
    return 0
