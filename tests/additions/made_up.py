# SPDX-License-Identifier: BSD-3-Clause
"""
Tries the made-up collective in the copy of the tree that copied.py has made and built.  A
descriptor, an algorithm and three rows must be enough for all parts of huddle.

usage: made_up.py SCRATCH

The collective is MPI_Neighbor_alltoall, which huddle does not handle, on a graph in which all ranks
are neighbors.  The race checker, its mutations and the CLI must know it, and both front ends must
handle its calls.
"""

import json
import os
import re
import shutil
import sys

from copied import HERE, NAME, SOURCES, run

RANKS, CALLS = 2, 100  # calls of each rank of program.c
VARIABLE = "HUDDLE_" + NAME.upper()
MPIS = {"openmpi": "--allow-run-as-root --oversubscribe", "mpich": ""}  # further options of mpirun


def must(condition, complaint):
    assert condition, complaint


def check_checker(copy):
    checker = "build/test/sim_check"
    printed = run(copy, f"{checker} --algorithm {NAME}/whole --seeds 3")
    must(re.search(r"\b[1-9]\d* calls .*clean", printed), "the checker has made no call")
    run(copy, f"python3 -B tests/sim/mutate.py --checker {checker} {SOURCES['whole.c']}")


def check_cli(copy):
    huddle = "build/bin/huddle"
    known = json.loads(run(copy, "build/libexec/huddle/query info collectives"))
    must(NAME in [row["name"] for row in known], "huddle does not list it")
    run(copy, f"{huddle} settings | grep -w {VARIABLE}")
    answer = run(copy, f"{VARIABLE}=whole {huddle} explain {NAME} --ranks 4 --bytes 8")
    must("whole" in answer, "huddle explain does not name its algorithm")


def check_mpi(copy, mpi, words):
    """Checks that all its calls are handled.  Prints a line if the MPI is not installed."""
    if not (shutil.which(f"mpicc.{mpi}") and shutil.which(f"mpirun.{mpi}")):
        print(f"skipped: no {mpi} here")
        return
    program, stats = f"build/program-{mpi}", f"build/stats-{mpi}.json"
    run(copy, f"mpicc.{mpi} -Wall -Werror -o {program} {HERE}/{NAME}/program.c")
    run(
        copy,
        f"{VARIABLE}=whole HUDDLE_STATS=json:{stats} timeout -k 5 60 build/bin/huddle run --"
        f" mpirun.{mpi} {words} -np {RANKS} {program} </dev/null",
    )
    counted = json.loads(run(copy, f"cat {stats}"))["collectives"][NAME]
    must(counted["calls"] == counted["handled"] == RANKS * CALLS, f"under {mpi}: {counted}")


def main(scratch):
    copy = os.path.join(scratch, "tree")
    check_checker(copy)
    check_cli(copy)
    for mpi, words in MPIS.items():
        check_mpi(copy, mpi, words)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
