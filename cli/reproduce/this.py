# SPDX-License-Identifier: BSD-3-Clause
"""
From no paper: how far the simulator can be trusted.  Every algorithm of every collective on two
ranks of this machine, simulated and measured.

`huddle tune --machine` describes the machine, from micro-measurements that run no collective.
Times are measured as in huddle bench, on a team of processes without MPI.  Figures are compared
where both exist.
"""

import statistics
import sys

from ..common import steady
from ..common.agreement import agreement
from ..common.collectives import known
from ..common.pictures import Figure
from ..common.progress import Progress
from ..common.text import bytes_text
from ..simulate import measure
from ..simulate.asked import asked_as
from .rows import Result, Row, at_most, factor

TITLE, PRINTED = "this machine, simulated and measured", "measured"
RANKS, SIMULATED = 2, "simulated"
SIZES, BRIEF_SIZES = "8,64,1K,8K,64K,512K,4M", "8,8K"
PAIR_SIZES = "8,64,1K,8K,64K,512K"  # bytes of a block
BRIEF_COLLECTIVES = ("bcast",)
BRIEF_ALGORITHMS = "inline,queue"
# Limits, as factors: of the geometric mean; of the geometric mean of deviations, up or down.
MAX_BIAS, MAX_ERROR = 1.25, 1.5
SMALL_BYTES = 1 << 10
NOTES = (
    (
        "simulated calls consist of loads, stores, atomics and copies only: entering a call,"
        " choosing the algorithm, counting and leaving a polling loop take no time. The rows of up"
        " to 1 KB show how much longer small calls took here"
    ),
    (
        "copies by the kernel (single): each call costs the time of a back-to-back call of 8 bytes."
        " A single call after a wait takes longer here; the machine's description has no number for"
        " that"
    ),
)
HEAD = """# One machine, simulated and measured

How far can simulated times be trusted? This page has each algorithm of each collective at several
sizes, on two ranks with one core per rank, simulated and measured. `huddle tune --machine`
described the machine, from micro-measurements that run no collective.

A measured time is the median over single calls from a common start on fresh data, of the slowest
rank of a team of processes without MPI. A simulated time is the same on the described machine.
Simulated ranks enter a call within one reading of the clock of each other, as measured ranks do. A
figure counts only if a line transfer took about as long as described, since the processors of a
virtual machine may move.

Each collective has the geometric mean of simulated / measured, and the typical error: the geometric
mean of the deviation, as a factor, up or down. In the column *agrees*, the mean must be within a
factor of 1.25 of 1, and the error at most a factor of 1.5. The list below each table names the rows
that do not agree, and what in the model would explain it.
"""


def asked_of(layout, collective, algorithms, sizes):
    """The questions of huddle simulate COLLECTIVE --algorithm all --measure."""
    asked = asked_as(
        layout,
        collective,
        "--algorithm",
        algorithms,
        "--ranks",
        str(RANKS),
        "--measure",
        *(["--bytes", sizes] if collective != "barrier" else []),
    )
    measure.prepare(asked.options, asked)
    return asked


def quartiles_text(some_us):
    low, middle, high = (f"{us:.3f}" for us in statistics.quantiles(some_us, method="inclusive"))
    return f"{middle} us, {low} to {high}"


def summed_up(collective, found):
    """Summary rows of a collective.  found: (bytes, measured, simulated)."""
    ratios = [simulated / measured for _, measured, simulated in found]
    calls = [(number, size) for number, (size, _, _) in enumerate(found)]
    both = agreement(*(dict(zip(calls, times)) for times in list(zip(*found))[1:]))
    small = [measured - simulated for size, measured, simulated in found if size <= SMALL_BYTES]
    what = f"{collective}, {len(ratios)} figures"
    return [
        Row.judged(
            f"{what}: simulated / measured, geometric mean",
            "times",
            1,
            both.bias,
            SIMULATED,
            factor(MAX_BIAS),
        ),
        Row.judged(
            f"{what}: typical error, as a factor",
            "times",
            1,
            both.error,
            SIMULATED,
            at_most(MAX_ERROR, "times"),
        ),
        Row(
            f"{what}: simulated / measured",
            "",
            None,
            f"{min(ratios):.2f} to {max(ratios):.2f} times",
            SIMULATED,
        ),
        *(
            [
                Row(
                    f"{what}: measured - simulated, up to 1 KB: median, quartiles",
                    "",
                    None,
                    quartiles_text(small),
                    SIMULATED,
                )
            ]
            if len(small) > 1
            else []
        ),
    ]


