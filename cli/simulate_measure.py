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
    return ["--ranks", str(asked.ranks), "--bind", "core", "--coll", f"{asked.collective},{NOTHING}", "--bytes", ",".join(map(str, sizes)), "--root", str(o.root), "--figure-ms", str(FIGURE_MS), *loop]


def without_nothing(times, doubts):
    """Less what a call of nothing takes; what takes no longer than that has no figure."""
    nothing = times.get(NOTHING, 0)
    holds = {size: ns - nothing for size, ns in times.items() if size != NOTHING and ns > nothing}
    lost = {size: [] for size in times if size != NOTHING and size not in holds}
    return holds, {**{size: values for size, values in doubts.items() if size != NOTHING}, **lost}


class Measured:
    """ns: (name, size) -> of a call, where a figure holds; lines: ns of all line transfers beside them; notes: what is not to be believed."""

    def __init__(self, asked, calls):
        self.asked, self.ns, self.lines, self.notes = asked, {}, [], []
        others = steady.others()
        with Progress(len(asked.names) * steady.MOST_RUNS, "measuring, at most so often") as progress:
            for name in asked.names:
                sizes = [size for size in asked.sizes if calls[name, size]]
                if sizes:
                    self.measure(name, sizes, progress)
        self.notes += steady.doubts_text({}, {}, others)

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

    def measure(self, name, sizes, progress):
        times, doubts = steady.measured(lambda: self.launch(name, sizes), progress.step, steady.PATIENCE_S / len(self.asked.names))
        holds, doubts = without_nothing(times, doubts)
        self.ns.update({(name, size): ns for size, ns in holds.items()})
        self.notes += [f"{name or 'huddle'}: {note}" for note in steady.doubts_text(holds, doubts)]


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
