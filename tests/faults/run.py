# SPDX-License-Identifier: BSD-3-Clause
"""
Runs a program repeatedly, each time with another failing call of huddle in one rank, and judges the
outcome.

    run.py --build BUILD [--full] [--seed N] [--most N] [--jobs N] [--only TEXT]... [--nonblocking]
           PROGRAM...
    run.py --build BUILD --point POINT --rank RANK [--error N] [--forever] PROGRAM

PROGRAM is `team` (examples/team, no MPI), `checked` (the same with HUDDLE_CHECK) or an MPI (ompi4,
ompi5, mpich4, mpich5, intel), under which tests/mpi/rounds.c runs.  A clean run finds the calls.
Each run must end in time with right results, all ranks of a communicator must get the same answers,
nothing may be left or leaked, and there must be at most one line per reason.  A program of which no
point was reached fails, too.
"""

import argparse
import collections
import concurrent.futures
import glob
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mpi"))

import judge
import peers
import sequence
from run import MARK, leftovers

RANKS = 4
FAULTY = (0, 1)  # the ranks in which a call fails: the first, and a middle rank
OPERATIONS = 14  # number of calls of examples/team, which runs each of its sizes twice
TEAMS = {"team": {}, "checked": {"HUDDLE_CHECK": "on"}}


class Run:
    """A complete run of a program."""

    def __init__(self, setting, program, environment):
        self.program, self.nonblocking = program, setting.nonblocking
        mark = uuid.uuid4().hex
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            command, env = self.command(setting)
            env = {
                **os.environ,
                **env,
                **environment,
                "FAULTS_LOG": folder,
                "XDG_CACHE_HOME": os.path.join(folder, "cache"),
                "HUDDLE_STATS": f"json:{folder}/stats",
                **({"HUDDLE_NONBLOCKING": "on"} if setting.nonblocking else {}),
                "LD_PRELOAD": setting.library,
                MARK: mark,
            }
            with open(os.path.join(folder, "output"), "w+b") as output:
                with subprocess.Popen(
                    command,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                ) as process:
                    self.status = self.wait(process, setting.seconds)
                output.seek(0)
                self.text = output.read().decode(errors="replace")
            self.left = ["left behind: " + what for what in leftovers(mark)]
            self.ranks = [sequence.Rank(folder, r) for r in range(RANKS)]

    def command(self, setting):
        if self.program in TEAMS:
            return [
                os.path.join(setting.build, "examples", "team"),
                str(RANKS),
                str(OPERATIONS),
            ], TEAMS[self.program]
        launch, env = peers.launcher(setting.wheels, self.program, RANKS)
        rounds = os.path.join(setting.build, "tests", "mpi", peers.abi(self.program), "rounds")
        words = ["--nonblocking"] if setting.nonblocking else []
        huddle = os.path.join(setting.build, "bin", "huddle")
        return [huddle, "run", "--", *launch, rounds, *words], env

    @staticmethod
    def wait(process, seconds):
        """Returns the exit status, or None after a timeout."""
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None

    def wrong(self):
        """
        Returns the complaints about the program's results.  A team without MPI knows its own
        results, so calls that huddle does not handle count as wrong.
        """
        if self.program not in TEAMS:
            return (
                []
                if self.status == 0 and "rounds: passed" in self.text
                else [f"exit status {self.status}"]
            )
        taken = judge.verdict(self.ranks, self.text) == "handled"
        wrong = 0 if taken else RANKS * OPERATIONS
        return (
            []
            if f" {wrong} wrong" in self.text
            else [f"exit status {self.status}: {self.text.strip()[-80:]}"]
        )

    def failed(self):
        return [point for rank in self.ranks for point in rank.failed]


def try_point(setting, clean, program, rank, point):
    """Returns (verdict, complaints, run)."""
    environment = {
        "FAULTS_RANK": str(rank),
        "FAULTS_POINT": point.name,
        "FAULTS_ERROR": str(point.error),
        **({"FAULTS_FOREVER": "1"} if point.forever else {}),
    }
    start = time.monotonic()
    run = Run(setting, program, environment)
    if run.status is None:
        bad = [f"still running after {setting.seconds} s", *judge.repeated(run.text)]
    elif (
        run.status != 0
        and run.failed()
        and sequence.is_own(
            point, sequence.caller(point.name, setting.libraries), setting.nonblocking
        )
    ):
        bad = [
            *run.left,
            *([] if judge.NO_MEMORY.search(run.text) else ["ended without a word of memory"]),
        ]
        return "FAILED" if bad else "ended with an error", bad, run, time.monotonic() - start
    else:
        bad = judge.complaints(run, clean)
    verdict = (
        "FAILED" if bad else judge.verdict(run.ranks, run.text) if run.failed() else "not reached"
    )
    return verdict, bad, run, time.monotonic() - start


def describe(setting, program, rank, point):
    lasting = " --forever" if point.forever else ""
    kind = " --nonblocking" if setting.nonblocking else ""
    return (
        f"{sys.executable} {os.path.relpath(__file__)} --build {os.path.relpath(setting.build)}"
        f" --rank {rank} --point '{point.name}' --error {point.error}{lasting}{kind} {program}"
    )


