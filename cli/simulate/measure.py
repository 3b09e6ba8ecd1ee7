# SPDX-License-Identifier: BSD-3-Clause
"""
Measures on this machine the calls that were simulated for it: teams without MPI, single calls from
a common start or back-to-back calls, as in huddle bench.

The time of the clock and of the common start is measured by calls of nothing, and subtracted.
Ranks that wait for a moment by reading the clock enter a call within one reading of each other.
Simulated ranks enter in the same way, since a rank that comes a little later finds lines that
others already poll.
"""

import json
import math
import os

from ..common import jobs, machines, simulated, steady, transfers
from ..common.layout import Trouble
from ..common.progress import Progress
from ..common.repetitions import RING
from ..common.text import bytes_text, heading, table

LIMIT_S, FIGURE_MS, NOTHING = 600, 60, "nothing"
SMALL_CALLS = 256  # calls of up to 4 KB; each has new random moments of entry
NUMBER_BYTES = 8  # size of the numbers that reductions add


def prepare(options, asked):
    """
    Refuses calls that cannot be measured.  Then sets the skew of the simulated calls to that of the
    measured ones.
    """
    if options.machine != machines.THIS:
        raise Trouble(
            f"--measure: {options.machine} is not this machine (accepted: without --machine; this"
            f" machine is then described by {machines.measured_file()}, which huddle tune --machine"
            " writes)",
            2,
        )
    if asked.ranks > jobs.cores():
        raise Trouble(
            f"--measure: {asked.ranks} ranks on {jobs.cores()} cores (accepted: --ranks of 2 to"
            f" {jobs.cores()})",
            2,
        )
    if options.map != "core":
        raise Trouble(f"--measure: --map {options.map} (accepted: core)", 2)
    odd = [size for size in asked.sizes if asked.about.reduces and size % NUMBER_BYTES]
    if odd:
        raise Trouble(
            f"--measure: --bytes {odd[0]}: {asked.collective} is measured with numbers of"
            f" {NUMBER_BYTES} bytes (accepted: multiples of {NUMBER_BYTES})",
            2,
        )
    if options.method == "single":
        options.skew = bench_team(asked, NOTHING, [0], 1, {})["start_ns"]
        asked.start_ns, asked.small_calls = (
            simulated.entry_ns(options.skew, asked.ranks),
            SMALL_CALLS,
        )


def bench_team(asked, collectives, sizes, figure_ms, environment):
    """The answer of the measuring program."""
    loop = (
        ["--loop", str(asked.options.repetitions or RING)] if asked.options.method == "loop" else []
    )
    words = [
        "--ranks",
        str(asked.ranks),
        "--bind",
        "core",
        "--coll",
        collectives,
        "--bytes",
        ",".join(map(str, sizes)),
        "--root",
        str(asked.options.root or 0),
        "--figure-ms",
        str(figure_ms),
        *loop,
    ]
    try:
        return json.loads(
            jobs.run(
                [os.path.join(asked.layout.tools, "bench-team"), *words],
                environment,
                limit_s=LIMIT_S,
            )
        )
    except jobs.JobFailed as failure:
        raise Trouble(f"--measure: {failure}") from failure


def reliable(times, doubts):
    """
    size -> ns less the time of a call of nothing, for reliable figures; and texts: why the others
    are not reliable.  times, doubts: from steady.measured.
    """
    nothing, why = times.get(NOTHING, 0), {}
    min_ns = max(nothing * steady.AGREE, nothing + steady.SLACK_NS) if nothing else 0
    if NOTHING in doubts:
        return {}, [
            f"calls of nothing, whose time is subtracted: {steady.range_text(doubts[NOTHING])}"
        ]
    for size, ns in times.items():
        if size != NOTHING and ns < min_ns:
            why[size] = (
                f"{ns / 1000:.3g} us, and a call of nothing, which is subtracted,"
                f" {nothing / 1000:.3g} us"
            )
    why.update(
        {
            size: (
                f"runs differ, {steady.range_text(some)}"
                if len(some) > 1
                else steady.range_text(some)
            )
            for size, some in doubts.items()
        }
    )
    for smaller, larger in steady.falls(
        {size: ns for size, ns in times.items() if size != NOTHING and size not in why}
    ):
        why.update(
            {smaller: f"more than {bytes_text(larger)}", larger: f"less than {bytes_text(smaller)}"}
        )
    return {
        size: ns - nothing for size, ns in times.items() if size != NOTHING and size not in why
    }, [f"{bytes_text(size)}: {words}" for size, words in sorted(why.items())]


