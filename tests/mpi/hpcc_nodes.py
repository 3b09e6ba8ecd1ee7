# SPDX-License-Identifier: BSD-3-Clause
"""
Runs HPC Challenge on three nodes of two ranks, which are network namespaces of this machine.  Its
own checks must pass, and huddle must handle each of its collectives, also among nodes.

    hpcc_nodes.py --build BUILD

Exit status 77: it is not installed, or nodes cannot be made here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import namespaces
import peers
from links import handled, huddle_run
from run import front_end

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [SOURCE, os.path.join(SOURCE, "examples", "programs")]

import hpcc
from jobs import JobFailed

MPIS = ("ompi4", "ompi5")  # the MPIs with the ABI of Debian's program
COUNTS, ROWS, COLUMNS, PROBLEM, LIMIT_S = (2, 2, 2), 2, 3, 600, 300


def run(options, nodes, mpi):
    """Returns the complaints, and a text about the results."""
    with tempfile.TemporaryDirectory(prefix="huddle-hpcc-") as scratch:
        hpcc.write_input(scratch, PROBLEM, ROWS, COLUMNS)
        stats = os.path.join(scratch, "stats.json")
        rank = ["sh", "-c", f'cd "{scratch}" && exec hpcc']
        job = nodes.job(peers.found(os.path.join(options.build, "peers"), mpi), COUNTS)
        done = subprocess.run(
            nodes.enter([*huddle_run(options.build, stats), *job, *rank]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
        if done.returncode != 0:
            return [f"exit status {done.returncode}"], ""
        try:
            checks = hpcc.checks_of(scratch)
        except JobFailed as why:
            return [str(why)], ""
        with open(stats, encoding="utf-8") as file:
            statistics = json.load(file)
    called = [name for name, row in statistics["collectives"].items() if row["calls"]]
    bad = [line for name in called for line in handled(statistics, name)]
    if not statistics["nodes"]["messages"]:
        bad.append("no message to another node")
    return bad, f"{checks} checks passed, with {', '.join(called)}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    here = [
        mpi
        for mpi in MPIS
        if peers.installed(os.path.join(options.build, "peers"), mpi) and front_end(options, mpi)
    ]
    if not shutil.which("hpcc") or not here:
        print("skipped: no HPC Challenge, or no Open MPI")
        return 77
    failed = 0
    for mpi in here:
        try:
            with namespaces.Nodes(len(COUNTS), options.build) as nodes:
                bad, text = run(options, nodes, mpi)
        except namespaces.NotHere as why:
            print(f"skipped: {why}")
            return 77
        failed += bool(bad)
        print(f"{mpi}: {'FAILED' if bad else 'ok'}  {text}", flush=True)
        for line in bad:
            print("    " + line, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
