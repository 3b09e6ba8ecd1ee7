# SPDX-License-Identifier: BSD-3-Clause
"""Simulates the rows of range.csv again.

usage: build/venv/bin/python lab/evidence/ranges.py [OPTIONS]

The keys `gap_ns` (with `scan_gap_ns`) and `serve_ns` of most machines are assumed.  So range.csv
has each candidate with a third, once and three times both, in all nine combinations.  A row without
a time is simulated, too: that is how teams, sizes and candidates are added.

  --missing      simulates only the rows without a time
  --jobs N       simulations at a time (default: 2)
  --huddle FILE  the command (default: build/bin/huddle)
"""

import argparse
import csv
import pathlib
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed

import series

RANGE = series.HERE / "range.csv"
FACTORS = {"1/3": 1 / 3, "1": 1.0, "3": 3.0}  # factors of gap_ns and of serve_ns
COLUMNS = "collective,ranks,regime,bytes,algorithm,gap,serve,us,machine".split(",")
OPTIONS = {regime: option for option, regime in series.MAPS.items()}


def read():
    """Returns (head lines, rows) of range.csv."""
    lines = RANGE.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return [line for line in lines if line.startswith("#")], list(rows)


def write(head, rows):
    with open(RANGE, "w", encoding="utf-8", newline="") as file:
        file.write("".join(f"{line}\n" for line in head))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *([row[key] for key in COLUMNS] for row in rows)])


def described_at(folder, machine, gap, serve):
    name = f"{machine}-{gap}-{serve}.toml".replace("/", "_")
    return pathlib.Path(folder) / name


def describe(folder, machine, gap, serve):
    """Writes the machine's description with other numbers."""
    text = (series.ROOT / "lab/machines" / f"{machine}.toml").read_text(encoding="utf-8")
    for key, factor in (("(?:scan_)?gap_ns", gap), ("serve_ns", serve)):
        text, found = re.subn(
            rf"^({key}\.\w+ = )([0-9.]+)",
            lambda match, by=FACTORS[factor]: f"{match[1]}{float(match[2]) * by:.4g}",
            text,
            flags=re.MULTILINE,
        )
        if not found:
            raise SystemExit(f"ranges.py: {machine}: no {key}")
    described_at(folder, machine, gap, serve).write_text(text, encoding="utf-8")


def simulate(huddle, folder, rows):
    """Sets the times of rows that differ in their bytes only."""
    row = rows[0]
    name, *parameters = row["algorithm"].split()
    machine = described_at(folder, row["machine"], row["gap"], row["serve"])
    words = [
        *("huddle", "lab", "simulate", row["collective"], "--machine", str(machine)),
        *("--ranks", row["ranks"], "--map", OPTIONS[row["regime"]], "--algorithm", name),
        *(word for parameter in parameters for word in ("--param", parameter)),
    ]
    if row["bytes"] != "0":
        words += ["--bytes", ",".join(row["bytes"] for row in rows)]
    answer = series.answer_of(huddle, " ".join(words))
    for row, call in zip(rows, answer["calls"]):
        row["us"] = f"{call['times']['time_ns'] / 1000:.4g}"


def fill(rows, options):
    """Simulates the rows."""
    jobs = {}
    for row in rows:
        key = tuple(row[key] for key in COLUMNS if key not in ("bytes", "us"))
        jobs.setdefault(key, []).append(row)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for point in {(row["machine"], row["gap"], row["serve"]) for row in rows}:
            describe(folder, *point)
        futures = [pool.submit(simulate, options.huddle, folder, some) for some in jobs.values()]
        for done, future in enumerate(as_completed(futures), 1):
            future.result()
            print(f"[{done}/{len(jobs)}]", end="\r", file=sys.stderr, flush=True)


def main(words):
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--huddle", default=str(series.ROOT / "build" / "bin" / "huddle"))
    options = parser.parse_args(words)
    head, rows = read()
    try:
        fill([row for row in rows if not options.missing or not row["us"]], options)
    finally:
        write(head, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
