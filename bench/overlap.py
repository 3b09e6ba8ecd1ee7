# SPDX-License-Identifier: BSD-3-Clause
"""Measures how much of a nonblocking collective hides behind computation, with each MPI.

    python3 bench/overlap.py [--build build] [--ranks 2,4] [--launches 3] [--csv FILE]

Ranks start a collective, compute for 200 us in pieces of 10 us with an MPI_Test after each, and
wait.  hidden: the share of the collective's own time that this saves, 1 - (both - computation) /
collective, at least 0.  Launches of the MPIs take turns; figures are medians of launches.  The MPIs
are those that `huddle bench` finds.
"""

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import fresh
from startup import build_of, compile_with, with_huddle, write_table

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests" / "mpi"))
import peers

MPIS = ("ompi4", "ompi5", "mpich4", "mpich5", "intel")
# MPIs whose requests huddle handles with HUDDLE_NONBLOCKING=auto.
HANDLED = ("ompi4", "ompi5", "mpich5")
LIMIT_S = 120


def launch(folder, mpi, ranks, program, build):
    command, env = peers.launcher(folder, mpi, ranks, True, ())
    output = fresh.run(with_huddle(build, [*command, program]), LIMIT_S, **env)
    for line in output.splitlines():
        if line.startswith("overlap "):
            _, collective, size, *times = line.split()
            yield (collective, int(size)), [float(t) for t in times]


def measure(options, build, programs):
    found = defaultdict(list)
    for _ in range(options.launches):
        for ranks in options.ranks:
            for mpi in MPIS:
                for with_it in (None, build) if mpi in HANDLED else (None,):
                    name = f"huddle on {mpi}" if with_it else mpi
                    program = programs[peers.abi(mpi)]
                    for what, times in launch(build / "peers", mpi, ranks, program, with_it):
                        found[(ranks, *what, name)].append(times)
    return found


def rows(found):
    for (ranks, collective, size, name), launches in sorted(found.items()):
        alone, computing, both = (statistics.median(column) for column in zip(*launches))
        hidden = max(0, 1 - (both - computing) / alone)
        yield [ranks, collective, size, name, f"{alone:.2f}", f"{both:.2f}", f"{hidden:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--ranks", default=[2, 4], type=lambda t: [int(n) for n in t.split(",")])
    parser.add_argument("--launches", default=3, type=int)
    parser.add_argument("--csv", metavar="FILE")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            abi: compile_with(f"mpicc.{abi}", "overlap", folder) for abi in ("openmpi", "mpich")
        }
        table = list(rows(measure(options, build_of(options.build)[1], programs)))
    about = "python3 bench/overlap.py: shares of nonblocking calls that hide"
    write_table(
        options.csv, about, "ranks,collective,bytes,mpi,alone_us,both_us,hidden".split(","), table
    )


if __name__ == "__main__":
    main()
