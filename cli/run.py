# SPDX-License-Identifier: BSD-3-Clause
"""
huddle run --explain: shows what src/launch would set and execute.  `huddle run` itself is done
there, without Python.  huddle run --stats: prints what the ranks have recorded.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .common import exit_report, mpis, records, statistics_json, wisdom_place
from .common.command_line import Argument, Command, Option
from .common.exit_status import DONE
from .common.layout import Layout
from .common.text import count_text, heading, plain, warn
from .common.totals import Totals
from .common.types import Options

if TYPE_CHECKING:
    from .common.totals import Row


# Reasons why a communicator with ranks on other nodes falls back.
SPANS, WITHOUT = "spans nodes", "ranks without huddle here"

PARAMETERS = (
    Argument("variables", nargs=-1, metavar="NAME=VALUE", help="variables that would be set"),
    Option("--handed", default="", help="how the launcher gets them to all nodes"),
    Option("--missing", default="", help="why ranks may run without huddle"),
    Option("--report", metavar="FOLDER", help="print the statistics of a job"),
    Option("--to", metavar="FILE", help="write them to FILE as JSON"),
    Option("--status", type=int, default=0, help="the job's exit status"),
)


def passed_text(row: Row) -> str:
    """Returns why calls were not handled, the most frequent reason first."""
    words = [f"{calls} {why}" for why, calls in row.passed.most_common()]
    words += [f"{row.empty} of zero bytes"] if row.empty else []
    return ", ".join(words) or "none"


def show_memory(other: dict[str, int]) -> None:
    warn(
        f"memory         {count_text(other['leases'], 'lease')}, at most"
        f" {other['leased_peak_bytes'] >> 10} of {other['arena_bytes'] >> 10} KiB at a time;"
        f" pages: {other['pages_home']} on their rank's NUMA node,"
        f" {other['pages_elsewhere']} on other nodes"
    )
    if other["messages"]:
        warn(
            f"nodes          {count_text(other['messages'], 'message')},"
            f" {other['message_bytes']} bytes sent to other nodes"
        )


def show_learned(totals: Totals, layout: Layout) -> None:
    """
    Prints which sources the choices of the calls are from, if cells were tried or known, and why
    later programs will not know the choices.
    """
    if totals.core.ranks and (trouble := wisdom_place.unkept(layout)):
        warn(f"learned        {'; '.join(trouble)}")
    learned = totals.core.learned()
    if not any(count for source, count in learned.items() if source not in ("first", "native")):
        return
    warn(
        f"learned        decided {count_text(learned['decided'], 'case')},"
        f" {learned['changed']} of them against the first choice; calls:"
        f" {learned['known']} by choices known before, {learned['learned']} by choices of this run,"
        f" {learned['first']} by first choices, {learned['trials']} in trials,"
        f" {learned['native']} by the MPI, which is faster"
    )


def show_nodes(totals: Totals, rows: dict[str, Row]) -> None:
    """
    Prints how many calls fell back because ranks are on other nodes, if no call was handled there.
    """
    ranks = totals.ranks
    far = len({rank.host for rank in ranks}) > 1 or len(ranks) < ranks[0].world_size
    given = os.environ.get("HUDDLE_NODES")
    nodes = "off" if given in ("off", "0") else "on" if given in ("on", "1") else "auto"
    calls = sum(
        (nodes == "off") * row.passed[SPANS] + far * row.passed[WITHOUT] for row in rows.values()
    )
    if not calls or totals.core.other()["messages"]:
        return
    warn(
        f"nodes          {count_text(calls, 'call')} of communicators with ranks on other nodes"
        f" fell back to the MPI: {totals.core.nodes_remedy[nodes]}"
    )


def show(totals: Totals, layout: Layout) -> None:
    """Prints the seconds of all ranks: waiting for late ranks, moving data, and unknown."""
    ranks = totals.ranks
    warn(f"{ranks[0].mpi}; all figures are sums over {count_text(len(ranks), 'rank')}")
    warn(
        f"{'':21} {'calls':>12} {'handled':>12} {'bytes':>16} {'seconds':>12} {'waiting':>12}"
        f" {'moving':>12}  not handled"
    )
    rows = totals.by_collective()
    for name, row in rows.items():
        unknown = row.unsplit > 0.5 * row.seconds
        waiting, moving = (
            ("?", "?") if unknown else (f"{row.waiting:.6f}", f"{row.seconds - row.waiting:.6f}")
        )
        warn(
            f"{name:21} {row.calls:12} {row.handled:12} {row.bytes:16} {row.seconds:12.6f}"
            f" {waiting:>12} {moving:>12}  {passed_text(row)}"
        )
    if totals.timed < totals.calls:
        warn(f"times are estimated: the clock was read in {totals.timed} of {totals.calls} calls")
    if totals.core.ranks:
        show_memory(totals.core.other())
        show_nodes(totals, rows)
    show_learned(totals, layout)


def report(options: Options, command: list[str], layout: Layout) -> int:
    ranks = records.read(options.report)
    if ranks:
        totals = Totals(ranks, layout)
        if options.to:
            statistics_json.write(options.to, totals, options.status)
        else:
            show(totals, layout)
    elif options.to:
        statistics_json.write_nothing(options.to, options.status)
    warn(*exit_report.lines(ranks, command, options.report))
    return DONE


def main(options: Options, command: list[str], layout: Layout) -> int:
    if options.report:
        return report(options, command, layout)
    print("huddle run would set")
    for variable in options.variables:
        print(f"  {variable}")
    print(f"and execute\n  {' '.join(command) if command else '(the command after --)'}")
    for line in filter(None, (options.handed, options.missing)):
        print(line)
    heading("MPIs on PATH, and the front end that the loader would choose")
    plain(
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
    return DONE


COMMAND = Command(main, PARAMETERS)
