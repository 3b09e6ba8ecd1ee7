# SPDX-License-Identifier: BSD-3-Clause
"""Measures what learning gains and costs: learned-2-cores-85.csv.

usage: build/venv/bin/python lab/evidence/learned.py --mpi NAME,... [--place NAME=PLACE]...
           [--huddle FILE] [--rounds N] [--keep FOLDER] [--csv FILE]
       build/venv/bin/python lab/evidence/learned.py --summary FILE

Each of --rounds rounds (default: 4) has one launch of `huddle bench` for every MPI, with single
calls and with 100 calls back to back: without learning (HUDDLE_WISDOM=off), and with a file of
wisdom that the launches of later rounds go on with.  So all run under the same conditions.  Each
launch also measures the MPI without huddle.  A row has medians over the rounds, of huddle without
learning (off_us), in the first round with it (first_us), and in the later rounds (later_us), and of
the MPI.  --keep keeps the files of the launches.

--summary prints, for each MPI and kind of calls, how many cases take more than 1.03 of the MPI's
time, the largest ratio, and the geometric mean.
"""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile
from collections import defaultdict

WORDS = (
    "bcast reduce allreduce alltoall allgather gather --bytes 8,1K,16K,64K,256K --ranks 2"
    " --root-shift --launches 1 --figure-ms 30"
)
CALLS = {"single": "", "loop": " --loop 100"}
COLUMNS = "mpi,calls,collective,bytes,classes,off_us,first_us,later_us,mpi_us".split(",")
LIMIT = 1.03


def launch(args, mpi, calls, wisdom, folder, path):
    """Runs one launch, with its wisdom in the folder."""
    places = [word for place in args.place for word in ("--place", place)]
    words = [args.huddle, "bench", *(WORDS + CALLS[calls]).split(), *places]
    words += ["--mpi", mpi, "--against", mpi, "--csv", str(path)]
    env = {**os.environ, "HUDDLE_WISDOM": wisdom, "XDG_CACHE_HOME": str(folder)}
    subprocess.run(words, env=env, check=False, stdout=subprocess.DEVNULL)


def add(path, run, found):
    """Adds the times of a launch to found[case][run], and their classes to found[case]["class"]."""
    if not path.exists():
        return
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            case = found[row["collective"], int(row["bytes"])]
            own = "huddle" in row["variant"]
            case[run if own else "mpi"].append(float(row["median_ns"]) / 1000)
            if own:
                case["class"].append(row["class"] or "changed")


def median(times):
    return f"{statistics.median(times):.3g}" if times else ""


def measure(args, folder):
    """Makes all rounds.  Yields the rows."""
    found = {
        (mpi, calls): defaultdict(lambda: defaultdict(list)) for mpi in args.mpi for calls in CALLS
    }
    for number in range(args.rounds):
        for (mpi, calls), cases in found.items():
            for run, wisdom in (("off", "off"), ("later" if number else "first", "on")):
                path = folder / f"{mpi}-{calls}-{wisdom}-{number}.csv"
                launch(args, mpi, calls, wisdom, folder / f"wisdom-{mpi}-{calls}", path)
                add(path, run, cases)
    for (mpi, calls), cases in found.items():
        for (collective, size), case in cases.items():
            classes = " ".join(sorted(set(case["class"])))
            times = [median(case[run]) for run in ("off", "first", "later", "mpi")]
            yield [mpi, calls, collective, size, classes, *times]


def summary(rows):
    """Prints the table of a file's rows."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["mpi"], row["calls"]].append(row)
    print(f"{'MPI':8} {'calls':7} {'run':6} cases > {LIMIT}   worst   mean")
    for (mpi, calls), group in groups.items():
        for run in ("off", "first", "later"):
            column = f"{run}_us"
            ratios = [float(r[column]) / float(r["mpi_us"]) for r in group if r[column]]
            if not ratios:
                continue
            slower = sum(ratio > LIMIT for ratio in ratios)
            print(
                f"{mpi:8} {calls:7} {run:6} {slower:3} of {len(ratios):2}"
                f"      {max(ratios):5.2f}  {statistics.geometric_mean(ratios):5.2f}"
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mpi", type=lambda text: text.split(","), default=[])
    parser.add_argument("--place", action="append", default=[])
    parser.add_argument("--huddle", default="build/bin/huddle")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--summary", type=pathlib.Path)
    args = parser.parse_args()
    if args.summary:
        with open(args.summary, encoding="utf-8", newline="") as file:
            summary(csv.DictReader(line for line in file if line[0] != "#"))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        rows = [dict(zip(COLUMNS, map(str, row))) for row in measure(args, folder)]
    if args.csv:
        with open(args.csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    summary(rows)


if __name__ == "__main__":
    main()
