# SPDX-License-Identifier: BSD-3-Clause
"""Beside what is simulated of this machine, what the same calls take on it: teams without MPI, single calls from a common start or loops, as huddle bench measures them.

What the clock and the common start take, found by calls of nothing, is taken off."""
import json
import math
import os

from . import jobs, machines
from .layout import Trouble
from .text import bytes_text, heading, table

LIMIT_S, FIGURE_MS, NOTHING = 600, 60, "nothing"


def check(options, asked):
    if options.machine != machines.THIS:
        raise Trouble(f"--measure: {options.machine} is not at hand (accepted: without --machine)", 2)
    if asked.ranks > jobs.cores():
        raise Trouble(f"--measure: {asked.ranks} ranks on {jobs.cores()} cores (accepted: --ranks of 2 to {jobs.cores()})", 2)
    if options.map != "core":
        raise Trouble(f"--measure: --map {options.map} (accepted: core)", 2)


def words(asked, sizes):
    o = asked.options
    loop = ["--loop", str(o.repetitions)] if o.method == "loop" else []
    return ["--ranks", str(asked.ranks), "--bind", "core", "--coll", f"{asked.collective},{NOTHING}", "--bytes", ",".join(map(str, sizes)), "--root", str(o.root), "--figure-ms", str(FIGURE_MS), *loop]


def measure(asked, name, sizes):
    """{size: (ns of a call, ns of a line transfer beside it)}; what huddle leaves to an MPI is not there."""
    program = os.path.join(asked.layout.tools, "bench-team")
    try:
        said = json.loads(jobs.run([program, *words(asked, sizes)], {"HUDDLE_TUNING": "off", **asked.environment(name)}, limit_s=LIMIT_S))
    except jobs.JobFailed as failure:
        raise Trouble(f"--measure: {failure}") from failure
    nothing = next(figure["median_ns"] for figure in said["figures"] if figure["collective"] == NOTHING)
    return {figure["bytes"]: (max(1, figure["median_ns"] - nothing), (figure["line_before_ns"] + figure["line_after_ns"]) / 2)
            for figure in said["figures"] if figure["collective"] != NOTHING and figure["refused"] == 0}


def measure_all(asked, calls):
    """(name, size) -> (ns, line ns) of those that the simulator took, too."""
    found = {}
    for name in asked.names:
        sizes = [size for size in asked.sizes if calls[name, size]]
        if sizes:
            found.update({(name, size): figure for size, figure in measure(asked, name, sizes).items()})
    return found


def deviation_text(ratio):
    return f"{100 * (ratio - 1):+.0f} %"


def show(asked, calls, measured, time_text):
    lines = sorted(line for _, line in measured.values())
    transfer = asked.machine["lines"]["transfer_ns"]
    near = ", ".join(f"{name} {ns:g}" for name, ns in transfer.items())
    heading(f"Simulated and measured {asked.collective}, {asked.words()}; line transfer: simulated {near} ns, measured {lines[0]:.0f} to {lines[-1]:.0f} ns" if lines else "Nothing was measured.")
    ratios = {key: calls[key]["times"]["time_ns"] / measured[key][0] for key in measured}
    rows = [[bytes_text(size) if size else "", calls[name, size]["algorithm"], time_text(calls[name, size]["times"]["time_ns"]), time_text(measured[name, size][0]), deviation_text(ratios[name, size])]
            for name in asked.names for size in asked.sizes if (name, size) in measured]
    table(["bytes", "algorithm", "simulated", "measured", "deviation"], rows, right=(0, 2, 3, 4))
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        print(f"  simulated / measured: geometric mean {mean:.2f}, {min(ratios.values()):.2f} to {max(ratios.values()):.2f}")
