# SPDX-License-Identifier: BSD-3-Clause
"""What stands beside predicted times: huddle's own choice, simulated on the same machine, and measured where that is this one."""
import json

from . import jobs, simulated
from .layout import Trouble

REPETITIONS, LIMIT_S = 3, 300


def simulate(p, description):
    """ns of each size; None where huddle leaves the call to the MPI."""
    return [simulated.chosen_ns(p.layout, description, p.options.collective, size, p.ranks, p.options.map, repetitions=REPETITIONS, warmup=1) for size in p.sizes]


def measure(p):
    """ns of each size: single shots on a team of processes, each on a core of its own if there are as many."""
    bind = "core" if p.ranks <= jobs.cores() else "none"
    sizes = ",".join(str(size) for size in p.sizes)
    try:
        output = jobs.run([p.layout.program("bench-team"), "--ranks", str(p.ranks), "--bind", bind, "--coll", p.options.collective, "--bytes", sizes], limit_s=LIMIT_S)
    except jobs.JobFailed as failure:
        raise Trouble(f"model --measure: {failure}") from failure
    return [figure["median_ns"] if figure["shots"] and not figure["refused"] else None for figure in json.loads(output)["figures"]]
