# SPDX-License-Identifier: BSD-3-Clause
"""Measures an algorithm's parameter in new processes: fresh-queue.csv and fresh-windows.csv.

usage: build/venv/bin/python lab/evidence/fresh.py COLLECTIVE PARAMETER BYTES,... VALUE,...
           [--huddle FILE] [--rounds N]

For example `bcast QUEUE_BUDGET 1M,4M 64K,128K`.  A round is one launch of two ranks with each size
and value, in turn, so that all run under the same conditions: many launches in a row may have
memory of one kind.  Prints rows of these files, by the class of a launch's line transfer.
"""

import argparse
import csv
import itertools
import pathlib
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict

import peers

CLASSES = ("nearest", "near", "far")  # line transfers below 40 ns, below 150 ns, beyond
COLUMNS = "collective,parameter,class,bytes,value,mean_us,median_us,min_us,max_us,launches"


def rows_of(path):
    """Returns the rows that have a class and no fault."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows = [row for row in rows if row["class"] and float(row["median_ns"]) > 0]
    return [row for row in rows if not int(row["wrong"]) | int(row["refused"])]


def launch(huddle, collective, parameter, size, value):
    """Returns [(class, us)] of one launch, without figures during which the class changed."""
    setting = f"HUDDLE_LAB_{collective.upper()}_{parameter}={value}"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figures.csv"
        words = f"{collective} --ranks 2 --bytes {size} --mpi ompi4 --against none --launches 1"
        words += f" --figure-ms 20 --set {setting} --csv {path}"
        subprocess.run([huddle, "bench", *words.split()], check=False, stdout=subprocess.DEVNULL)
        if not path.exists():
            sys.exit(f"fresh.py: no figures of huddle bench {words}")
        rows = rows_of(path)
    return [(row["class"], float(row["median_ns"]) / 1000) for row in rows]


def text_of(times):
    figures = (statistics.mean(times), statistics.median(times), min(times), max(times))
    return ",".join(f"{us:.3g}" for us in figures)


def options():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    for name in ("collective", "parameter", "bytes", "values"):
        parser.add_argument(name)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--huddle", default=str(peers.ROOT / "build/bin/huddle"))
    return parser.parse_args()


def main():
    o, found = options(), defaultdict(list)
    cells = list(itertools.product(o.bytes.split(","), o.values.split(",")))
    for _ in range(o.rounds):
        for size, value in cells:
            for line, us in launch(o.huddle, o.collective, o.parameter, size, value):
                found[line, size, value].append(us)
    print(COLUMNS)
    for line, (size, value) in itertools.product(CLASSES, cells):
        times = found[line, size, value]
        if times:
            about = f"{o.collective},{o.parameter},{line},{size},{value}"
            print(f"{about},{text_of(times)},{len(times)}")


if __name__ == "__main__":
    main()
