#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Drops the happens-before of one labelled call at a time, in every algorithm, and checks that the
checker finds it.  Then lets one read at a time, among reads by several ranks, count as a read of
the last reader (L), which returns the lines.

usage: mutate.py --checker SIM_CHECK [--lab] [--seeds N] [FILE...]     (default: all algorithms, and
the core's protocols)

The value still moves; only the order is gone.  Each place is dropped for each algorithm that has
it, alone.  The checker must find every place for at least one of them, and every label of a file
for each of them at one of its places.  An algorithm that does not need a label is named in the head
of the file, with the reason:

    R1, A1 by allreduce/cma_write: an entry comes before the contributions

or, for the labels of a header of the family that is not in its folder,

    single_copy.h: R1, A1 by alltoallv/cma_write: its offers are entries

If an algorithm reads both as a last reader and not, L of the other read must be found for each
algorithm in SHARED_READS.

Prints a table.  Exit status 1 means that the checker did not find the named places: they are not
needed, or the tests do not reach them.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALGORITHMS = ROOT / "src" / "alg"
LAB = ROOT / "lab" / "alg"  # algorithms that the checker has with --lab
sys.path.insert(0, str(ROOT / "cmake"))
from edges import Site, files, full_name, read

DEFINED = re.compile(r"^ALG_DEFINE\((\w+),\s+(\w+)\)", re.MULTILINE)
INCLUDED = re.compile(r'^#include "((?:lab/)?alg/\w+/\w+\.h)"', re.MULTILINE)
UNNEEDED = re.compile(r"(?:(\w+\.h): )?((?:[RA]\d+, )*[RA]\d+) by ((?:\w+/\w+, )*\w+/\w+): \w")
CLEAN, FOUND, NOT_REACHED = 0, 1, 3
# A read that is the last reader's or not; and the algorithms in which the read of any rank must not
# be replaced by a last reader's, by the file below src/alg.
CHOICE = re.compile(r"\bmem_(\w+)_as\((?![^;]*, (?:true|false)\);)")
SHARED_READS = {
    "allreduce/whole.c": ("allreduce/whole",),
    "block.h": ("allgather/publish", "allgatherv/publish"),
    "queue/allreduce_tree.c": ("allreduce/tree",),
    "queue/bcast.c": ("bcast/queue",),
    "reduction.h": ("allreduce/exchange", "scan/chain"),
    "scan/chain.c": ("scan/chain",),
    "slices/slices.h": ("allreduce/slices",),
}
WORDS = {FOUND: "found", CLEAN: "SURVIVES", NOT_REACHED: "-"}


def programs_of(path, lab=False):
    """
    Returns the checker's names of the programs that run this file.  An algorithm's file has the
    names of its algorithms, a header the names of the algorithms whose units include the header, or
    else of the whole family, and a protocol of the core its own name.
    """
    if not is_algorithm(path):
        return [f"core/{path.stem}"]
    if path.parent == ALGORITHMS:
        return []
    family = sorted(path.parent.glob("*.c"))
    units = users_of(path, {*family, *(LAB.glob("*/*.c") if lab else ())})
    return sorted("/".join(name) for name in defined_in(units) or defined_in(family))


def is_algorithm(path):
    return ALGORITHMS in path.parents or LAB in path.parents


def users_of(path, units):
    """Returns the unit of a file and the units that include the file."""
    return [unit for unit in sorted(units) if path in {unit, *headers_of(unit)}]


def defined_in(units):
    """Returns the algorithms that some files define."""
    return {name for unit in units for name in DEFINED.findall(unit.read_text(encoding="utf-8"))}


def headers_of(path):
    """Returns the headers of families that a file includes, directly or indirectly."""
    names = INCLUDED.findall(path.read_text(encoding="utf-8"))
    own = {ROOT / (name if name.startswith("lab/") else f"src/{name}") for name in names}
    own = {header for header in own if header.exists()}
    return own.union(*map(headers_of, own))


def unneeded(text, header=""):
    """
    Returns {(label, algorithm)} that the head of a file names with a reason, from its own labels
    and the labels of an included header.
    """
    head = re.sub(r"\n \*? *", " ", text.partition("*/\n#")[0])
    return {
        (label, program)
        for named, labels, programs in UNNEEDED.findall(head)
        if named == header
        for label in labels.split(", ")
        for program in programs.split(", ")
    }


def spared_in(path, lab):
    """Returns the (label, algorithm) that the file, or units of the laboratory, may do without."""
    pairs = unneeded(path.read_text(encoding="utf-8"))
    for unit in users_of(path, LAB.glob("*/*.c")) if lab and path.suffix == ".h" else ():
        pairs |= unneeded(unit.read_text(encoding="utf-8"), path.name)
    return pairs


class Place(NamedTuple):
    """A label of a call, dropped for one algorithm ("all" for all, mixed)."""

    path: pathlib.Path
    site: tuple
    label: str
    program: str

    def name(self):
        return f"{self.path.relative_to(ROOT)}:{self.site.line}"


def places_of(path, lab):
    for site in read(path)[1]:
        for label in site.labels:
            for program in programs_of(path, lab) or ["all"]:  # window.c is used by all
                yield Place(path, site, label, program)
    if ALGORITHMS in path.parents:
        yield from shared_reads(path)


def shared_reads(path):
    """Yields the reads of a file that several ranks may share."""
    text = path.read_text(encoding="utf-8")
    for choice in CHOICE.finditer(text):
        site = Site(text.count("\n", 0, choice.start()) + 1, f"{choice[1]}_as", ("L",))
        for program in SHARED_READS[str(path.relative_to(ALGORITHMS))]:
            yield Place(path, site, "L", program)


def run(checker, place, words):
    """Returns (exit status, first line of the report)."""
    done = subprocess.run(
        [
            *(checker, "--algorithm", place.program, *words),
            *("--mutate", f"{place.name()}:{place.label[0]}"),
        ],
        capture_output=True,
        text=True,
    )
    first = (done.stdout + done.stderr).splitlines()[:1]
    return done.returncode, first[0] if first else ""


class Table:
    """The results so far."""

    def __init__(self, checker):
        self.checker = checker
        self.found = collections.defaultdict(bool)  # keys: a place, or (path, label, program)
        self.errors = []

    def try_all(self, places, words):
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            answers = pool.map(lambda place: run(self.checker, place, words), places)
            for place, (status, report) in zip(places, answers):
                self.add(place, status, report)

    def add(self, place, status, report):
        verdict = WORDS.get(status, f"ERROR {status}")
        print(
            f"{place.name():36} {full_name(place.site.call):11} {place.label:4} {verdict:9}"
            f" {place.program:26} {report}",
            flush=True,
        )
        if status not in WORDS:
            self.errors.append(f"{place.name()} {place.label} {verdict}")
        self.found[place[:3]] |= status == FOUND
        self.found[place.path, place.label, place.program] |= status == FOUND


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--checker", required=True)
    parser.add_argument("--lab", action="store_true")
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    shared = [ALGORITHMS / name for name in SHARED_READS]
    paths = [p.resolve() for p in args.files] or sorted(
        {*files(ROOT / "src", ROOT / "lab" if args.lab else None), *shared}
    )
    places = [place for path in paths for place in places_of(path, args.lab)]
    spared = {(path, *pair) for path in paths for pair in spared_in(path, args.lab)}
    table = Table(args.checker)
    # One seed of a few ranks usually finds it; then all seeds; at last mixed with the other
    # algorithms.
    every = ("--seeds", str(args.seeds))
    table.try_all(places, ("--seeds", "1", "--ranks", "1-5"))
    pairs = sorted({(p.path, p.label, p.program) for p in places} - spared)
    open_pairs = {pair for pair in pairs if not table.found[pair]}
    table.try_all(
        [p for p in places if (p.path, p.label, p.program) in open_pairs or not table.found[p[:3]]],
        every,
    )
    mixed = {place[:3]: place._replace(program="all") for place in places}
    table.try_all([p for key, p in mixed.items() if not table.found[key]], every)
    missing = table.errors
    missing += [f"{p.name()} {p.label}" for key, p in mixed.items() if not table.found[key]]
    missing += [
        f"{path.relative_to(ROOT)} {label} by {program}"
        for path, label, program in pairs
        if not table.found[path, label, program]
    ]
    stale = [
        f"{path.relative_to(ROOT)}: {label} by {program}"
        for path, label, program in sorted(spared)
        if table.found[path, label, program]
        or not any((p.path, p.label, p.program) == (path, label, program) for p in places)
    ]
    for name in missing:
        print(f"not found: {name}")
    for name in stale:
        print(f"found, though its head has a reason why not, or not there at all: {name}")
    print(f"{len(mixed)} mutations, {len(pairs)} labels of an algorithm, {len(missing)} not found")
    return 1 if missing or stale or not places else 0


if __name__ == "__main__":
    sys.exit(main())
