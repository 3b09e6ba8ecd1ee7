# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of setting up a team: the first team of a process, and later teams.

    python3 bench/later_teams.py [--build build | --build NAME=FOLDER...] [--mpi openmpi,mpich]
    [--ranks 2,4,8] [--launches 9] [--busy N] [--csv FILE]

The launches without huddle and with each named build take turns.  "first" is the process's first
collective, an MPI_Allreduce of 8 bytes after the ranks have synchronised by messages.  For later
teams, the figures of a launch are the median time of MPI_Comm_dup, MPI_Allreduce and MPI_Comm_free
together, in us, and the tenth percentile, which is more reliable on a machine with other load.
"allgathers": the time of two calls of the MPI's own MPI_Allgather instead, with the bytes that a
set-up exchanges.  --busy: number of other processes that compute meanwhile.
"""

import argparse
import contextlib
import csv
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import startup

ALLGATHERS = "allgathers"


def measure(build, command):
    """Returns {figure: us} of a launch."""
    lines = startup.run(startup.with_huddle(build, command)).splitlines()
    words = dict(line.split(maxsplit=1) for line in lines if line.startswith(("first ", "later ")))
    median, tenth = map(float, words["later"].split())
    return {"first": float(words["first"].split()[0]), "median": median, "lowest tenth": tenth}


def rows(mpi, ranks, program, builds, launches):
    found = {name: [] for name in [*builds, ALLGATHERS]}
    for _ in range(launches):
        for name, build in [*builds.items(), (ALLGATHERS, None)]:
            words = [ALLGATHERS] if name == ALLGATHERS else []
            found[name].append(measure(build, [*startup.LAUNCHERS[mpi], ranks, program, *words]))
    for name, values in found.items():
        for figure in values[0]:
            low, middle, high = statistics.quantiles([v[figure] for v in values], n=4)
            shown = (f"{v:.1f}" for v in (middle, low, high))
            yield [mpi, ranks, name, figure, *shown, launches]


@contextlib.contextmanager
def busy(count):
    """Runs `count` processes that compute, until the end of the block."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def show(row):
    print("  ".join(f"{cell!s:12}" for cell in row).rstrip(), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", action="append", metavar="[NAME=]FOLDER")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--ranks", default="2,4,8")
    parser.add_argument("--launches", default=9, type=int)
    parser.add_argument("--busy", default=0, type=int)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    if options.launches < 2:
        parser.error("--launches: at least 2")
    return options


def main():
    options = parse()
    builds = {"without": None, **dict(startup.build_of(b) for b in options.build or ["build"])}
    table = [["mpi", "ranks", "build", "figure", "median", "quartile_1", "quartile_3", "launches"]]
    show(table[0])
    with tempfile.TemporaryDirectory() as folder, busy(options.busy):
        for mpi in options.mpi.split(","):
            program = startup.compile_with(f"mpicc.{mpi}", "later_teams", folder)
            for ranks in options.ranks.split(","):
                for row in rows(mpi, ranks, program, builds, options.launches):
                    show(row)
                    table.append(row)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    sys.exit(main())
