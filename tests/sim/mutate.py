#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Drops the happens-before of one labelled call at a time, in every algorithm, and asks the checker to find it.

usage: mutate.py --checker SIM_CHECK [--seeds N] [FILE...]     (no FILE: all algorithms, and the core's protocols)

The value still moves; only the order is gone.  An edge of a header is dropped for each algorithm that has it, and each must show it alone; an edge
of an algorithm may also show when it is mixed with the others.  Prints a table; exit status 1 names every edge whose loss the checker did not
find: it is not needed, or the tests do not reach the place where it is.
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALGORITHMS = ROOT / "src" / "alg"
sys.path.insert(0, str(ROOT / "tests" / "lint"))
from lint_edges import labelled_files, read  # noqa: E402

CLEAN, FOUND, NOT_REACHED = 0, 1, 3
WIDE = ("--ranks", "65")  # more than twice what one mem_reduce reads: an edge may matter only there


def programs_of(path):
    """The names by which the checker knows what runs this file: of a header, the algorithms that include it, itself or through another one."""
    if path.suffix != ".h":
        return [f"{path.parent.name}/{path.stem}"]
    users = [user for user in ALGORITHMS.glob("**/*.[ch]") if f'#include "alg/{path.name}"' in user.read_text(encoding="utf-8")]
    return sorted({program for user in users for program in programs_of(user)})


def mutations(path):
    for site in read(path)[1]:
        for label in site.labels:
            yield site, label


def attempt(checker, seeds, where, *runs):
    """(exit status, the report's first line) of the first of these runs that finds it, or of the last."""
    for run in runs:
        done = subprocess.run([checker, "--algorithm", *run, "--seeds", str(seeds), "--mutate", where], capture_output=True, text=True)
        if done.returncode != CLEAN:
            break
    first = (done.stdout + done.stderr).splitlines()[:1]
    return done.returncode, first[0] if first else ""


def verdicts(checker, seeds, path, site, label):
    """(algorithm, exit status, the report's first line); of a header, for each algorithm that includes it, none helped by another."""
    where = f"{path.relative_to(ROOT)}:{site.line}:{label[0]}"
    reached = []
    for program in programs_of(path):
        rest = (program, *WIDE) if path.suffix == ".h" else ("all",)
        reached.append((program, *attempt(checker, seeds, where, (program,), rest)))
    # an algorithm that never comes to that line of a header does not have the edge; some algorithm does
    had = [verdict for verdict in reached if verdict[1] != NOT_REACHED]
    yield from had or reached


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checker", required=True)
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    surviving = []
    count = 0
    for path in [p.resolve() for p in args.files] or labelled_files():
        for site, label in mutations(path):
            name = f"{path.relative_to(ROOT)}:{site.line}"
            for program, status, report in verdicts(args.checker, args.seeds, path, site, label):
                count += 1
                verdict = {FOUND: "found", CLEAN: "SURVIVES"}.get(status, f"ERROR {status}")
                print(f"{name:36} mem_{site.call:6} {label:4} {program:22} {verdict:9} {report}", flush=True)
                if status != FOUND:
                    surviving.append(f"{name} {label} {program}")
    for name in surviving:
        print(f"not found: {name}")
    print(f"{count} mutations, {count - len(surviving)} found")
    return 1 if surviving or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
