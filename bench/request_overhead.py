# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that a request costs beyond a blocking call, on a team without MPI.

    python3 bench/request_overhead.py [--build build] [--ranks 2,4] [--launches 5] [--csv FILE]

bench-team makes the calls in three ways: blocking, nonblocking (started, and waited for at once),
and persistent (prepared once, then started and waited for).  Launches take turns.  Figures are
medians of the launches with the same class of line transfer (near: within one cache).
"""

import argparse
import json
import os
import statistics
import subprocess
from collections import defaultdict

from fresh import UNLEARNED
from startup import write_table

WAYS = "blocking", "nonblocking", "persistent"
COLLECTIVES = "barrier,bcast,allreduce,alltoall,allgather"
SIZES = "8,1024,4096,16384,65536,1048576"
NEAR_NS = 110


def launch(build, ranks, way):
    words = ["--ranks", ranks, "--way", way, "--coll", COLLECTIVES, "--bytes", SIZES]
    output = subprocess.run(
        [f"{build}/libexec/huddle/bench-team", *words, "--figure-ms", "20"],
        env={**os.environ, **UNLEARNED},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=120,
        check=True,
        text=True,
    ).stdout
    for figure in json.loads(output)["figures"]:
        near = "near" if figure["line_before_ns"] < NEAR_NS else "far"
        yield (ranks, near, figure["collective"], figure["bytes"]), figure["median_ns"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--launches", default=5, type=int)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    found = defaultdict(lambda: defaultdict(list))
    for _ in range(options.launches):
        for ranks in options.ranks.split(","):
            for way in WAYS:
                for what, ns in launch(options.build, ranks, way):
                    found[what][way].append(ns)
    table = [
        [*what, *(f"{statistics.median(of[way]):.0f}" for way in WAYS)]
        for what, of in sorted(found.items())
        if len(of) == len(WAYS)
    ]
    about = "python3 bench/request_overhead.py: bound ranks, single calls, slowest rank, ns"
    write_table(options.csv, about, ["ranks", "class", "collective", "bytes", *WAYS], table)


if __name__ == "__main__":
    main()
