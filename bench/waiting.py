# SPDX-License-Identifier: BSD-3-Clause
"""Measures each way of waiting (HUDDLE_WAIT): barriers of forked processes, without MPI.

    python3 bench/waiting.py [--build build] [--launches 5] [--ways poll,yield,sleep,adaptive]
    [--only TEXT]

Each row is a situation: a number of ranks, back-to-back or single calls, with or without a late
rank, and with a number of neighbours, which are other processes that spin.  The ways of waiting are
launched in turn, under the same conditions.  A figure is the median of the launches, with minimum
and maximum, in us.  With a late rank, there is also the share of a processor that a rank uses in
the call.  line: the transfer of a cache line between the processors of two ranks.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

from fresh import UNLEARNED

Situation = namedtuple("Situation", "ranks bind neighbours late_us loop")
SITUATIONS = [
    *(Situation(2, "core", 0, 0, loop) for loop in (100, 0)),
    *(Situation(2, "core", neighbours, 0, 100) for neighbours in (1, 2)),
    *(Situation(2, "core", 0, late, 0) for late in (20, 200, 10000)),
    Situation(2, "core", 2, 200, 0),
    *(Situation(8, "none", 0, 0, loop) for loop in (100, 0)),
    *(Situation(8, "none", neighbours, 0, 100) for neighbours in (1, 2)),
    *(Situation(8, "none", 0, late, 0) for late in (200, 10000)),
    *(Situation(32, "none", 0, 0, loop) for loop in (100, 0)),
    Situation(32, "none", 0, 10000, 0),
]
LIMIT_S = 60  # poll may not finish if oversubscribed


def name_of(s):
    neighbours = f", {s.neighbours} neighbour{'s' * (s.neighbours > 1)}" if s.neighbours else ""
    what = f"one {s.late_us} us late" if s.late_us else "back to back" if s.loop else "single shot"
    return f"{s.ranks} {'bound' if s.bind == 'core' else 'unbound'}{neighbours}, {what}"


def launch(program, s, way):
    """Returns the figure of a launch, or None if it did not finish."""
    command = [
        program,
        "--ranks",
        str(s.ranks),
        "--bind",
        s.bind,
        "--coll",
        "barrier",
        "--figure-ms",
        "100",
        "--min",
        "5",
    ]
    command += ["--late-us", str(s.late_us)] if s.late_us else []
    command += ["--loop", str(s.loop)] if s.loop else []
    spinning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(s.neighbours)
    ]
    try:
        out = subprocess.run(
            command,
            env={**os.environ, **UNLEARNED, "HUDDLE_WAIT": way},
            stdout=subprocess.PIPE,
            timeout=LIMIT_S,
            check=True,
        ).stdout
    except subprocess.TimeoutExpired:
        return None
    finally:
        for process in spinning:
            process.kill()
            process.wait()
    return json.loads(out)["figures"][0]


def cell(s, figures):
    us = [f["median_ns"] / 1000 for f in figures if f and f["shots"]]
    if not us:
        return "-"
    burnt = (
        statistics.median(f["cpu_ns"] for f in figures if f and f["shots"])
        / (s.late_us * 1000 + min(us) * 1000)
        if s.late_us
        else 0
    )
    return f"{statistics.median(us):.4g} [{min(us):.3g}-{max(us):.3g}]" + (
        f" {burnt:.0%}" if s.late_us else ""
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", default="build", type=Path)
    parser.add_argument("--launches", default=5, type=int)
    parser.add_argument("--ways", default="poll,yield,sleep,adaptive")
    parser.add_argument("--only", default="", help="situations whose name contains this")
    options = parser.parse_args()
    program, ways = options.build / "libexec/huddle/bench-team", options.ways.split(",")
    print(f"{'us':40}" + "".join(f"{way:32}" for way in ways) + "line")
    for s in (s for s in SITUATIONS if options.only in name_of(s)):
        figures = {way: [] for way in ways}
        for _ in range(options.launches):
            for way in ways:
                figures[way].append(launch(program, s, way))
        lines = [
            ns
            for of_way in figures.values()
            for f in of_way
            if f
            for ns in (f["line_before_ns"], f["line_after_ns"])
            if ns >= 0
        ]
        line = f"{statistics.median(lines):.0f} ns" if lines else "-"
        print(
            f"{name_of(s):40}" + "".join(f"{cell(s, figures[way]):32}" for way in ways) + line,
            flush=True,
        )


if __name__ == "__main__":
    main()
