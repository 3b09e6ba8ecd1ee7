# SPDX-License-Identifier: BSD-3-Clause
"""What ./quickstart runs when everything is built: three programs, each without and with huddle.

    quickstart.py BUILD [--brief]

Exit status 1 when a program's own checks fail, when huddle took no call, or when bytes were wrong; never because of a time.
"""
import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "cli")]

import chart  # noqa: E402
import hpcc  # noqa: E402
import measure  # noqa: E402
from jobs import JobFailed, Jobs, leftovers, taken  # noqa: E402
from text import bytes_text, heading, table  # noqa: E402

# What --brief shortens.
FULL = {"problem": 1500, "rounds": 60, "sizes": [8 << (3 * k) for k in range(6)] + [1 << 20, 4 << 20], "repeats": 7, "figure_ms": 60}
BRIEF = {"problem": 600, "rounds": 30, "sizes": [8, 1024, 65536, 1 << 20, 4 << 20], "repeats": 2, "figure_ms": 25}


def count_taken(statistics, who):
    """One line; raises JobFailed when huddle took nothing."""
    if not statistics:
        raise JobFailed(f"{who}: huddle was not in the program: it wrote no statistics")
    counts = {name: taken(statistics, name) for name in ("barrier", "bcast")}
    if not any(mine for mine, _ in counts.values()):
        raise JobFailed(f"{who}: huddle took no call: {statistics.get('collectives')}")
    return ", ".join(f"{mine} of {calls} {words}" for (mine, calls), words in zip(counts.values(), ("barriers", "broadcasts")))


def show_hpcc(jobs, size):
    heading("1. HPC Challenge (unmodified), 2 ranks, Open MPI")
    for huddle in (False, True):
        passed, statistics = hpcc.run(jobs, huddle, size["problem"])
        print(f"   {'with huddle' if huddle else 'as it is   '}  all of its {passed} checks passed", flush=True)
    print(f"   through huddle, over the ranks: {count_taken(statistics, 'HPC Challenge')}")


def show_mpi4py(jobs, size):
    heading("2. k-means in Python (mpi4py), 2 ranks, MPICH")
    program = [os.path.join(jobs.venv, "bin", "python"), os.path.join(HERE, "kmeans.py"), str(size["rounds"])]
    for huddle in (False, True):
        output, statistics = jobs.run([*jobs.on_mpich_wheel(2), *program], huddle)
        print(f"   {'with huddle' if huddle else 'as it is   '}  {output.strip()}", flush=True)
    print(f"   through huddle, over the ranks: {count_taken(statistics, 'k-means')}")


class Bar:
    """A progress bar on a terminal, nothing elsewhere."""

    def __init__(self, steps):
        self.steps, self.done = steps, 0
        self.draw()

    def step(self):
        self.done += 1
        self.draw()

    def draw(self):
        if sys.stderr.isatty():
            filled = 40 * self.done // self.steps
            end = "\r\033[K" if self.done == self.steps else ""
            print(f"\r   measuring {'━' * filled}{'╌' * (40 - filled)} {self.done}/{self.steps}{end}", end="", file=sys.stderr, flush=True)


def show_rows(rows):
    cells = [[str(r.ranks), r.collective, bytes_text(r.bytes) if r.bytes else "", f"{r.line} {r.line_ns:.0f} ns", f"{r.plain_us:.2f}",
              f"{r.huddle_us:.2f}", chart.factor_text(r.plain_us / r.huddle_us), str(r.samples)] for r in rows]
    table(["ranks", "collective", "size", "line", "Open MPI µs", "huddle µs", "faster", "launches"], cells, right=(0, 2, 3, 4, 5, 6, 7))


def show_measurement(jobs, size, build):
    heading("3. Barrier and broadcast, Open MPI as it is / with huddle, in turn")
    program = os.path.join(build, "libexec", "huddle", "bench-openmpi")
    bar = Bar(measure.launches(size["repeats"]))
    rows, unlabelled, statistics = measure.measure(jobs, program, size["sizes"], size["repeats"], size["figure_ms"], bar.step)
    print("   One call from a common start, the slowest rank's time, fresh and verified bytes; median of the launches' medians.")
    print("   line: what one cache line takes between two of the processors; only figures of one class are compared.")
    show_rows(rows)
    if unlabelled:
        print(f"   {unlabelled} figures left out: the line transfer could not be measured, or changed its class meanwhile")
    print(f"   in the last launch, through huddle: {count_taken(statistics, 'the measurement')}")
    picture = os.path.join(build, "quickstart.png")
    print(f"   picture: {picture}" if chart.draw(rows, statistics.get("mpi", "Open MPI"), picture) else "   no picture: matplotlib is missing")


def main():
    parser = argparse.ArgumentParser(description="Three programs, each without and with huddle.")
    parser.add_argument("build")
    parser.add_argument("--brief", action="store_true", help="the same in a minute")
    options = parser.parse_args()
    build, size, begin = os.path.abspath(options.build), BRIEF if options.brief else FULL, time.monotonic()
    jobs = Jobs(build)
    try:
        show_hpcc(jobs, size)
        show_mpi4py(jobs, size)
        show_measurement(jobs, size, build)
    except JobFailed as failure:
        print(f"huddle: quickstart: {failure}", file=sys.stderr)
        return 1
    left = leftovers()
    if left:
        print(f"huddle: quickstart: left behind: {left}", file=sys.stderr)
    print(f"\nDone in {time.monotonic() - begin:.0f} s.  To use huddle with your own program:  build/bin/huddle run -- mpirun -np 4 ./app")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
