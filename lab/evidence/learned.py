# SPDX-License-Identifier: BSD-3-Clause
"""Measures what learning gains and costs: learned-2-cores-85.csv.

usage: build/venv/bin/python lab/evidence/learned.py --mpi NAME,... [--place NAME=PLACE]...
           [--huddle FILE] [--rounds N] [--keep FOLDER] [--csv FILE]
       build/venv/bin/python lab/evidence/learned.py --summary FILE

Each of --rounds rounds (default: 4) has one launch of `huddle bench` for every MPI, with single
calls and with 100 calls back to back: without learning (HUDDLE_WISDOM=off), and with a file of
wisdom that the launches of later rounds go on with.  Each launch also measures the MPI without
huddle.  A row has medians over the launches in which a line crossed in times of one class: of
huddle without learning (off_us), in the first round with it (first_us), and in the later rounds
(later_us), and of the MPI.  --keep keeps the files of the launches.

--summary prints, for each MPI and kind of calls, how many cases take more than 1.03 of the MPI's
time, the largest ratio to the MPI's time, the geometric mean of these ratios, and the geometric
mean of the ratios to the time without learning ("to off") where both were measured in the class.
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
    " --root-shift --launches 1 --figure-ms 100"
)
CALLS = {"single": "", "loop": " --loop 100"}
COLUMNS = "mpi,calls,collective,bytes,class,off_us,first_us,later_us,mpi_us".split(",")
LIMIT = 1.03


def launch(args, mpi, calls, wisdom, folder, path):
    """Runs one launch, with its wisdom in the folder."""
    places = [word for place in args.place for word in ("--place", place)]
    words = [args.huddle, "bench", *(WORDS + CALLS[calls]).split(), *places]
    words += ["--mpi", mpi, "--against", mpi, "--csv", str(path)]
    env = {**os.environ, "HUDDLE_WISDOM": wisdom, "XDG_CACHE_HOME": str(folder)}
    subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL)


def add(path, run, found):
    """Adds the times of a launch to found[case][run], unless the class changed meanwhile."""
    if not path.exists():
        return
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["class"]:
                case = found[row["collective"], int(row["bytes"]), row["class"]]
                name = run if "huddle" in row["variant"] else "mpi"
                case[name].append(float(row["median_ns"]) / 1000)


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
        for case, times in cases.items():
            medians = [median(times[run]) for run in ("off", "first", "later", "mpi")]
            yield [mpi, calls, *case, *medians]


def summary(rows):
    """Prints the table of a file's rows."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["mpi"], row["calls"]].append(row)
    print(f"{'MPI':8} {'calls':7} {'run':6} cases > {LIMIT}   worst   mean  to off")
    for (mpi, calls), group in groups.items():
        for run in ("off", "first", "later"):
            column = f"{run}_us"
            measured = [row for row in group if row[column] and row["mpi_us"]]
            if not measured:
                continue
            ratios = [float(row[column]) / float(row["mpi_us"]) for row in measured]
            to_off = [float(r[column]) / float(r["off_us"]) for r in measured if r["off_us"]]
            print(
                f"{mpi:8} {calls:7} {run:6} {sum(ratio > LIMIT for ratio in ratios):3} of"
                f" {len(ratios):3}     {max(ratios):5.2f}  {statistics.geometric_mean(ratios):5.2f}"
                f"   {f'{statistics.geometric_mean(to_off):.2f}' if to_off else '-'}"
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
        folder.mkdir(parents=True, exist_ok=True)
        rows = [dict(zip(COLUMNS, map(str, row))) for row in measure(args, folder)]
    if args.csv:
        with open(args.csv, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    summary(rows)


if __name__ == "__main__":
    main()
