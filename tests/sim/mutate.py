#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Drops the happens-before of one labelled call at a time, in every algorithm, and asks the checker to
find it.

usage: mutate.py --checker SIM_CHECK [--seeds N] [FILE...]     (no FILE: all algorithms, and the
core's protocols)

The value still moves; only the order is gone.  Prints a table; exit status 1 names every edge whose
loss the checker did not find: it is not needed, or the tests do not reach the place where it is.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALGORITHMS = ROOT / "src" / "alg"
sys.path.insert(0, str(ALGORITHMS))
from edges import files, read  # noqa: E402

DEFINED = re.compile(r"^ALG_DEFINE\((\w+), (\w+)\)", re.MULTILINE)
CLEAN, FOUND, NOT_REACHED = 0, 1, 3


def programs_of(path):
    """
    The names by which the checker knows what runs this file: the algorithms that it defines; of a
    family's header, those of the whole family; of a protocol of the core, its own name.
    """
    if ALGORITHMS not in path.parents:
        return [f"core/{path.stem}"]
    units = path.parent.glob("*.c") if path.suffix == ".h" else [path]
    names = {name for unit in units for name in DEFINED.findall(unit.read_text(encoding="utf-8"))}
    return sorted("/".join(name) for name in names)


def mutations(path):
    for site in read(path)[1]:
        for label in site.labels:
            yield site, label


def run(checker, seeds, path, site, label):
    """(verdict, the report's first line)"""
    where = f"{path.relative_to(ROOT)}:{site.line}:{label[0]}"
    # each algorithm that has the place alone, with one seed, which mostly finds it, then with all
    # seeds; if none finds it, mixed with the others
    programs = programs_of(path)
    for program, tries in (*((p, 1) for p in programs), *((p, seeds) for p in (*programs, "all"))):
        done = subprocess.run(
            [checker, "--algorithm", program, "--seeds", str(tries), "--mutate", where],
            capture_output=True,
            text=True,
        )
        if done.returncode not in (CLEAN, NOT_REACHED):
            break
    first = (done.stdout + done.stderr).splitlines()[:1]
    return done.returncode, first[0] if first else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--checker", required=True)
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    jobs = [
        (args.checker, args.seeds, path, site, label)
        for path in [p.resolve() for p in args.files] or files(ROOT / "src")
        for site, label in mutations(path)
    ]
    surviving = []
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for (_, _, path, site, label), (status, report) in zip(
            jobs, pool.map(lambda job: run(*job), jobs)
        ):
            name = f"{path.relative_to(ROOT)}:{site.line}"
            verdict = {FOUND: "found", CLEAN: "SURVIVES"}.get(status, f"ERROR {status}")
            print(f"{name:36} mem_{site.call:6} {label:4} {verdict:9} {report}", flush=True)
            if status != FOUND:
                surviving.append(f"{name} {label}")
    for name in surviving:
        print(f"not found: {name}")
    print(f"{len(jobs)} mutations, {len(jobs) - len(surviving)} found")
    return 1 if surviving or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
