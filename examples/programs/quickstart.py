# SPDX-License-Identifier: BSD-3-Clause
"""
The program that ./quickstart runs after the build: three programs and a measurement, each without
and with huddle.

    quickstart.py BUILD [--brief]

The exit status is 1 if a program's own checks fail, if huddle handled no call, or if bytes were
wrong.  It never depends on a time.
"""

import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(os.path.dirname(HERE))]

import hpcc
import lammps
from jobs import JobFailed, Jobs, handled, leftovers

from cli.common.text import heading

# Sizes, which --brief reduces.
FULL = {
    "problem": 1500,
    "rounds": 60,
    "steps": 500,
    "bench": ["--bytes", "8:256K:8,1M,4M", "--launches", "7", "--figure-ms", "60"],
}
BRIEF = {
    "problem": 600,
    "rounds": 30,
    "steps": 100,
    "bench": ["--bytes", "8,1K,64K,1M,4M", "--launches", "2", "--figure-ms", "25"],
}


def count_handled(statistics, who, must):
    """
    Returns a line with the numbers of handled calls.  Raises JobFailed if huddle handled no call of
    a collective that the program must have called.
    """
    if not statistics:
        raise JobFailed(f"{who}: huddle was not in the program: it wrote no statistics")
    counts = {name: handled(statistics, name) for name in statistics.get("collectives", {})}
    missing = [name for name in must if not counts.get(name, (0, 0))[0]]
    if missing:
        raise JobFailed(
            f"{who}: huddle handled no call of {', '.join(missing)}:"
            f" {statistics.get('collectives')}"
        )
    return ", ".join(f"{mine} of {calls} {name}" for name, (mine, calls) in counts.items() if calls)


def show_hpcc(jobs, size):
    heading("1. HPC Challenge (unmodified), 2 ranks, Open MPI")
    for huddle in (False, True):
        passed, statistics = hpcc.run(jobs, huddle, size["problem"])
        print(
            f"   {'with huddle' if huddle else 'as it is   '}  all of its {passed} checks passed",
            flush=True,
        )
    print(
        "   through huddle, over the ranks:"
        f" {count_handled(statistics, 'HPC Challenge', ['barrier', 'bcast', 'allreduce'])}"
    )


def show_mpi4py(jobs, size):
    heading("2. k-means in Python (mpi4py), 2 ranks, MPICH")
    program = [
        os.path.join(jobs.venv, "bin", "python"),
        os.path.join(HERE, "kmeans.py"),
        str(size["rounds"]),
    ]
    for huddle in (False, True):
        output, statistics = jobs.run([*jobs.on_mpich_wheel(2), *program], huddle)
        print(f"   {'with huddle' if huddle else 'as it is   '}  {output.strip()}", flush=True)
    print(
        "   through huddle, over the ranks:"
        f" {count_handled(statistics, 'k-means', ['barrier', 'bcast', 'allreduce'])}"
    )


def show_lammps(jobs, size):
    heading("3. LAMMPS (unmodified), its Lennard-Jones benchmark, 2 ranks, Open MPI")
    plain, _ = lammps.run(jobs, False, size["steps"])
    print(f"   as it is     {plain[-1].strip()}", flush=True)
    lines, statistics = lammps.run(jobs, True, size["steps"])
    if lines != plain:
        raise JobFailed(
            "LAMMPS: other thermodynamics with huddle: "
            + next(
                f"{mine!r}, without it {its!r}" for mine, its in zip(lines, plain) if mine != its
            )
        )
    print(f"   with huddle  the same {len(lines) - 1} lines of thermodynamics, to the last digit")
    print(
        "   through huddle, over the ranks:"
        f" {count_handled(statistics, 'LAMMPS', ['bcast', 'allreduce'])}"
    )


def show_measurement(jobs, size):
    heading("4. Barrier, broadcast and reduction to all, Open MPI as it is / with huddle, in turn")
    print(
        "   One call from a common start, the slowest rank's time, fresh and verified bytes; median"
        " of the launches' medians.",
        flush=True,
    )
    picture = os.path.join(jobs.build, "quickstart.png")
    command = [
        "bench",
        "barrier",
        "bcast",
        "allreduce",
        "--ranks",
        "2,8",
        "--mpi",
        "ompi4",
        *size["bench"],
        "--png",
        picture,
    ]
    if subprocess.run([jobs.huddle, *command], check=False).returncode != 0:
        raise JobFailed(f"huddle {' '.join(command)}: see above")


def main():
    parser = argparse.ArgumentParser(
        description="Three programs and a measurement, each without and with huddle."
    )
    parser.add_argument("build")
    parser.add_argument("--brief", action="store_true", help="the same in a minute")
    options = parser.parse_args()
    build, size, begin = (
        os.path.abspath(options.build),
        BRIEF if options.brief else FULL,
        time.monotonic(),
    )
    jobs = Jobs(build)
    try:
        show_hpcc(jobs, size)
        show_mpi4py(jobs, size)
        show_lammps(jobs, size)
        show_measurement(jobs, size)
    except JobFailed as failure:
        print(f"huddle: quickstart: {failure}", file=sys.stderr)
        return 1
    left = leftovers()
    if left:
        print(f"huddle: quickstart: left behind: {left}", file=sys.stderr)
    print(
        f"\nDone in {time.monotonic() - begin:.0f} s, not including installing and building.\n"
        "To run your own program with huddle: build/bin/huddle run -- mpirun -np 4 ./app"
    )
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
