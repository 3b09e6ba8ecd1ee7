# SPDX-License-Identifier: BSD-3-Clause
"""Beside what is simulated of this machine, what the same calls take on it: teams without MPI, single calls from a common start or loops, as huddle bench measures them.

What the clock and the common start take, found by calls of nothing, is taken off."""
import json
import math
import os

from . import jobs, machines, steady
from .layout import Trouble
from .progress import Progress
from .text import bytes_text, heading, table

LIMIT_S, FIGURE_MS, NOTHING = 600, 60, "nothing"


def check(options, asked):
    if options.machine != machines.THIS:
        raise Trouble(f"--measure: {options.machine} is not at hand (accepted: without --machine; then this machine is what {machines.measured_file()} says, where a file of huddle tune --machine belongs)", 2)
    if asked.ranks > jobs.cores():
        raise Trouble(f"--measure: {asked.ranks} ranks on {jobs.cores()} cores (accepted: --ranks of 2 to {jobs.cores()})", 2)
    if options.map != "core":
        raise Trouble(f"--measure: --map {options.map} (accepted: core)", 2)


def words(asked, sizes):
    o = asked.options
    loop = ["--loop", str(o.repetitions)] if o.method == "loop" else []
    return ["--ranks", str(asked.ranks), "--bind", "core", "--coll", f"{asked.collective},{NOTHING}", "--bytes", ",".join(map(str, sizes)), "--root", str(o.root or 0), "--figure-ms", str(FIGURE_MS), *loop]


def believed(times, doubts):
    """size -> ns less what a call of nothing takes, where that can be believed; and in words, why the rest cannot.  times, doubts: as steady.measured gives them."""
    nothing, why = times.get(NOTHING, 0), {}
    least = max(nothing * steady.AGREE, nothing + steady.SLACK_NS) if nothing else 0
    if NOTHING in doubts:
        return {}, [f"calls of nothing, which are taken off, took {steady.range_text(doubts[NOTHING])}"]
    for size, ns in times.items():
        if size != NOTHING and ns < least:
            why[size] = f"{ns / 1000:.3g} us, and a call of nothing, which is taken off, {nothing / 1000:.3g} us"
    why.update({size: f"runs differ, {steady.range_text(some)}" if len(some) > 1 else steady.range_text(some) for size, some in doubts.items()})
    for smaller, larger in steady.falls({size: ns for size, ns in times.items() if size != NOTHING and size not in why}):
        why.update({smaller: f"more than {bytes_text(larger)}", larger: f"less than {bytes_text(smaller)}"})
    return {size: ns - nothing for size, ns in times.items() if size != NOTHING and size not in why}, [f"{bytes_text(size)}: {words}" for size, words in sorted(why.items())]


class Measured:
    """ns: (name, size) -> of a call, where a figure holds; lines: ns of all line transfers beside them; notes: what is not to be believed."""

    def __init__(self, asked, calls):
        self.asked, self.ns, self.lines, self.notes = asked, {}, [], []
        others = steady.others()
        with Progress(len(asked.names)) as progress:
            for name in asked.names:
                progress.stage(f"measuring {name or 'the choice'}")
                sizes = [size for size in asked.sizes if calls[name, size]]
                if sizes:
                    self.measure(name, sizes)
                progress.step()
        self.notes += [f"while it was measured {others}: what is measured may be too long"] if others else []

    def launch(self, name, sizes):
        """[(size or NOTHING, figure)]; what huddle leaves to an MPI is not there."""
        program = os.path.join(self.asked.layout.tools, "bench-team")
        try:
            said = json.loads(jobs.run([program, *words(self.asked, sizes)], {"HUDDLE_TUNING": "off", **self.asked.environment(name)}, limit_s=LIMIT_S))
        except jobs.JobFailed as failure:
            raise Trouble(f"--measure: {failure}") from failure
        figures = [figure for figure in said["figures"] if figure["refused"] == 0]
        self.lines += [ns for figure in figures for ns in (figure["line_before_ns"], figure["line_after_ns"]) if ns >= 0]
        return [(NOTHING if figure["collective"] == NOTHING else figure["bytes"], figure) for figure in figures]

    def measure(self, name, sizes):
        times, doubts = steady.measured(lambda: self.launch(name, sizes), lambda: None, steady.PATIENCE_S / len(self.asked.names))
        holds, why = believed(times, doubts)
        self.ns.update({(name, size): ns for size, ns in holds.items()})
        self.notes += [f"{name or 'huddle'}: measured, but not to be believed: {'; '.join(why)}"] if why else []


def deviation_text(ratio):
    return f"{100 * (ratio - 1):+.0f} %"


def show(asked, calls, measured, time_text):
    near = ", ".join(f"{name} {ns:g}" for name, ns in asked.machine["lines"]["transfer_ns"].items())
    seen = f"{min(measured.lines):.0f} to {max(measured.lines):.0f}" if measured.lines else "-"
    heading(f"Simulated and measured {asked.collective}, {asked.words()}; line transfer: simulated {near} ns, measured {seen} ns")
    ratios = {key: calls[key]["times"]["time_ns"] / ns for key, ns in measured.ns.items()}
    rows = [[bytes_text(size) if size else "", calls[name, size]["algorithm"], time_text(calls[name, size]["times"]["time_ns"]),
             *([time_text(measured.ns[name, size]), deviation_text(ratios[name, size])] if (name, size) in ratios else ["-", "-"])]
            for name in asked.names for size in asked.sizes if calls[name, size]]
    table(["bytes", "algorithm", "simulated", "measured", "deviation"], rows, right=(0, 2, 3, 4))
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        print(f"  simulated / measured: geometric mean {mean:.2f}, {min(ratios.values()):.2f} to {max(ratios.values()):.2f}")
    for note in measured.notes:
        print(f"  {note}")
