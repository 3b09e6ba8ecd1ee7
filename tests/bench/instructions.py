# SPDX-License-Identifier: BSD-3-Clause
"""
instructions.py PROGRAM [--record] - compares the instructions of a call of each collective, which
bench-instructions counts, with the record in instructions.csv.

The count of a call hardly depends on the load of the machine, but a rank that has to wait executes
more.  So the record has the least of RUNS counts, and calls above the margin are counted up to RUNS
times, too.  A reduction of more than SHORT_BYTES also counts the kernels of the processor: those
for AVX2 differ from the baseline by up to 4 percent.

--record writes the record.  Exit status: 0; 1 if a call executes more
instructions than the record and the margin; 77 if the record is of another compiler, or if
processes cannot be single-stepped here.
"""

import os
import pathlib
import re
import subprocess
import sys

RECORD = pathlib.Path(__file__).with_suffix(".csv")
SHORT_BYTES = 8
REDUCES = re.compile(r"reduce|scan")
# Parts of the recorded instructions.  As the ranks meet, some calls take one of two counts, which
# differ by up to 5 %.
MARGIN, KERNELS_MARGIN = 0.06, 0.1
RUNS = 3
SKIPPED = 77
HEAD = """\
# Instructions of one call of rank 1 of 2, on the fast path; "root": of the root.
# Recorded by tests/bench/instructions.py build/bin/bench-instructions --record
"""


class Skip(Exception):
    """The reason why counts cannot be compared here."""


def compiler(build):
    """Returns the parts of a build that must be equal: all but the compiler's minor version."""
    name, version, *others = build.split()
    return name, version.split(".")[0], *others


def parse(text):
    """Returns the build, and {(call, bytes): instructions}."""
    build, counts = "", {}
    for line in text.splitlines():
        if line.startswith("#"):
            build = line.strip("# ")  # the last line of the head
        else:
            call, size, instructions = line.split(",")
            counts[call, int(size)] = int(instructions)
    return build, counts


def run(program, *words):
    """Returns the output of bench-instructions."""
    env = {**os.environ, "HUDDLE_WISDOM": "off"}  # a decided cell costs the same
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, text=True, env=env)
    if done.returncode == SKIPPED:
        raise Skip("processes cannot be single-stepped here (ptrace)")
    if done.returncode != 0:
        sys.exit(1)  # the program has printed the reason
    return done.stdout


def compare(counts, recorded):
    """Returns the complaints about counts, and notes about calls to be recorded again."""
    complaints, notes = [], []
    for (call, size), instructions in counts.items():
        before = recorded.get((call, size))
        margin = KERNELS_MARGIN if size > SHORT_BYTES and REDUCES.search(call) else MARGIN
        text = f"{call}, {size} B: {instructions} instructions"
        if before is None:
            complaints.append(f"{text}, not in the record")
        elif instructions > before * (1 + margin):
            complaints.append(f"{text}, the record has {before}")
        elif instructions < before * (1 - margin):
            notes.append(f"{text}, fewer than the {before} of the record")
    complaints += [f"{call}, {size} B: not counted" for call, size in recorded.keys() - counts]
    return complaints, notes


def count(program, recorded):
    """Returns the least counts, once none is above the margin, or after RUNS runs."""
    counts = parse(run(program))[1]
    for _ in range(RUNS - 1):
        if not compare(counts, recorded)[0]:
            break
        again = parse(run(program))[1]
        counts = {call: min(n, again.get(call, n)) for call, n in counts.items()}
    return counts


def check(program):
    """Returns the exit status of a comparison with the record."""
    build, recorded = parse(RECORD.read_text(encoding="utf-8"))
    here, _ = parse(run(program, "--build"))
    if compiler(here) != compiler(build):
        raise Skip(f"the record is of {build}, and this build is of {here}")
    complaints, notes = compare(count(program, recorded), recorded)
    print("\n".join([*complaints, *notes]) or f"{len(recorded)} calls cost what the record has")
    if complaints:
        print(
            f"above the margin of {MARGIN:.0%}, or {KERNELS_MARGIN:.0%} of reductions of more than"
            f" {SHORT_BYTES} B"
        )
        print(f"to accept the new counts, record them by the command in {RECORD}")
    return 1 if complaints else 0


def record(program):
    outputs = [parse(run(program)) for _ in range(RUNS)]
    build, first = outputs[0]
    lines = [f"{call},{size},{min(c[call, size] for _, c in outputs)}" for call, size in first]
    RECORD.write_text(f"{HEAD}# {build}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


def main(program, *words):
    try:
        return record(program) if "--record" in words else check(program)
    except Skip as reason:
        print(f"skipped: {reason}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
