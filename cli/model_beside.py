# SPDX-License-Identifier: BSD-3-Clause
"""What stands beside predicted times: huddle's own choice, simulated on the same machine, and measured where that is this one."""
import json

from . import jobs, simulated, steady
from .layout import Trouble
from .progress import Progress

LIMIT_S = 300


def simulate(p, description):
    """ns of each size; None where huddle leaves the call to the MPI."""
    found = []
    with Progress(len(p.sizes), "simulating") as progress:
        for size in p.sizes:
            found.append(simulated.chosen_ns(p.layout, description, p.options.collective, size, p.ranks, p.options.map))
            progress.step()
    return found


def launch(p, lines):
    """[(size, figure)] of a team of processes, single shots, each process on a core of its own if there are as many; what huddle leaves to an MPI is not there."""
    bind = "core" if p.ranks <= jobs.cores() else "none"
    sizes = ",".join(str(size) for size in p.sizes)
    try:
        output = jobs.run([p.layout.program("bench-team"), "--ranks", str(p.ranks), "--bind", bind, "--coll", p.options.collective, "--bytes", sizes], limit_s=LIMIT_S)
    except jobs.JobFailed as failure:
        raise Trouble(f"model --measure: {failure}") from failure
    figures = [figure for figure in json.loads(output)["figures"] if not figure["refused"]]
    lines += [ns for figure in figures for ns in (figure["line_before_ns"], figure["line_after_ns"]) if ns >= 0]
    return [(figure["bytes"], figure) for figure in figures]


def measure(p):
    """ns of each size; None where huddle leaves the call to the MPI, or nothing could be measured.  What is not to be believed is noted."""
    lines, others = [], steady.others()
    with Progress(steady.MOST_RUNS, f"measuring, until two runs agree, {steady.MOST_RUNS} at most: run") as progress:
        times, doubts = steady.measured(lambda: launch(p, lines), progress.step)
    p.notes += [f"line transfer while it was measured: {min(lines):.0f} to {max(lines):.0f} ns"] if lines else []
    p.notes += steady.doubts_text(times, doubts, others)
    return [times.get(size) for size in p.sizes]
