# SPDX-License-Identifier: BSD-3-Clause
"""
Tries the made-up collective in the copy of the tree that copied.py has made and built: with its
descriptor, its algorithm and three rows everything knows it.

usage: made_up.py SCRATCH

It is MPI_Neighbor_alltoall, which huddle does not handle, on a graph in which all ranks are
neighbors.  The race checker, its mutations, the simulator and the CLI know it; both front ends
handle its calls.
"""

import json
import os
import re
import shutil
import sys

from copied import HERE, NAME, SOURCES, run

RANKS, CALLS = 2, 100  # each rank of program.c makes as many
VARIABLE = "HUDDLE_" + NAME.upper()
MPIS = {"openmpi": "--allow-run-as-root --oversubscribe", "mpich": ""}  # more words for mpirun


def must(condition, complaint):
    assert condition, complaint


def check_checker(copy):
    checker = "build/test/sim_check"
    printed = run(copy, f"{checker} --algorithm {NAME}/whole --seeds 3")
    must(re.search(r"\b[1-9]\d* calls .*clean", printed), "the checker has made no call")
    run(copy, f"python3 -B tests/sim/mutate.py --checker {checker} {SOURCES['whole.c']}")


def check_cli(copy):
    huddle = "build/bin/huddle"
    known = json.loads(run(copy, "build/libexec/huddle/probe info collectives"))
    must(NAME in [row["name"] for row in known], "huddle does not list it")
    run(copy, f"{huddle} settings | grep -w {VARIABLE}")
    answer = run(copy, f"{VARIABLE}=whole {huddle} explain {NAME} --ranks 4 --bytes 8")
    must("whole" in answer, "huddle explain does not name its algorithm")
    words = "--machine kunpeng-920 --ranks 8 --bytes 8 --algorithm whole"
    must("whole" in run(copy, f"{huddle} simulate {NAME} {words}"), "nothing is simulated")


def check_mpi(copy, mpi, words):
    """All its calls are handled; a line where that MPI is not there."""
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