class Measured:
    """
    ns: (name, size) -> ns of a call, where a figure counts; lines: ns of all line transfers
    measured with them; notes: which figures are not reliable.
    """

    def __init__(self, asked, calls):
        self.asked, self.ns, self.lines, self.notes, self.others = asked, {}, [], [], []
        others = steady.others()
        with Progress(len(asked.names)) as progress:
            for name in asked.names:
                progress.stage(f"measuring {name or 'the choice'}")
                sizes = [size for size in asked.sizes if calls[name, size]]
                if sizes:
                    self.measure(name, sizes)
                progress.step()
        self.notes += [transfers.moved_text(self.others)] if self.others else []
        self.notes += (
            [
                f"during the measurement {others}: measured times may be too long, or, where a call"
                " of nothing was slowed down, too short"
            ]
            if others
            else []
        )

    def launch(self, name, sizes):
        """[(size or NOTHING, figure)], without calls that huddle does not handle."""
        said = bench_team(
            self.asked,
            f"{self.asked.collective},{NOTHING}",
            sizes,
            FIGURE_MS,
            self.asked.environment(name),
        )
        figures = [figure for figure in said["figures"] if figure["refused"] == 0]
        self.lines += [
            ns
            for figure in figures
            for ns in (figure["line_before_ns"], figure["line_after_ns"])
            if ns >= 0
        ]
        return [
            (NOTHING if figure["collective"] == NOTHING else figure["bytes"], figure)
            for figure in figures
        ]

    def holds(self, figure):
        """Whether it is usable, and of the described machine."""
        described = transfers.described_hops(self.asked.machine)
        lines = [
            figure[when] for when in ("line_before_ns", "line_after_ns") if figure[when] > 0
        ]  # below: not measured
        far = [ns for ns in lines if not transfers.as_described(ns, described)]
        self.others += far[:1] if steady.usable(figure) else []
        return steady.usable(figure) and not far

    def measure(self, name, sizes):
        times, doubts = steady.measured(
            lambda: self.launch(name, sizes),
            lambda: None,
            steady.PATIENCE_S / len(self.asked.names),
            self.holds,
        )
        holds, why = reliable(times, doubts)
        self.ns.update({(name, size): ns for size, ns in holds.items()})
        self.notes += (
            [f"{name or 'huddle'}: measured, but not reliable: {'; '.join(why)}"] if why else []
        )


def deviation_text(ratio):
    return f"{100 * (ratio - 1):+.0f} %"


def show(asked, calls, measured, time_text):
    lines = asked.machine["lines"]
    near = ", ".join(
        f"{name} {ns:g}" for name, ns in lines.get("hop_ns", lines["transfer_ns"]).items()
    )
    seen = f"{min(measured.lines):.0f} to {max(measured.lines):.0f}" if measured.lines else "-"
    heading(
        f"Simulated and measured {asked.collective}, {asked.words()}; line transfer: simulated"
        f" {near} ns, measured {seen} ns"
    )
    ratios = {
        key: calls[key]["times"]["time_ns"] / ns
        for key, ns in measured.ns.items()
        if calls[key]["times"]["time_ns"] > 0
    }
    rows = [
        [
            bytes_text(size) if size else "",
            calls[name, size]["algorithm"],
            time_text(calls[name, size]["times"]["time_ns"]),
            *(
                [time_text(measured.ns[name, size]), deviation_text(ratios[name, size])]
                if (name, size) in ratios
                else ["-", "-"]
            ),
        ]
        for name in asked.names
        for size in asked.sizes
        if calls[name, size]
    ]
    table(["bytes", "algorithm", "simulated", "measured", "deviation"], rows, right=(0, 2, 3, 4))
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        print(
            f"  simulated / measured: geometric mean {mean:.2f}, {min(ratios.values()):.2f} to"
            f" {max(ratios.values()):.2f}"
        )
    if asked.options.skew:
        print(
            f"  ranks enter a call within {asked.options.skew:.0f} ns of each other, one reading of"
            " the clock; the time of a call of nothing is subtracted"
        )
    for note in measured.notes:
        print(f"  {note}")
