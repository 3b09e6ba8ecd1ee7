# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that huddle adds to a job's start: `huddle run`, its library, and each rank.

    python3 bench/startup.py [--build build | --build NAME=FOLDER...] [--mpi openmpi,mpich]
    [--ranks 4] [--launches 20] [--csv FILE]

The launches with and without huddle take turns, with each named build.  A line has the median
difference to the launch without huddle of the same turn, and the quartiles of the differences.  cpu
is processor time, wall elapsed time, both in ms; private is memory that only one process has
mapped, in KB.  wall is of a job's slowest rank, the other figures are means over the ranks.
Processor time is more reliable on a machine with other load.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fresh

LIMIT_S = 60
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "-np"],
    "mpich": ["mpirun.mpich", "-np"],
}


def with_huddle(build, command):
    return [str(build / "bin/huddle"), "run", "--", *command] if build else command


def run(command):
    return fresh.run(command, LIMIT_S)


def launch(build):
    """Measures a command that does nothing."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(with_huddle(build, ["true"]))
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": 1e3 * cpu, "wall": 1e3 * wall}


def job(build, command):
    """Measures the ranks of a program."""
    lines = [line.split() for line in run(with_huddle(build, command)).splitlines()]
    ranks = [[float(word) for word in line[1:]] for line in lines if line[:1] == ["startup"]]
    others = [r for r in ranks if r[0] != 0]
    return {
        "cpu": statistics.mean(r[1] for r in others),
        "cpu of rank 0": next(r[1] for r in ranks if r[0] == 0),
        "wall": max(r[2] for r in ranks),
        "private": statistics.mean(r[3] for r in ranks),
    }


def context(build, program):
    """Measures huddle's part alone, which is nothing without huddle."""
    if not build:
        return dict.fromkeys(("cpu", "wall", "cpu of rank 0", "wall of rank 0"), 0)
    library = next(build.glob("lib*/libhuddle.so"))
    other, zero = (run([program, library, rank, "4"]).split()[2:4] for rank in "10")
    return {
        "cpu": float(other[0]),
        "wall": float(other[1]),
        "cpu of rank 0": float(zero[0]),
        "wall of rank 0": float(zero[1]),
    }


def compile_with(compiler, name, folder):
    here, program = Path(__file__).resolve().parent, os.path.join(folder, f"{name}-{compiler}")
    subprocess.run(
        [compiler, "-O2", here / f"{name}.c", f"-I{here.parent}/include", "-o", program, "-ldl"],
        check=True,
    )
    return program


def write_table(path, about, columns, rows):
    """Writes a table to standard output, and to a file if there is a path."""
    with open(path or os.devnull, "w", encoding="utf-8", newline="") as file:
        for out in (file, sys.stdout):
            out.write(f"# {about}\n")
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(rows)


def differences(measure, builds, launches):
    """Returns {(build, figure): [difference to the launch without huddle of the same turn]}."""
    found = {}
    for _ in range(launches):
        without = measure(None)
        for name, build in builds.items():
            for figure, value in measure(build).items():
                found.setdefault((name, figure), []).append(value - without[figure])
    return found


def rows(what, found):
    for (build, figure), values in found.items():
        low, middle, high = statistics.quantiles(values, n=4)
        yield [what, build, figure, *(f"{v:.2f}" for v in (middle, low, high)), len(values)]


def build_of(word):
    name, _, folder = word.rpartition("=")
    return name or "huddle", Path(folder).resolve()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", action="append", metavar="[NAME=]FOLDER")
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--ranks", default=4, type=int)
    parser.add_argument("--launches", default=20, type=int)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    if options.launches < 2:
        parser.error("--launches: at least 2")
    unknown = set(options.mpi.split(",")) - set(LAUNCHERS)
    if unknown:
        parser.error(f"--mpi: none of {', '.join(LAUNCHERS)}: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    builds = dict(build_of(word) for word in options.build or ["build"])
    heads = ["what", "build", "figure", "median", "quartile_1", "quartile_3", "launches"]
    table = list(rows("huddle run", differences(launch, builds, options.launches)))
    with tempfile.TemporaryDirectory() as folder:
        program = compile_with("cc", "startup_context", folder)
        found = differences(lambda build: context(build, program), builds, options.launches)
        table += rows("library and context", found)
        for mpi in options.mpi.split(","):
            program = compile_with(f"mpicc.{mpi}", "startup", folder)
            command = [*LAUNCHERS[mpi], str(options.ranks), program]
            found = differences(lambda build, c=command: job(build, c), builds, options.launches)
            table += rows(f"{mpi}, {options.ranks} ranks", found)
    for row in [heads, *table]:
        print("  ".join(f"{cell!s:18}" for cell in row).rstrip())
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([heads, *table])


if __name__ == "__main__":
    sys.exit(main())
