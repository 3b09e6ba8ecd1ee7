# SPDX-License-Identifier: BSD-3-Clause
"""Measures the gain of a whole program: its run time, and its calls, with more and more handled.

    python3 bench/program.py [--build build] [--ranks 2,4,8,16,32] [--launches 9] [--csv FILE]

The program is PT-Scotch's dgord, which orders the unknowns of a sparse matrix (Debian's packages
scotch and ptscotch); its input is a mesh of 200 x 200 points.  It runs without huddle, with huddle
except for gathers, scatters and scans, and with all collectives handled.  The three variants take
turns.  Times are wall seconds of the job: median and minimum.  For the last variant, each
collective has its calls, its bytes and its seconds, summed over ranks.  Ranks are not bound,
because each has a thread for each core.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import fresh
from startup import build_of, write_table

LIMIT_S = 120
PIECES = "ALLGATHER ALLGATHERV GATHER GATHERV SCATTER SCATTERV SCAN EXSCAN".split()
VARIANTS = {
    "without huddle": {"HUDDLE": "off"},
    "without gathers, scatters and scans": {f"HUDDLE_{name}": "mpi" for name in PIECES},
    "with huddle": {},
}


def launch(build, ranks, mesh, settings, stats):
    """Runs the job.  Returns its seconds."""
    mpirun = "mpirun.openmpi --oversubscribe --bind-to none -np".split()
    mpirun += [str(ranks), "dgord", mesh, "/dev/null"]
    with fresh.environment(**settings) as env:
        begin = time.perf_counter()
        subprocess.run(
            [str(build / "bin/huddle"), "run", f"--stats={stats}", "--", *mpirun],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=True,
        )
        return time.perf_counter() - begin


def measure(options, build, folder):
    mesh, stats = folder / "mesh.grf", folder / "stats.json"
    subprocess.run(["gmk_m2", "200", "200", mesh], check=True)
    for ranks in options.ranks:
        seconds = defaultdict(list)
        for turn in range(options.launches):
            for variant, settings in VARIANTS.items():
                print(
                    f"{ranks} ranks, {turn + 1} of {options.launches}: {variant}", file=sys.stderr
                )
                seconds[variant].append(launch(build, ranks, mesh, settings, stats))
        for variant, of in seconds.items():
            median, least = statistics.median(of), min(of)
            yield [ranks, variant, "the job", "", "", "", f"{median:.3g}", f"{least:.3g}"]
        counts = json.loads(stats.read_text())["collectives"]  # the last variant's
        for name, of in counts.items():
            if of["calls"]:
                numbers = of["calls"], of["handled"], of["bytes"], f"{of['seconds']:.3g}"
                yield [ranks, variant, name, *numbers, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument(
        "--ranks", default=[2, 4, 8, 16, 32], type=lambda t: [int(n) for n in t.split(",")]
    )
    parser.add_argument("--launches", default=9, type=int)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = list(measure(options, build_of(options.build)[1], Path(folder)))
    about = "python3 bench/program.py: PT-Scotch orders a mesh of 200 x 200 points"
    write_table(
        options.csv, about, "ranks,variant,what,calls,handled,bytes,seconds,least".split(","), table
    )


if __name__ == "__main__":
    main()