def tell(setting, program, rank, point, verdict, bad, run, seconds):
    function = sequence.caller(point.name, setting.libraries)
    error = os.strerror(point.error) if point.error else "partial"
    print(
        f"{program} rank {rank} {point.name} ({function}):"
        f" {error}{', and all after it' if point.forever else ''}: {verdict} {seconds:.1f} s",
        flush=True,
    )
    for line in bad:
        print("    " + line)
    if bad:
        print("    repeat: " + describe(setting, program, rank, point))
        print(
            "".join(f"    | {line}\n" for line in run.text.splitlines()[-12:]), end="", flush=True
        )


def clean_run(setting, program):
    run = Run(setting, program, {})
    bad = [f"exit status {run.status}"] if run.status != 0 else judge.complaints(run, run)
    if bad or judge.verdict(run.ranks, run.text) != "handled":
        sys.exit(f"{program}: the clean run is not: {bad}\n{run.text}")
    return run


def try_program(setting, program):
    """Returns the counts of verdicts, and prints the complaints."""
    clean = clean_run(setting, program)
    work = [
        (rank, point)
        for rank in FAULTY
        for point in sequence.points(clean.ranks[rank], setting.full, setting.seed + rank)
    ]
    if program not in TEAMS:
        work = [
            (rank, point)
            for rank, point in work
            if not (point.forever and point.name.split("@")[0] in sequence.PRIVATE)
        ]
    work = [
        (rank, point)
        for rank, point in work
        if sequence.is_named(point, setting.libraries, setting.only)
    ]
    if setting.most and len(work) > setting.most:
        work = random.Random(setting.seed).sample(work, setting.most)
    counts, lock = collections.Counter(), threading.Lock()

    def one(job):
        rank, point = job
        verdict, bad, run, seconds = try_point(setting, clean, program, rank, point)
        with lock:
            counts[verdict] += 1
            if bad or setting.verbose:
                tell(setting, program, rank, point, verdict, bad, run, seconds)

    with concurrent.futures.ThreadPoolExecutor(setting.jobs) as pool:
        list(pool.map(one, work))
    return counts


def untested(counts):
    """Returns why these verdicts prove nothing, or None if a call has failed as intended."""
    if not counts:
        return "no points: nothing was tried"
    return "none of the points was reached" if set(counts) == {"not reached"} else None


def libraries(build):
    found = glob.glob(os.path.join(build, "lib*", "**", "*huddle*.so*"), recursive=True)
    return {os.path.basename(path): path for path in found}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True)
    parser.add_argument("--library", help="the library to preload; default: the build's")
    parser.add_argument("--wheels", help="folder of peers.py setup; default BUILD/peers")
    parser.add_argument(
        "--full", action="store_true", help="every call of every site, each error of its kind"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=random.randrange(10**6),
        help="chooses the points of a run that is not --full",
    )
    parser.add_argument("--most", type=int, help="points of each program")
    parser.add_argument(
        "--jobs", type=int, default=max(1, len(os.sched_getaffinity(0)) // 2), help="runs at a time"
    )
    parser.add_argument(
        "--only",
        action="append",
        help="points whose name, with the calling function, contains this, or another --only",
    )
    parser.add_argument("--seconds", type=float, default=60, help="a run that takes longer hangs")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    parser.add_argument("--point", help="one run with this call failing")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--error", type=int, default=12)
    parser.add_argument("--forever", action="store_true")
    parser.add_argument(
        "--nonblocking", action="store_true", help="with a nonblocking collective, under an MPI"
    )
    parser.add_argument("programs", nargs="+", choices=[*TEAMS, *peers.NAMES], metavar="PROGRAM")
    setting = parser.parse_args()
    setting.build = os.path.abspath(setting.build)
    setting.wheels = os.path.abspath(setting.wheels or os.path.join(setting.build, "peers"))
    setting.library = os.path.abspath(
        setting.library or os.path.join(setting.build, "test", "libfaults.so")
    )
    setting.libraries = libraries(setting.build)
    failed, tried = 0, 0
    for program in setting.programs:
        if program not in TEAMS and not peers.installed(setting.wheels, program):
            print(f"{program}: skipped: not installed")
            continue
        if setting.point:
            point = sequence.Point(setting.point, setting.error, setting.forever)
            verdict, bad, run, seconds = try_point(
                setting, clean_run(setting, program), program, setting.rank, point
            )
            tell(setting, program, setting.rank, point, verdict, bad, run, seconds)
            print(run.text)
            counts = collections.Counter([verdict])
        else:
            counts = try_program(setting, program)
        tried += 1
        failed += counts["FAILED"] + bool(untested(counts))
        told = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
        print(f"{program}: {sum(counts.values())} points (seed {setting.seed}): {told}", flush=True)
        if untested(counts):
            print(f"{program}: FAILED: {untested(counts)}", flush=True)
    sys.exit(1 if failed else 0 if tried else 77)


if __name__ == "__main__":
    main()