def picture(collective, found):
    """found: algorithm -> [(bytes, measured, simulated)]."""
    ends = [
        end(us for some in found.values() for _, *pair in some for us in pair) for end in (min, max)
    ]
    lines = [
        (name, *map(list, zip(*(pair for _, *pair in some))), True) for name, some in found.items()
    ]
    return Figure(
        collective,
        f"{collective}, 2 ranks: simulated and measured times",
        "us, measured",
        "us, simulated",
        "xy",
        [*lines, ("equal", ends, ends, False)],
    )


def compare(asked, calls, measured):
    """
    Rows and figures of a collective.  calls: (name, size) -> the simulator's answer, or None;
    measured: (name, size) -> ns, without calls that have no figure.
    """
    rows, found = [], {}
    for name, size in (
        (name, size) for name in asked.names for size in asked.sizes if calls[name, size]
    ):
        us, simulated_us = (
            measured.get((name, size), 0) / 1000 or None,
            calls[name, size]["times"]["time_ns"] / 1000,
        )
        rows.append(
            Row(
                f"{asked.collective}/{name}{f', {bytes_text(size)}' if size else ''}",
                "us",
                us,
                simulated_us,
                SIMULATED,
            )
        )
        if us and simulated_us > 0:
            found.setdefault(name, []).append((size, us, simulated_us))
    if not found:
        return rows, []
    return rows + summed_up(
        asked.collective, [figure for some in found.values() for figure in some]
    ), [picture(asked.collective, found)]


def reproduce(lab):
    for line in NOTES:
        lab.note(line)
    collectives = [c for c in known(lab.layout) if not lab.brief or c.name in BRIEF_COLLECTIVES]
    with Progress(len(collectives)) as progress:
        return compare_all(lab, collectives, progress)


def warn_of_others():
    others = steady.others()
    if others:
        print(
            f"huddle: reproduce this: {others}; this takes longer, and fewer figures count",
            file=sys.stderr,
        )


def compare_all(lab, collectives, progress):
    """Simulated and measured times of each collective."""
    rows, figures, lines, skews = [], [], [], []
    for collective in collectives:
        progress.stage(f"{collective.name}, simulated and measured")
        sizes = BRIEF_SIZES if lab.brief else PAIR_SIZES if collective.blocks else SIZES
        algorithms = BRIEF_ALGORITHMS if lab.brief else "all"
        asked = asked_of(lab.layout, collective.name, algorithms, sizes)
        if not skews:
            warn_of_others()
        calls = asked.calls()
        measured = measure.Measured(asked, calls)
        more, drawn = compare(asked, calls, measured.ns)
        rows, figures, lines, skews = (
            rows + more,
            figures + drawn,
            lines + measured.lines,
            skews + [asked.options.skew],
        )
        for line in measured.notes:
            lab.note(f"{collective.name}: {line}")
        progress.step()
    near = ", ".join(f"{name} {ns:g}" for name, ns in asked.machine["lines"]["transfer_ns"].items())
    lab.note(
        f"{asked.machine['name']}; line transfer: described {near} ns, during the"
        f" measurement {min(lines):.0f} to {max(lines):.0f} ns"
        if lines
        else "nothing could be measured"
    )
    lab.note(
        f"ranks enter a call within {min(skews):.1f} to {max(skews):.1f} ns of each other, one"
        " reading of the clock, both simulated and measured"
    )
    return Result(rows, figures)
