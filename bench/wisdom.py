# SPDX-License-Identifier: BSD-3-Clause
"""Measures the gain of HUDDLE_WISDOM where the first choice is wrong, and its cost elsewhere.

    python3 bench/wisdom.py [--build build] [--cells NAME,...] [--launches 7] [--csv FILE]

Each cell is a collective, a number of ranks and a size.  Its first choice is spoilt on purpose: a
rule that names a slow algorithm precedes the built-in table (HUDDLE_LAB_PRIOR).  Variants take
turns, one launch each: the built-in table and the spoilt table, both without and with
HUDDLE_WISDOM=on.  The figure is that of `huddle bench`: a single call from a common start, the
slowest rank, median of a launch.  The calls of the trial are included.  A row has the median of the
launches and their quartiles, in us.  shortest: the median of the shortest call of each launch, for
a machine with other load.  changed: launches that decided a cell against its first choice, and
launches that decided one.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import fresh

LIMIT_S = 90
TABLE = Path(__file__).resolve().parent.parent / "src/core/plan/builtin.rules"
# name: collective, ranks, bytes, the slow algorithm
CELLS = {
    "allreduce-64K-2": ("allreduce", 2, "64K", "slices fragment=1K"),
    "allgather-64K-2": ("allgather", 2, "64K", "windows tile=1K"),
    "allreduce-64K-4": ("allreduce", 4, "64K", "slices fragment=1K"),
    "allreduce-1M-4": ("allreduce", 4, "1M", "slices fragment=1K"),
    "reduce-1M-4": ("reduce", 4, "1M", "slices fragment=1K"),
    "alltoall-64K-4": ("alltoall", 4, "64K", "windows tile=1K"),
    "allreduce-1M-8": ("allreduce", 8, "1M", "slices fragment=1K"),
    "alltoall-64K-8": ("alltoall", 8, "64K", "windows tile=1K"),
}
VARIANTS = {
    "table": ("table", "off"),
    "table, wisdom": ("table", "on"),
    "spoilt": ("spoilt", "off"),
    "spoilt, wisdom": ("spoilt", "on"),
}


def launch(options, cell, variant, folder):
    """Returns ((median, shortest) in us or None, cells decided, those changed) of a launch."""
    collective, ranks, size, slow = CELLS[cell]
    table, wisdom = VARIANTS[variant]
    spoilt, figures, counts = (os.path.join(folder, name) for name in ("rules", "csv", "json"))
    rules = TABLE.read_text(encoding="utf-8")
    Path(spoilt).write_text(f"{collective} bytes=8193- -> {slow}\n{rules}", encoding="utf-8")
    for path in (figures, counts):
        Path(path).unlink(missing_ok=True)
    with fresh.environment(
        HUDDLE_TUNING="off",
        HUDDLE_LAB_PRIOR=spoilt if table == "spoilt" else "",
        HUDDLE_WISDOM=wisdom,
        HUDDLE_STATS=f"json:{counts}",
    ) as env:
        subprocess.run(
            [options.build / "bin/huddle", "bench", collective, "--bytes", size]
            + ["--ranks", str(ranks), "--launches", "1", "--against", "none"]
            + ["--shots", str(options.shots), "--csv", figures],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    try:
        with open(figures, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        with open(counts, encoding="utf-8") as file:
            learned = json.load(file)["learned"]
    except OSError:
        return None, 0, 0
    # huddle bench reduces its own figures, in calls of another size.
    times = tuple(float(rows[0][name]) * 1e-3 for name in ("median_ns", "min_ns")) if rows else None
    return times, learned["decided"], learned["changed"]


def measure(options, folder):
    for cell in options.cells:
        found = {variant: [] for variant in VARIANTS}
        for _ in range(options.launches):
            for variant in VARIANTS:
                found[variant].append(launch(options, cell, variant, folder))
        for variant, launches in found.items():
            both = [times for times, _, _ in launches if times]
            times = [median for median, _ in both]
            low, middle, high = (
                statistics.quantiles(times, n=4) if len(times) > 1 else 3 * (times or [0])
            )
            shortest = statistics.median(time for _, time in both) if both else 0
            changed = f"{sum(c > 0 for _, _, c in launches)}/{sum(d > 0 for _, d, _ in launches)}"
            yield [
                cell,
                variant,
                *(f"{t:.1f}" for t in (middle, low, high, shortest)),
                len(times),
                changed,
            ]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--launches", default=7, type=int)
    parser.add_argument("--shots", default=1000, type=int)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    options.cells = options.cells.split(",")
    options.build = options.build.resolve()
    unknown = set(options.cells) - set(CELLS)
    if unknown:
        parser.error(f"--cells: none of {', '.join(CELLS)}: {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse()
    table = [
        ["cell", "variant", "median", "quartile_1", "quartile_3", "shortest", "launches", "changed"]
    ]
    with tempfile.TemporaryDirectory() as folder:
        for row in measure(options, folder):
            table.append(row)
            print("  ".join(f"{cell!s:16}" for cell in row).rstrip(), flush=True)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    sys.exit(main())
