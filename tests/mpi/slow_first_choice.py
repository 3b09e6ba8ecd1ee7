# SPDX-License-Identifier: BSD-3-Clause
"""
Tests that a slow first choice does not last (HUDDLE_WISDOM), under each MPI.

    slow_first_choice.py --build BUILD [--wheels FOLDER] [MPI...]

A rule in front of the built-in table gives a collective an algorithm with parameters that make it
wait thousands of times in a call (HUDDLE_LAB_PRIOR).  In the first job it serves at most the first
200 calls.  In a second job another choice serves from the first call on.  Results are right in
each call.  Counts of calls are compared, and no times.  A trial during which the machine does other
work counts as a loss of time, after which the learner waits.  So a job that learns late is
repeated.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile

import peers
from remembered import Setting, passed
from run import front_end

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(SOURCE, "src", "core", "plan", "builtin.rules")
RANKS, CALLS, MAX_CALLS = 2, 600, 200
OTHERS = 8  # calls of a rank that are not of the cell
TRIES = 8  # first jobs
USES = 40  # calls of the second job
SLOW = {
    "bcast": "queue fragment=64 budget=128",
    "allreduce": "slices fragment=64",
    "alltoall": "windows tile=64",
}


def learn(setting, collective, more):
    """Runs the first job.  Raises AssertionError if it is wrong.  Returns its counts of choices."""
    statistics, output = setting.job("slow_first_choice", (collective, str(CALLS)), "on", **more)
    row = statistics["collectives"][collective]
    assert "huddle:" not in output, output
    assert row["handled"] + passed(row) == row["calls"] >= CALLS * RANKS, row
    return statistics["learned"]


def check(setting, collective, slow):
    """Runs both jobs of a collective.  Raises AssertionError.  Returns a text about them."""
    prior = os.path.join(setting.folder, "prior.rules")
    with open(TABLE, encoding="utf-8") as table, open(prior, "w", encoding="utf-8") as file:
        rules = table.read().replace("\n    ->", " ->")  # CMake joins the lines of a rule likewise
        file.write(f"{collective} bytes=524289-1M -> {slow}\n{rules}")
    more = {"HUDDLE_LAB_PRIOR": prior, "HUDDLE_TUNING": "off"}
    for _ in range(TRIES):
        learned = learn(setting, collective, more)
        soon = learned["changed"] > 0 and learned["first"] <= RANKS * (MAX_CALLS + OTHERS)
        if soon:
            break
        shutil.rmtree(os.path.join(setting.folder, "cache"), ignore_errors=True)
    assert soon, learned
    line = re.search(rf"^{collective}\b.* bytes=524289-1M .* -> .*", setting.text(), re.MULTILINE)
    assert line and f"-> {slow} |" not in line[0], setting.text()
    second, output = setting.job("slow_first_choice", (collective, str(USES)), "on", **more)
    assert "huddle:" not in output, output
    assert second["learned"]["first"] <= RANKS * OTHERS, second["learned"]
    return f"{collective} {learned['first'] // RANKS} calls"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--wheels")
    parser.add_argument("mpis", nargs="*", default=peers.NAMES)
    words = parser.parse_args()
    words.build = os.path.abspath(words.build)
    wheels = os.path.abspath(words.wheels or os.path.join(words.build, "peers"))
    done = failed = 0
    for mpi in words.mpis:
        if not peers.installed(wheels, mpi) or not front_end(words, mpi):
            print(f"{mpi}: not here")
            continue
        told = []
        for collective, slow in SLOW.items():
            with tempfile.TemporaryDirectory(prefix="slow-first-choice-") as folder:
                try:
                    told.append(check(Setting(words.build, wheels, mpi, folder), collective, slow))
                except AssertionError as error:
                    told.append(f"{collective} FAILED: {error}")
                    failed += 1
        print(f"{mpi}: {', '.join(told)}", flush=True)
        done += 1
    sys.exit(1 if failed else 0 if done else 77)


if __name__ == "__main__":
    main()
